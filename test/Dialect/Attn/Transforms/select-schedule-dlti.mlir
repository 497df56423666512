// RUN: attn-opt %s --attn-select-schedule=target=sm_80 --split-input-file --verify-diagnostics | FileCheck %s

// The module says how much shared memory there is; entries for others are
// passed over.
// CHECK: tile_m = 64, tile_n = 16,
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "GPU" = #dlti.target_device_spec<"attn.smem-bytes" = 49152 : i64,
                                     "L2_cache_size_in_bytes" = 4194304 : i64,
                                     "max_vector_op_width" = 64 : i64>>} {
  func.func @small(%q: tensor<?x?x?x256xf16>, %k: tensor<?x?x?x256xf16>,
                   %v: tensor<?x?x?x256xf16>) -> tensor<?x?x?x256xf16> {
    %o = attn.attention %q, %k, %v {schedule = #attn.schedule<kind = "large_cache">}
        : tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>
        -> tensor<?x?x?x256xf16>
    return %o : tensor<?x?x?x256xf16>
  }
}

// -----

// expected-error @+1 {{DLTI entry 'attn.smem-bites': unknown target field 'smem-bites', expected one of smem-bytes, }}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "GPU" = #dlti.target_device_spec<"attn.smem-bites" = 49152 : i64>>} {
}

// -----

// expected-error @+1 {{DLTI entry 'attn.smem-bytes': expected a positive integer for target field smem-bytes, got '-1'}}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "GPU" = #dlti.target_device_spec<"attn.smem-bytes" = -1 : i64>>} {
}
