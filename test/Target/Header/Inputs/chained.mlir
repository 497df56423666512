// Three launches that may overlap; the first has no CTAs where there are no rows.
!in = !attn_tile.global<?x?x64xf16>
!out = !attn_tile.global<?x?xf32>

module attributes {attn.normal_form = #attn.normal_form<nvvm>} {
  attn_launch.program "one" attributes {scale = 1.0 : f64, semantics = "attention"} {
    %in = attn_launch.operand input "in" vector(8) dims ["B", "N", "D"] : !in
    %out = attn_launch.operand output "default" dims ["B", "N"] : !out
    %scale = arith.constant 0.125 : f32
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %n = attn_tile.dim %in, 1 : !in
    %stride = attn_launch.stride %in, 1 : !in
    %step = arith.index_cast %stride : index to i64
    %count = arith.index_cast %n : index to i32
    %x = arith.ceildivsi %n, %c64 : index
    attn_launch.launch @first grid(%x, %c2, %c2) args(%step, %step, %count, %scale : i64, i64, i32, f32) {threads = 128 : i64}
    attn_launch.launch @second programmatic grid(%c2, %c2, %c2) args(%step, %step, %count, %scale : i64, i64, i32, f32)
        {threads = 128 : i64, cluster_ctas = 2 : i64}
    attn_launch.launch @third programmatic grid(%c2, %c2, %c2) args(%step, %step, %count, %scale : i64, i64, i32, f32) {threads = 64 : i64}
  }
  llvm.func @first(%in: i64, %stride: i64, %rows: i32, %scale: f32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
    nvvm.griddepcontrol launch_dependents
    llvm.return
  }
  llvm.func @second(%in: i64, %stride: i64, %rows: i32, %scale: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    nvvm.griddepcontrol wait
    nvvm.griddepcontrol launch_dependents
    llvm.return
  }
  llvm.func @third(%in: i64, %stride: i64, %rows: i32, %scale: f32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64>} {
    nvvm.griddepcontrol wait
    llvm.return
  }
}
