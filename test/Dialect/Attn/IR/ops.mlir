// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// CHECK-LABEL: @plain
// CHECK: attn.attention %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4x8x16xf32>, tensor<2x2x12x16xf32>, tensor<2x2x12x24xf32> -> tensor<2x4x8x24xf32>
func.func @plain(%q: tensor<2x4x8x16xf32>, %k: tensor<2x2x12x16xf32>,
                 %v: tensor<2x2x12x24xf32>) -> tensor<2x4x8x24xf32> {
  %o = attn.attention %q, %k, %v
      : tensor<2x4x8x16xf32>, tensor<2x2x12x16xf32>, tensor<2x2x12x24xf32>
      -> tensor<2x4x8x24xf32>
  return %o : tensor<2x4x8x24xf32>
}

// CHECK-LABEL: @sink
// CHECK: attn.attention %{{.*}}, %{{.*}}, %{{.*}} sink(%{{.*}} : tensor<4xf32>) :
// CHECK: attn.normalize %{{.*}}, %{{.*}}, %{{.*}} sink(%{{.*}} : tensor<4xf32>) :
func.func @sink(%q: tensor<2x4x8x16xf32>, %sink: tensor<4xf32>, %max: tensor<2x4x8xf32>) -> tensor<2x4x8x16xf32> {
  %o = attn.attention %q, %q, %q sink(%sink : tensor<4xf32>)
      : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32> -> tensor<2x4x8x16xf32>
  %n = attn.normalize %o, %max, %max sink(%sink : tensor<4xf32>)
      : tensor<2x4x8x16xf32>, tensor<2x4x8xf32> -> tensor<2x4x8x16xf32>
  return %n : tensor<2x4x8x16xf32>
}

// Every optional part at once, and dynamic sizes.
// CHECK-LABEL: @everything
// CHECK: attn.attention %{{.*}} bias(%{{.*}} : tensor<1x1x?x?xf16>) scale(1.250000e-01) score_mod (%[[S:.*]]: f32, %{{.*}}: index, %[[H:.*]]: index, %{{.*}}: index, %{{.*}}: index) {
// CHECK: tensor.extract %{{.*}}[%[[H]]]
// CHECK: attn.yield %{{.*}} : f32
// CHECK: } mask_mod (%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[J:.*]]: index) {
// CHECK: attn.length key
// CHECK: attn.yield %{{.*}} : i1
// CHECK: } {schedule = #attn.schedule<tile_m = 128, stages = 3>}
func.func @everything(%q: tensor<?x8x?x64xf16>, %k: tensor<?x2x?x64xf16>,
                      %v: tensor<?x2x?x64xf16>, %bias: tensor<1x1x?x?xf16>,
                      %slopes: tensor<8xf32>)
    -> (tensor<?x8x?x64xf32>, tensor<?x8x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v bias(%bias : tensor<1x1x?x?xf16>)
      scale(0.125)
      score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
        %slope = tensor.extract %slopes[%h] : tensor<8xf32>
        %r = arith.mulf %s, %slope : f32
        attn.yield %r : f32
      }
      mask_mod (%b: index, %h: index, %i: index, %j: index) {
        %n = attn.length key
        %visible = arith.cmpi slt, %j, %n : index
        attn.yield %visible : i1
      }
      {schedule = #attn.schedule<tile_m = 128, stages = 3>}
      : tensor<?x8x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>
      -> tensor<?x8x?x64xf32>, tensor<?x8x?xf32>
  return %o, %lse : tensor<?x8x?x64xf32>, tensor<?x8x?xf32>
}

// CHECK-LABEL: @online
// CHECK: attn.online_attention %{{.*}}, %{{.*}}, %{{.*}} scale(5.000000e-01) offsets(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) mask_mod causal(top_left) outs(%{{.*}}, %{{.*}}, %{{.*}}) : tensor<1x1x4x8xbf16>, tensor<1x1x6x8xbf16>, tensor<1x1x6x8xbf16> -> tensor<1x1x4x8xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>
// CHECK: attn.normalize %{{.*}}, %{{.*}}, %{{.*}} : tensor<1x1x4x8xf32>, tensor<1x1x4xf32> -> tensor<1x1x4x8xbf16>, tensor<1x1x4xf32>
func.func @online(%q: tensor<1x1x4x8xbf16>, %k: tensor<1x1x6x8xbf16>,
                  %acc: tensor<1x1x4x8xf32>, %max: tensor<1x1x4xf32>,
                  %sum: tensor<1x1x4xf32>, %at: index)
    -> (tensor<1x1x4x8xbf16>, tensor<1x1x4xf32>) {
  %s:3 = attn.online_attention %q, %k, %k scale(0.5)
      offsets(%at, %at, %at, %at) mask_mod causal(top_left)
      outs(%acc, %max, %sum)
      : tensor<1x1x4x8xbf16>, tensor<1x1x6x8xbf16>, tensor<1x1x6x8xbf16>
      -> tensor<1x1x4x8xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>
  %o, %lse = attn.normalize %s#0, %s#1, %s#2
      : tensor<1x1x4x8xf32>, tensor<1x1x4xf32>
      -> tensor<1x1x4x8xbf16>, tensor<1x1x4xf32>
  return %o, %lse : tensor<1x1x4x8xbf16>, tensor<1x1x4xf32>
}

// CHECK-LABEL: @merge
// CHECK: attn.merge outputs(%{{.*}}, %{{.*}} : tensor<1x8x16x64xf32>, tensor<1x8x16x64xf32>) lses(%{{.*}}, %{{.*}} : tensor<1x8x16xf32>, tensor<1x8x16xf32>) -> tensor<1x8x16x64xf32>, tensor<1x8x16xf32>
func.func @merge(%o: tensor<1x8x16x64xf32>, %l: tensor<1x8x16xf32>)
    -> tensor<1x8x16x64xf32> {
  %r, %lse = attn.merge
      outputs(%o, %o : tensor<1x8x16x64xf32>, tensor<1x8x16x64xf32>)
      lses(%l, %l : tensor<1x8x16xf32>, tensor<1x8x16xf32>)
      -> tensor<1x8x16x64xf32>, tensor<1x8x16xf32>
  return %r : tensor<1x8x16x64xf32>
}

// CHECK-LABEL: @merge_stack
// CHECK: attn.merge outputs(%{{.*}} : tensor<?x1x8x16x64xf16>) lses(%{{.*}} : tensor<?x1x8x16xf32>) sink(%{{.*}} : tensor<8xf16>) -> tensor<1x8x16x64xf16>, tensor<1x8x16xf32>
func.func @merge_stack(%o: tensor<?x1x8x16x64xf16>, %l: tensor<?x1x8x16xf32>, %sink: tensor<8xf16>)
    -> tensor<1x8x16x64xf16> {
  %r, %lse = attn.merge outputs(%o : tensor<?x1x8x16x64xf16>) lses(%l : tensor<?x1x8x16xf32>) sink(%sink : tensor<8xf16>)
      -> tensor<1x8x16x64xf16>, tensor<1x8x16xf32>
  return %r : tensor<1x8x16x64xf16>
}

// CHECK-LABEL: @combine
// CHECK: attn.combine %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x1x1x?x64xf32>, tensor<4x1x1x?xf32> -> tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
func.func @combine(%accs: tensor<4x1x1x?x64xf32>, %maxima: tensor<4x1x1x?xf32>, %sums: tensor<4x1x1x?xf32>)
    -> tensor<1x1x?x64xf32> {
  %acc, %max, %sum = attn.combine %accs, %maxima, %sums
      : tensor<4x1x1x?x64xf32>, tensor<4x1x1x?xf32> -> tensor<1x1x?x64xf32>, tensor<1x1x?xf32>
  return %acc : tensor<1x1x?x64xf32>
}

// CHECK-LABEL: @attributes
// CHECK-SAME: schedule = #attn.schedule<kind = "split_kv", tile_n = 32>
func.func @attributes() attributes {
    schedule = #attn.schedule<kind = "split_kv", tile_n = 32>} {
  return
}

// CHECK-LABEL: func @repair
func.func @repair(%o: tensor<1x2x96x64xf16>, %lse: tensor<1x2x96xf32>) -> (tensor<1x2x96x64xf16>, tensor<1x2x96xf32>) {
  // CHECK: attn.repair %arg0, %arg1 by %arg0, %arg1 below(-5.000000e+03) : tensor<1x2x96x64xf16>, tensor<1x2x96xf32>
  %r:2 = attn.repair %o, %lse by %o, %lse below(-5000.0) : tensor<1x2x96x64xf16>, tensor<1x2x96xf32>
  return %r#0, %r#1 : tensor<1x2x96x64xf16>, tensor<1x2x96xf32>
}
