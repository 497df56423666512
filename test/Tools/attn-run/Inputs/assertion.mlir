func.func @rejects(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %rest = arith.remui %n, %c2 : index
  %even = arith.cmpi eq, %rest, %c0 : index
  cf.assert %even, "expected an even size"
  return %x : tensor<?xf32>
}

func.func @reads(%q: tensor<1x1x?x4xf32>, %k: tensor<1x1x?x4xf32>,
                 %v: tensor<1x1x?x4xf32>, %mask: tensor<?xi1>)
    -> tensor<1x1x?x4xf32> {
  %o = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %r = tensor.extract %mask[%j] : tensor<?xi1>
        attn.yield %r : i1
      }
      : tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>
      -> tensor<1x1x?x4xf32>
  return %o : tensor<1x1x?x4xf32>
}

// At an index that only the attention computes.
func.func @computes(%q: tensor<1x1x?x4xf32>, %k: tensor<1x1x?x4xf32>,
                    %v: tensor<1x1x?x4xf32>, %mask: tensor<?xi1>)
    -> tensor<1x1x?x4xf32> {
  %o = attn.attention %q, %k, %v
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %at = arith.addi %i, %j : index
        %r = tensor.extract %mask[%at] : tensor<?xi1>
        attn.yield %r : i1
      }
      : tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>
      -> tensor<1x1x?x4xf32>
  return %o : tensor<1x1x?x4xf32>
}
