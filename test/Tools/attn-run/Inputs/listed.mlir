func.func @attention(%q: tensor<1x1x40x16xf32>, %n: tensor<1x1x?xi32>, %l: tensor<1x1x?x?xi32>) -> tensor<1x1x40x16xf32> {
  %o = attn.attention %q, %q, %q
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %r = attn.block_listed %n, %l at(%b, %h, %i, %j) block [32, 10] : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
        attn.yield %r : i1
      } : tensor<1x1x40x16xf32>, tensor<1x1x40x16xf32>, tensor<1x1x40x16xf32> -> tensor<1x1x40x16xf32>
  return %o : tensor<1x1x40x16xf32>
}

func.func @twice(%q: tensor<1x1x40x16xf32>, %n: tensor<1x1x?xi32>, %l: tensor<1x1x?x?xi32>) -> tensor<1x1x40x16xf32> {
  %o = attn.attention %q, %q, %q
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %r = attn.block_listed %n, %l at(%b, %h, %i, %j) block [32, 10] : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
        %s = attn.block_listed %n, %l at(%b, %h, %i, %j) block [32, 10] : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
        %t = arith.ori %r, %s : i1
        attn.yield %t : i1
      } : tensor<1x1x40x16xf32>, tensor<1x1x40x16xf32>, tensor<1x1x40x16xf32> -> tensor<1x1x40x16xf32>
  return %o : tensor<1x1x40x16xf32>
}
