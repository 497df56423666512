// Every kind of parameter, a workspace, a constraint and a cluster.
module attributes {
  attn.normal_form = #attn.normal_form<nvvm>,
  attn.manifest = {
    operands = [
      {name = "in", role = "input", dtype = "f16", shape = ["B", "N", 64],
       stride_constraints = {contiguous_dims = [2], multiple_of = 8}, alignment_bytes = 16},
      {name = "default", role = "output", dtype = "f32", shape = ["B", "N"]}],
    constraints = [{expr = "mod(N, 2)", equals = 0, message = "N must be \22even\22"}],
    workspaces = [{name = "partial", bytes = "sm_count * 256", fill = "zero"}],
    kernels = [
      {entry = "one", grid = ["ceildiv(N, 64)", "min(sm_count, B)", 1], block = [128],
       cluster = [2], shared_bytes = 65536, parameters = [
         {kind = "pointer", operand = "in", byte_offset = "stride(in, 0) * 2"},
         {kind = "i64", value = "stride(in, 1)"},
         {kind = "i32", value = "dim(in, 1)"},
         {kind = "f32", value = 0.125 : f64},
         {kind = "pointer", workspace = "partial"},
         {kind = "tensor_map", operand = "in", dtype = "f16", dims = [64, "N", "B"],
          strides_bytes = ["stride(in, 1) * 2", "stride(in, 0) * 2"], box = [64, 32, 1],
          swizzle = 128},
         {kind = "pointer", operand = "default"}]}]
  }
} {
  llvm.func @one(%in: !llvm.ptr<1>, %stride: i64, %rows: i32, %scale: f32, %partial: !llvm.ptr<1>,
                 %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i32},
                 %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    llvm.return
  }
}
