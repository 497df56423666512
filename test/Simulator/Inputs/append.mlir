func.func @append(%k: tensor<?x2x40xf32>, %v: tensor<?x2x33xf16>, %kp: tensor<?x2x5x40xbf16>, %vp: tensor<?x2x5x33xf16>, %s: tensor<?xi32>)
    -> (tensor<?x2x5x40xbf16>, tensor<?x2x5x33xf16>) {
  %0:2 = attn.append %k, %v into %kp, %vp slots(%s : tensor<?xi32>) : tensor<?x2x40xf32>, tensor<?x2x33xf16> into tensor<?x2x5x40xbf16>, tensor<?x2x5x33xf16>
  return %0#0, %0#1 : tensor<?x2x5x40xbf16>, tensor<?x2x5x33xf16>
}
