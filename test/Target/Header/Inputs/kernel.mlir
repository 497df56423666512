// Every kind of parameter, a workspace, a constraint and a cluster.
!in = !attn_tile.global<?x?x64xf16>
!out = !attn_tile.global<?x?xf32>
!row = !attn_tile.global<64xf16>
!one = !attn_tile.global<1xf32>
!map = !attn_tile.tensor_map<32x64xf16, swizzle = 128>

module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  attn_launch.program "one" attributes {scale = 1.0 : f64, semantics = "attention"} {
    %in = attn_launch.operand input "in" vector(8) dims ["B", "N", "D"] : !in
    %out = attn_launch.operand output "default" dims ["B", "N"] : !out
    %scale = arith.constant 0.125 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %n = attn_tile.dim %in, 1 : !in
    %odd = arith.remui %n, %c2 : index
    attn_launch.constraint %odd equals 0, "N must be \22even\22"
    %sms = attn_launch.sm_count
    %bytes = arith.muli %sms, %c256 : index
    %partial = attn_launch.workspace "partial" bytes(%bytes) zero
    %sums = attn_launch.view %partial[%c0] : !attn_launch.workspace to !one
    %batch = attn_launch.stride %in, 0 : !in
    %second = arith.muli %batch, %c2 : index
    %rows = attn_launch.view %in[%second] : !in to !row
    %first = attn_launch.view %out[%c0] : !out to !one
    %stride = attn_launch.stride %in, 1 : !in
    %step = arith.index_cast %stride : index to i64
    %count = arith.index_cast %n : index to i32
    %map = attn_launch.tensor_map %in : !in to !map
    %x = arith.ceildivsi %n, %c64 : index
    %b = attn_tile.dim %in, 0 : !in
    %y = arith.minsi %sms, %b : index
    attn_launch.launch @one grid(%x, %y, %c1)
        args(%rows, %step, %count, %scale, %sums, %map, %first : !row, i64, i32, f32, !one, !map, !one)
        {threads = 128 : i64, cluster_ctas = 2 : i64, shared_bytes = 65536 : i64}
  }
  llvm.func @one(%in: !llvm.ptr<1>, %stride: i64, %rows: i32, %scale: f32, %partial: !llvm.ptr<1>,
                 %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i32},
                 %out: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    llvm.return
  }
}
