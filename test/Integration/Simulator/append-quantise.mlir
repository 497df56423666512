// New rows that become 8 bits: each f16 to f8E4M3FN, and f32 at and next to all numbers of both types, ties, infinities, NaN, to f8E5M2, by a descale of 1 and by another; all of
// them to i8.
// RUN: rm -rf %t && mkdir %t && %python %S/Inputs/quantise.py make %t
// RUN: attn-run %s --function=rows --input %t/k.npy --input %t/v.npy --input %t/slots.npy --input %t/one.npy --input %t/pool.npy --input %t/pool.npy --output %t/cpu_one_k.npy --output %t/cpu_one_v.npy
// RUN: attn-run %s --function=rows --input %t/k.npy --input %t/v.npy --input %t/slots.npy --input %t/descale.npy --input %t/pool.npy --input %t/pool.npy --output %t/cpu_descale_k.npy --output %t/cpu_descale_v.npy
// RUN: %python %S/Inputs/quantise.py check %t cpu_ | FileCheck %s --check-prefix=BYTES
// RUN: attn-run %s --function=rows --device=sim:sm_80 --input %t/k.npy --input %t/v.npy --input %t/slots.npy --input %t/one.npy --input %t/pool.npy --input %t/pool.npy --output %t/gpu_one_k.npy --output %t/gpu_one_v.npy
// RUN: attn-run %s --function=rows --device=sim:sm_80 --input %t/k.npy --input %t/v.npy --input %t/slots.npy --input %t/descale.npy --input %t/pool.npy --input %t/pool.npy --output %t/gpu_descale_k.npy --output %t/gpu_descale_v.npy
// RUN: %python %S/Inputs/quantise.py check %t gpu_ | FileCheck %s --check-prefix=BYTES
// RUN: attn-run %s --function=integers --input %t/k.npy --input %t/v.npy --input %t/slots.npy --input %t/one.npy --input %t/integers.npy --input %t/integers.npy --output %t/cpu_int_one_k.npy --output %t/cpu_int_one_v.npy
// RUN: attn-run %s --function=integers --input %t/k.npy --input %t/v.npy --input %t/slots.npy --input %t/descale.npy --input %t/integers.npy --input %t/integers.npy --output %t/cpu_int_descale_k.npy --output %t/cpu_int_descale_v.npy
// RUN: %python %S/Inputs/quantise.py check %t cpu_int_ int8 | FileCheck %s --check-prefix=BYTES
// RUN: attn-run %s --function=integers --device=sim:sm_80 --input %t/k.npy --input %t/v.npy --input %t/slots.npy --input %t/one.npy --input %t/integers.npy --input %t/integers.npy --output %t/gpu_int_one_k.npy --output %t/gpu_int_one_v.npy
// RUN: attn-run %s --function=integers --device=sim:sm_80 --input %t/k.npy --input %t/v.npy --input %t/slots.npy --input %t/descale.npy --input %t/integers.npy --input %t/integers.npy --output %t/gpu_int_descale_k.npy --output %t/gpu_int_descale_v.npy
// RUN: %python %S/Inputs/quantise.py check %t gpu_int_ int8 | FileCheck %s --check-prefix=BYTES
// BYTES: all bytes as expected
// Then the attention reads them by the same descales, of which each batch and head has its own.
// RUN: attn-run %s --function=decode --shape B=3,Bnew=3,Mnew=2,T=4,P=13 --random=2 --input arg5=%t/heads.npy --input arg6=%t/heads.npy --verify | FileCheck %s
// RUN: attn-run %s --function=decode --shape B=3,Bnew=3,Mnew=2,T=4,P=13 --random=3 --input arg5=%t/heads.npy --input arg6=%t/heads.npy --device=sim:sm_80 --verify | FileCheck %s
// RUN: attn-run %s --function=decode --shape B=3,Bnew=3,Mnew=2,T=4,P=13 --random=4 --input arg5=%t/heads.npy --input arg6=%t/heads.npy --device=sim:sm_90a --verify --device-asserts | FileCheck %s
// RUN: attn-run %s --function=decode_integers --shape B=3,Bnew=3,Mnew=2,T=4,P=13 --random=5 --input arg5=%t/small.npy --input arg6=%t/small.npy --verify | FileCheck %s
// RUN: attn-run %s --function=decode_integers --shape B=3,Bnew=3,Mnew=2,T=4,P=13 --random=6 --input arg5=%t/small.npy --input arg6=%t/small.npy --device=sim:sm_80 --verify | FileCheck %s
// RUN: attn-run %s --function=decode_integers --shape B=3,Bnew=3,Mnew=2,T=4,P=13 --random=7 --input arg5=%t/small.npy --input arg6=%t/small.npy --device=sim:sm_90a --verify | FileCheck %s
// CHECK: verify: PASS

func.func @rows(%k: tensor<?x1x64xf16>, %v: tensor<?x1x64xf32>, %s: tensor<?xi32>, %d: tensor<1xf32>, %kp: tensor<?x1x1x64xf8E4M3FN>, %vp: tensor<?x1x1x64xf8E5M2>)
    -> (tensor<?x1x1x64xf8E4M3FN>, tensor<?x1x1x64xf8E5M2>) {
  %0:2 = attn.append %k, %v into %kp, %vp slots(%s : tensor<?xi32>) descale(%d, %d : tensor<1xf32>, tensor<1xf32>)
      : tensor<?x1x64xf16>, tensor<?x1x64xf32> into tensor<?x1x1x64xf8E4M3FN>, tensor<?x1x1x64xf8E5M2>
  return %0#0, %0#1 : tensor<?x1x1x64xf8E4M3FN>, tensor<?x1x1x64xf8E5M2>
}

func.func @integers(%k: tensor<?x1x64xf16>, %v: tensor<?x1x64xf32>, %s: tensor<?xi32>, %d: tensor<1xf32>, %kp: tensor<?x1x1x64xi8>, %vp: tensor<?x1x1x64xi8>)
    -> (tensor<?x1x1x64xi8>, tensor<?x1x1x64xi8>) {
  %0:2 = attn.append %k, %v into %kp, %vp slots(%s : tensor<?xi32>) descale(%d, %d : tensor<1xf32>, tensor<1xf32>)
      : tensor<?x1x64xf16>, tensor<?x1x64xf32> into tensor<?x1x1x64xi8>, tensor<?x1x1x64xi8>
  return %0#0, %0#1 : tensor<?x1x1x64xi8>, tensor<?x1x1x64xi8>
}

func.func @decode(%q: tensor<?x4x2x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x48xf32>, %kp: tensor<?x2x8x64xf8E4M3FN>, %vp: tensor<?x2x8x48xf8E4M3FN>,
                  %dk: tensor<?x2xf32>, %dv: tensor<?x2xf32>, %s: tensor<?x?xi64>, %t: tensor<?x?xi32>, %n: tensor<?xi32>)
    -> (tensor<?x4x2x48xf16>, tensor<?x2x8x64xf8E4M3FN>, tensor<?x2x8x48xf8E4M3FN>) {
  %k1, %v1 = attn.append %k, %v into %kp, %vp slots(%s : tensor<?x?xi64>) descale(%dk, %dv : tensor<?x2xf32>, tensor<?x2xf32>)
      : tensor<?x2x?x64xf16>, tensor<?x2x?x48xf32> into tensor<?x2x8x64xf8E4M3FN>, tensor<?x2x8x48xf8E4M3FN>
  %kv = attn.paged %k1[%t] : tensor<?x2x8x64xf8E4M3FN>[tensor<?x?xi32>] -> tensor<?x2x?x64xf8E4M3FN>
  %vv = attn.paged %v1[%t] : tensor<?x2x8x48xf8E4M3FN>[tensor<?x?xi32>] -> tensor<?x2x?x48xf8E4M3FN>
  %o = attn.attention %q, %kv, %vv descale(%dk, %dv : tensor<?x2xf32>, tensor<?x2xf32>) lengths(key %n : tensor<?xi32>)
      : tensor<?x4x2x64xf16>, tensor<?x2x?x64xf8E4M3FN>, tensor<?x2x?x48xf8E4M3FN> -> tensor<?x4x2x48xf16>
  return %o, %k1, %v1 : tensor<?x4x2x48xf16>, tensor<?x2x8x64xf8E4M3FN>, tensor<?x2x8x48xf8E4M3FN>
}

func.func @decode_integers(%q: tensor<?x4x2x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x48xf32>, %kp: tensor<?x2x8x64xi8>, %vp: tensor<?x2x8x48xi8>,
                  %dk: tensor<?x2xf32>, %dv: tensor<?x2xf32>, %s: tensor<?x?xi64>, %t: tensor<?x?xi32>, %n: tensor<?xi32>)
    -> (tensor<?x4x2x48xf16>, tensor<?x2x8x64xi8>, tensor<?x2x8x48xi8>) {
  %k1, %v1 = attn.append %k, %v into %kp, %vp slots(%s : tensor<?x?xi64>) descale(%dk, %dv : tensor<?x2xf32>, tensor<?x2xf32>)
      : tensor<?x2x?x64xf16>, tensor<?x2x?x48xf32> into tensor<?x2x8x64xi8>, tensor<?x2x8x48xi8>
  %kv = attn.paged %k1[%t] : tensor<?x2x8x64xi8>[tensor<?x?xi32>] -> tensor<?x2x?x64xi8>
  %vv = attn.paged %v1[%t] : tensor<?x2x8x48xi8>[tensor<?x?xi32>] -> tensor<?x2x?x48xi8>
  %o = attn.attention %q, %kv, %vv descale(%dk, %dv : tensor<?x2xf32>, tensor<?x2xf32>) lengths(key %n : tensor<?xi32>)
      : tensor<?x4x2x64xf16>, tensor<?x2x?x64xi8>, tensor<?x2x?x48xi8> -> tensor<?x4x2x48xf16>
  return %o, %k1, %v1 : tensor<?x4x2x48xf16>, tensor<?x2x8x64xi8>, tensor<?x2x8x48xi8>
}
