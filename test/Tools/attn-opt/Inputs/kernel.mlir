// A kernel that has gone through every stage.
module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  attn_launch.program "one" attributes {scale = 1.0 : f64, semantics = "attention"} {
    %out = attn_launch.operand output "out" : !attn_tile.global<1xf32>
    %c1 = arith.constant 1 : index
    attn_launch.launch @one grid(%c1, %c1, %c1) args(%out : !attn_tile.global<1xf32>) {threads = 1 : i64}
  }
  llvm.func @one(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1.0 : f32) : f32
    llvm.store %one, %out : f32, !llvm.ptr<1>
    llvm.return
  }
}
