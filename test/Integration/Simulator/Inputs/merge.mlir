func.func @two(%a: tensor<?x3x?x70xbf16>, %b: tensor<?x3x?x70xf32>, %la: tensor<?x3x?xf32>, %lb: tensor<?x3x?xf32>, %s: tensor<3xbf16>) -> (tensor<?x3x?x70xbf16>, tensor<?x3x?xf32>) {
  %o, %l = attn.merge outputs(%a, %b : tensor<?x3x?x70xbf16>, tensor<?x3x?x70xf32>) lses(%la, %lb : tensor<?x3x?xf32>, tensor<?x3x?xf32>) sink(%s : tensor<3xbf16>)
      -> tensor<?x3x?x70xbf16>, tensor<?x3x?xf32>
  return %o, %l : tensor<?x3x?x70xbf16>, tensor<?x3x?xf32>
}
