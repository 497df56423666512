// Two attentions over halves of the keys, merged; rows of one attention in another; layouts around an attention;
// f64; a captured value computed outside: against float64.

// RUN: attn-run %s --function split --shape M=17 --random 1 --verify
// RUN: attn-run %s --function stack --shape arg0=5x2x4x17x16,arg1=5x2x4x17,arg2=4 --random 6 --verify
// RUN: attn-run %s --function states --shape arg0=3x1x4x9x16,arg1=3x1x4x9,arg2=3x1x4x9 --random 7 --verify
// RUN: attn-run %s --function repair --shape M=70 --random 1 --verify
// RUN: attn-run %s --function bnhd --shape arg0=2x65x4x16,arg1=2x17x2x16,arg2=2x17x2x16 --random 2 --verify
// RUN: attn-run %s --function wide --random 3 --verify
// RUN: attn-run %s --function limit --shape M=64,N=65 --random 4 --verify

func.func @split(%q: tensor<1x4x?x16xf16>, %k0: tensor<1x4x40x16xf16>,
                 %v0: tensor<1x4x40x16xf16>, %k1: tensor<1x4x25x16xf16>,
                 %v1: tensor<1x4x25x16xf16>)
    -> (tensor<1x4x?x16xf32>, tensor<1x4x?xf32>) {
  %o0, %l0 = attn.attention %q, %k0, %v0
      : tensor<1x4x?x16xf16>, tensor<1x4x40x16xf16>, tensor<1x4x40x16xf16>
      -> tensor<1x4x?x16xf32>, tensor<1x4x?xf32>
  %o1, %l1 = attn.attention %q, %k1, %v1 mask_mod causal(top_left)
      : tensor<1x4x?x16xf16>, tensor<1x4x25x16xf16>, tensor<1x4x25x16xf16>
      -> tensor<1x4x?x16xf32>, tensor<1x4x?xf32>
  %o, %l = attn.merge
      outputs(%o0, %o1 : tensor<1x4x?x16xf32>, tensor<1x4x?x16xf32>)
      lses(%l0, %l1 : tensor<1x4x?xf32>, tensor<1x4x?xf32>)
      -> tensor<1x4x?x16xf32>, tensor<1x4x?xf32>
  return %o, %l : tensor<1x4x?x16xf32>, tensor<1x4x?xf32>
}

// A stack of parts, and a sink that counts once.
func.func @stack(%o: tensor<?x2x4x?x16xf16>, %l: tensor<?x2x4x?xf32>, %sink: tensor<4xf16>)
    -> (tensor<2x4x?x16xf16>, tensor<2x4x?xf32>) {
  %r, %lse = attn.merge outputs(%o : tensor<?x2x4x?x16xf16>) lses(%l : tensor<?x2x4x?xf32>) sink(%sink : tensor<4xf16>)
      -> tensor<2x4x?x16xf16>, tensor<2x4x?xf32>
  return %r, %lse : tensor<2x4x?x16xf16>, tensor<2x4x?xf32>
}

func.func @states(%accs: tensor<3x1x4x?x16xf32>, %maxima: tensor<3x1x4x?xf32>, %sums: tensor<3x1x4x?xf32>)
    -> (tensor<1x4x?x16xf32>, tensor<1x4x?xf32>, tensor<1x4x?xf32>) {
  %acc, %max, %sum = attn.combine %accs, %maxima, %sums
      : tensor<3x1x4x?x16xf32>, tensor<3x1x4x?xf32> -> tensor<1x4x?x16xf32>, tensor<1x4x?xf32>
  return %acc, %max, %sum : tensor<1x4x?x16xf32>, tensor<1x4x?xf32>, tensor<1x4x?xf32>
}

// A window that ends before the keys begin hides the last rows.
func.func @repair(%q: tensor<1x4x?x16xf16>, %k: tensor<1x4x40x16xf16>, %v: tensor<1x4x40x16xf16>)
    -> (tensor<1x4x?x16xf16>, tensor<1x4x?xf32>) {
  %o, %l = attn.attention %q, %k, %v mask_mod sliding_window(8, 8)
      : tensor<1x4x?x16xf16>, tensor<1x4x40x16xf16>, tensor<1x4x40x16xf16>
      -> tensor<1x4x?x16xf16>, tensor<1x4x?xf32>
  %w, %wl = attn.attention %q, %k, %v
      : tensor<1x4x?x16xf16>, tensor<1x4x40x16xf16>, tensor<1x4x40x16xf16>
      -> tensor<1x4x?x16xf16>, tensor<1x4x?xf32>
  %r, %rl = attn.repair %o, %l by %w, %wl below(-100.0)
      : tensor<1x4x?x16xf16>, tensor<1x4x?xf32>
  return %r, %rl : tensor<1x4x?x16xf16>, tensor<1x4x?xf32>
}

func.func @bnhd(%q: tensor<2x?x4x16xf16>, %k: tensor<2x?x2x16xf16>,
                %v: tensor<2x?x2x16xf16>) -> tensor<2x?x4x16xf16> {
  %c1 = arith.constant 1 : index
  %m = tensor.dim %q, %c1 : tensor<2x?x4x16xf16>
  %n = tensor.dim %k, %c1 : tensor<2x?x2x16xf16>
  %qe = tensor.empty(%m) : tensor<2x4x?x16xf16>
  %ke = tensor.empty(%n) : tensor<2x2x?x16xf16>
  %oe = tensor.empty(%m) : tensor<2x?x4x16xf16>
  %qt = linalg.transpose ins(%q : tensor<2x?x4x16xf16>)
      outs(%qe : tensor<2x4x?x16xf16>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<2x?x2x16xf16>)
      outs(%ke : tensor<2x2x?x16xf16>) permutation = [0, 2, 1, 3]
  %vt = linalg.transpose ins(%v : tensor<2x?x2x16xf16>)
      outs(%ke : tensor<2x2x?x16xf16>) permutation = [0, 2, 1, 3]
  %ot = attn.attention %qt, %kt, %vt
      : tensor<2x4x?x16xf16>, tensor<2x2x?x16xf16>, tensor<2x2x?x16xf16>
      -> tensor<2x4x?x16xf16>
  %o = linalg.transpose ins(%ot : tensor<2x4x?x16xf16>)
      outs(%oe : tensor<2x?x4x16xf16>) permutation = [0, 2, 1, 3]
  return %o : tensor<2x?x4x16xf16>
}

func.func @wide(%q: tensor<1x2x17x16xf64>, %k: tensor<1x2x33x16xf64>,
                %v: tensor<1x2x33x16xf64>)
    -> (tensor<1x2x17x16xf64>, tensor<1x2x17xf64>) {
  %o, %lse = attn.attention %q, %k, %v mask_mod causal(top_left)
      : tensor<1x2x17x16xf64>, tensor<1x2x33x16xf64>, tensor<1x2x33x16xf64>
      -> tensor<1x2x17x16xf64>, tensor<1x2x17xf64>
  return %o, %lse : tensor<1x2x17x16xf64>, tensor<1x2x17xf64>
}

// Keys in the first half only, the limit computed from a size.
func.func @limit(%q: tensor<1x2x?x16xf16>, %k: tensor<1x2x?x16xf16>,
                 %v: tensor<1x2x?x16xf16>) -> tensor<1x2x?x16xf16> {
  %c2 = arith.constant 2 : index
  %n = tensor.dim %k, %c2 : tensor<1x2x?x16xf16>
  %half = arith.ceildivsi %n, %c2 : index
  %o = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %r = arith.cmpi slt, %j, %half : index
        attn.yield %r : i1
      }
      : tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16>
      -> tensor<1x2x?x16xf16>
  return %o : tensor<1x2x?x16xf16>
}
