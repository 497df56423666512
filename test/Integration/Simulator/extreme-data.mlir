// A mask of heads by i64 data from the ends of its range: of -2^63 there is no negative.

// RUN: %python -c "import struct; h = \"{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }\"; h += ' ' * (63 - (10 + len(h)) %% 64) + '\n'; open('%t.npy', 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(h)) + h.encode() + struct.pack('<4q', 3, -2**63, -1, 2**63 - 1))"
// RUN: attn-run %s --device=cpu --verify --random=1 --input=arg3=%t.npy | FileCheck %s
// RUN: attn-run %s --device=sim:sm_80 --verify --random=1 --input=arg3=%t.npy | FileCheck %s
// RUN: attn-run %s --device=sim:sm_90a --verify --random=1 --input=arg3=%t.npy | FileCheck %s
// CHECK: verify: PASS

func.func @heads(%q: tensor<1x4x3x128xf16>, %k: tensor<1x2x40x128xf16>, %v: tensor<1x2x40x32xf16>, %from: tensor<4xi64>)
    -> tensor<1x4x3x32xf16> {
  %o = attn.attention %q, %k, %v mask_mod (%b: index, %h: index, %i: index, %j: index) {
    %c0 = arith.constant 0 : index
    %x = tensor.extract %from[%h] : tensor<4xi64>
    %y = arith.index_cast %x : i64 to index
    %r = arith.cmpi sge, %y, %c0 : index
    attn.yield %r : i1
  } : tensor<1x4x3x128xf16>, tensor<1x2x40x128xf16>, tensor<1x2x40x32xf16> -> tensor<1x4x3x32xf16>
  return %o : tensor<1x4x3x32xf16>
}
