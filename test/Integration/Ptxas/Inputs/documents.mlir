func.func @documents(%query: tensor<?x?x?x128xbf16>, %key: tensor<?x?x?x128xbf16>, %value: tensor<?x?x?x128xbf16>, %mask_0: tensor<?xi32>) -> tensor<?x?x?x128xbf16> {
  %o = attn.attention %query, %key, %value mask_mod (%b: index, %h: index, %i: index, %j: index) {
      %0 = attn.segment %mask_0 at %i : tensor<?xi32>
      %1 = arith.constant 1 : index
      %2 = arith.addi %0, %1 : index
      %3 = tensor.extract %mask_0[%2] : tensor<?xi32>
      %4 = arith.index_cast %3 : i32 to index
      %5 = arith.cmpi slt, %i, %4 : index
      %6 = tensor.extract %mask_0[%0] : tensor<?xi32>
      %7 = arith.index_cast %6 : i32 to index
      %8 = arith.cmpi sge, %j, %7 : index
      %9 = arith.andi %5, %8 : i1
      %10 = arith.cmpi sle, %j, %i : index
      %11 = arith.andi %9, %10 : i1
      attn.yield %11 : i1
    } : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16> -> tensor<?x?x?x128xbf16>
  return %o : tensor<?x?x?x128xbf16>
}
