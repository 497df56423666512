// A kernel that has gone through every stage.
module attributes {
  attn.normal_form = #attn.normal_form<nvvm>,
  attn.manifest = {
    target = "sm_80",
    operands = [{name = "out", role = "output", dtype = "f32", shape = [1]}],
    kernels = [{entry = "one", grid = [1], block = [1],
                parameters = [{kind = "pointer", operand = "out"}]}]
  }
} {
  llvm.func @one(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1.0 : f32) : f32
    llvm.store %one, %out : f32, !llvm.ptr<1>
    llvm.return
  }
}
