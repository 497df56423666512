// RUN: attn-opt %s --split-input-file --verify-diagnostics

!acc = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @element(%a: i64, %b: i64) {
  // expected-error @+1 {{expected i8, f8E4M3FN, f8E5M2, f16 or bf16, got 'f32'}}
  %d = attn_ptx.wgmma f32 a_descriptors(%a) b(%b) : !acc
  llvm.return
}

// -----

!acc = !llvm.struct<(f32, f32, f32)>
llvm.func @accumulator(%a: i64, %b: i64) {
  // expected-error @+1 {{expected an accumulator of 4, 8, ... 128 f32 or i32, got '!llvm.struct<(f32, f32, f32)>'}}
  %d = attn_ptx.wgmma f16 a_descriptors(%a) b(%b) : !acc
  llvm.return
}

// -----

!acc = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @operand_count(%a: i64, %b: i64) {
  // expected-error @+1 {{expected a to be one descriptor or 4 registers for each of 2 products, got 1 and 0}}
  %d = attn_ptx.wgmma f16 a_descriptors(%a) b(%b, %b) : !acc
  llvm.return
}

// -----

!acc = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @both(%a: i64, %r: i32, %b: i64) {
  // expected-error @+1 {{expected a in registers or in shared memory, got both}}
  %d = attn_ptx.wgmma f16 a_descriptors(%a) a_registers(%r, %r, %r, %r) b(%b) : !acc
  llvm.return
}

// -----

!acc = !llvm.struct<(f32, f32, f32, f32)>
!other = !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
llvm.func @acc_type(%a: i64, %b: i64, %acc: !other) {
  // expected-error @+1 {{expected acc to be of the result's type}}
  %d = attn_ptx.wgmma f16 a_descriptors(%a) b(%b) acc(%acc : !other) : !acc
  llvm.return
}

// -----

!acc = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @pending(%acc: !acc) {
  // expected-error @+1 {{expected 0 to 7 pending groups, got 9}}
  %d = attn_ptx.wgmma_wait 9, %acc : !acc
  llvm.return
}

// -----

llvm.func @nothing() {
  // expected-error @+1 {{expected at least one product}}
  %d = attn_ptx.wgmma f16 b() : !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// -----

!acc = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @registers_transposed(%a: i32, %b: i64) {
  // expected-error @+1 {{expected a in shared memory with a_mn_major, got registers}}
  %d = attn_ptx.wgmma f16 a_mn_major a_registers(%a, %a, %a, %a) b(%b) : !acc
  llvm.return
}

// -----

!acc = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @bytes_transposed(%a: i64, %b: i64) {
  // expected-error @+1 {{expected K-major operands of 'f8E5M2'}}
  %d = attn_ptx.wgmma f8E5M2 a_descriptors(%a) b(%b) b_mn_major : !acc
  llvm.return
}

// -----

!acc = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @two_types(%a: i64, %b: i64) {
  // expected-error @+1 {{expected a and b of one type, or of 8-bit floats, got 'f8E5M2' and 'f16'}}
  %d = attn_ptx.wgmma f8E5M2 by f16 a_descriptors(%a) b(%b) : !acc
  llvm.return
}

// -----

!acc = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @integers(%a: i64, %b: i64) {
  // expected-error @+1 {{expected sums in i32 of i8, and in f32 of others, got 'f32' of 'i8'}}
  %d = attn_ptx.wgmma i8 a_descriptors(%a) b(%b) : !acc
  llvm.return
}
