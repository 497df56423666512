// What the host's module says of the device holds for the kernels taken out of
// it: no more shared memory than that.
// RUN: attn-opt %s --attn-outline=target=sm_80 | FileCheck %s
// CHECK: "GPU" = #dlti.target_device_spec<"attn.smem-bytes" = 49152 : i64>
// CHECK: call @small_attention
// CHECK: \22shared_bytes\22: {{([1-9][0-9]{0,3}|[1-3][0-9]{4}|4[0-8][0-9]{3}|49152)}}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "GPU" = #dlti.target_device_spec<"attn.smem-bytes" = 49152 : i64>>} {
  func.func @small(%q: tensor<?x?x?x256xf16>, %k: tensor<?x?x?x256xf16>, %v: tensor<?x?x?x256xf16>)
      -> tensor<?x?x?x256xf16> {
    %o = attn.attention %q, %k, %v
        : tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16> -> tensor<?x?x?x256xf16>
    return %o : tensor<?x?x?x256xf16>
  }
}
