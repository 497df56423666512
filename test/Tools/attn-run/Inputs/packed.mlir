func.func @attention(%q: tensor<1x1x40x16xf32>, %cu: tensor<?xi32>) -> tensor<1x1x40x16xf32> {
  %o = attn.attention %q, %q, %q
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %s = attn.segment %cu at %i : tensor<?xi32>
        %t = attn.segment %cu at %j : tensor<?xi32>
        %r = arith.cmpi eq, %s, %t : index
        attn.yield %r : i1
      } : tensor<1x1x40x16xf32>, tensor<1x1x40x16xf32>, tensor<1x1x40x16xf32> -> tensor<1x1x40x16xf32>
  return %o : tensor<1x1x40x16xf32>
}
