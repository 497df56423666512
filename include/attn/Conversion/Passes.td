//===- Passes.td - Conversions to and from the attn dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_PASSES_TD
#define ATTN_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// AttnToLinalg
//===----------------------------------------------------------------------===//

def ConvertAttnToLinalg : Pass<"convert-attn-to-linalg"> {
  let summary = "Attention as plain, unfused linalg ops";
  let description = [{
    Replaces each op of the attn dialect by linalg ops on tensors that compute
    it by definition: scores, row maximum, exponentials, row sum, product with
    the values, division. Scores and everything after them are f32, or f64
    where the op is f64. It needs memory for the whole [B, Hq, M, N] score
    tensor: it is the path that depends on nothing but upstream MLIR, not the
    fast one.

    A masked key takes no part whatever its key and value rows hold; a row
    whose every key is masked gives 0 and an LSE of -inf. Where query heads
    share key heads, the head dimension is expanded to [Hkv, Hq / Hkv].

    `attn.attention_backward` becomes the five products of the backward pass
    over whole score tensors, the derivative of score_mod where there is one,
    and, for each captured tensor whose gradient is asked for, a loop that adds
    score by score.

    Requires: nothing. Ensures: no op of the attn dialect is left.

    Example:
    ```mlir
    %o, %lse = attn.attention %q, %k, %v mask_mod causal(top_left)
        : tensor<1x8x64x32xf16>, tensor<1x8x64x32xf16>, tensor<1x8x64x32xf16>
        -> tensor<1x8x64x32xf16>, tensor<1x8x64xf32>
    ```
    becomes eight linalg.generic ops; the one that changes the scores holds the
    body of the mask with linalg.index in the place of its arguments.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"roundFactors", "round-factors", "bool", "false",
           "Round what attn.linear_attention multiplies its operands by to "
           "their types, as a graph in these does">
  ];
  let statistics = [
    Statistic<"numConverted", "ops-converted", "attn ops converted">
  ];
}

//===----------------------------------------------------------------------===//
// AttnToVector: code of one tile for a CPU
//===----------------------------------------------------------------------===//

def DecomposeBackwardPass
    : Pass<"attn-decompose-backward", "::mlir::ModuleOp"> {
  let summary = "static tiles of the backward as vector code for a CPU";
  let description = [{
    Replaces each `attn.backward_step` and `attn.backward_delta` on static tiles
    by loops of vector ops, as `--attn-decompose-online` does with the forward:
    the operands of a tile are copied to buffers in the score type, K and V
    transposed too; a loop over rows computes P and dS of the tile between the
    products, which are register-blocked.

    Requires: `--attn-tile-backward`. Ensures: no `attn.backward_step` and no
    `attn.backward_delta`.

    Example: the loop that adds eight rows of dS K to dQ
    ```mlir
    %s:8 = scf.for %k = %c0 to %c64 step %c1 iter_args(%s0 = %dq0, ...) -> (vector<32xf32>, ...) {
      %row = vector.load %keys[%k, %c0] : memref<64x64xf32>, vector<32xf32>
      %ds = memref.load %dscores[%i, %k] : memref<64x64xf32>
      %ds0 = vector.broadcast %ds : f32 to vector<32xf32>
      %t0 = vector.fma %ds0, %row, %s0 : vector<32xf32>
      ...
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"
  ];
  let statistics = [
    Statistic<"numDecomposed", "num-decomposed",
              "Number of backward steps decomposed">
  ];
}

def DecomposeMasksPass : Pass<"attn-decompose-masks", "::mlir::ModuleOp"> {
  let summary = "what masks read from data as loops for a CPU";
  let description = [{
    `attn.create_block_mask` becomes loops over its blocks, each of which looks
    at its pairs until it has seen a visible and a masked one;
    `attn.key_bounds` a loop over rows; `attn.segment` and `attn.block_listed`
    searches that halve what is left.

    Requires: no `attn.attention` and no `attn.online_attention`. Ensures: none
    of these ops.

    Example: the search of `attn.segment`
    ```mlir
    %s:2 = scf.while (%low = %c0, %high = %count) : (index, index) -> (index, index) {
      %more = arith.cmpi slt, %low, %high : index
      scf.condition(%more) %low, %high : index, index
    } do { ... }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numDecomposed", "num-decomposed", "Number of ops decomposed">
  ];
}

def DecomposeOnlinePass : Pass<"attn-decompose-online", "::mlir::ModuleOp"> {
  let summary = "static tiles of attention as vector code for a CPU";
  let description = [{
    Replaces each `attn.online_attention` and `attn.normalize` on static tiles
    by loops of vector ops. Of a tile it copies Q (times the scale), K
    transposed and, in the score type, V to buffers; then, for eight rows at a
    time, it computes the scores in register blocks, takes their softmax, and
    multiplies with V, again in register blocks. With `bf16-dot`, products of
    bf16 operands are those of pairs, added up in f32 (AVX-512 BF16): K and V are
    copied as pairs, and the exponentials are rounded to bf16. Of a tile of at
    most four rows, as of a decoded token, K and V are read where they are, each
    row once. Both regions are inlined on vectors of consecutive keys. Rows that have seen no key stay 0; no step
    takes the exponential of a difference of infinities.

    Buffers are `memref.alloca` at the start of the body of the loop over row
    tiles; see `--attn-hoist-tile-buffers`.

    Requires: `tiled`, with static tiles (`--attn-pad-tiles`). Ensures: no
    `attn.online_attention` and no `attn.normalize`.

    Example: the inner loop of the first product, of 8 x 32 scores
    ```mlir
    %s:8 = scf.for %d = %c0 to %c64 step %c1 iter_args(%s0 = %zero, ...) -> (vector<32xf32>, ...) {
      %k = vector.load %keys[%d, %c0] : memref<64x64xf32>, vector<32xf32>
      %q = memref.load %query[%row, %d] : memref<64x64xf32>
      %q0 = vector.broadcast %q : f32 to vector<32xf32>
      %t0 = vector.fma %q0, %k, %s0 : vector<32xf32>
      ...
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect",
    "::mlir::x86vector::X86VectorDialect"
  ];
  let options = [
    Option<"bf16Dot", "bf16-dot", "bool", "false",
           "Products of bf16 by AVX-512 BF16">
  ];
  let statistics = [
    Statistic<"numDecomposed", "num-decomposed",
              "Number of online attention steps decomposed">
  ];
}

def HoistTileBuffersPass
    : Pass<"attn-hoist-tile-buffers", "::mlir::ModuleOp"> {
  let summary = "move stack buffers to the start of their function";
  let description = [{
    Moves each `memref.alloca` of static size to the start of its function, so
    that a loop does not grow the stack. Correct for buffers whose contents do
    not outlive an iteration, which holds for those of
    `--attn-decompose-online`, once the loop over tiles is in the function that
    one thread runs.

    Requires: buffers that are written before they are read in each iteration.
    Ensures: no `memref.alloca` of static size in a loop.

    Example:
    ```mlir
    scf.for %i = %c0 to %n step %c1 {
      %b = memref.alloca() : memref<8x64xf32>   // moves before the loop
      ...
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numHoisted", "num-hoisted", "Number of buffers moved">
  ];
}

//===----------------------------------------------------------------------===//
// GraphToBufferizable
//===----------------------------------------------------------------------===//

def ConvertGraphToBufferizable
    : Pass<"convert-graph-to-bufferizable", "::mlir::ModuleOp"> {
  let summary = "Rewrite what one-shot-bufferize and the JIT cannot take";
  let description = [{
    - `tensor.concat` becomes insertions of slices; `linalg.softmax` and other
      aggregates become their parts; a `tensor.expand_shape` into several
      dynamic sizes becomes a `tensor.reshape`; strides of slices are 1 where
      their sizes are.
    - Public functions keep their arguments as they are
      (`bufferization.writable = false`, unless they have that attribute) and get a C interface
      (`llvm.emit_c_interface`), as external functions do.

    Requires: linalg, tensor, arith and friends only. Ensures: the module
    bufferizes if all its ops do.

    Example:
    ```mlir
    %0 = tensor.concat dim(0) %a, %b
        : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// LinalgToAttn
//===----------------------------------------------------------------------===//

def AttnRaiseOutputs : Pass<"attn-raise-outputs"> {
  let summary = "capture functions of an attention's output";
  let description = [{
    Follows the output of each `attn.attention` while one op alone uses it, and
    moves its elements or changes them one by one: casts, reshapes, transposes,
    elementwise ops of linalg and TOSA. The last tensor that is changed becomes an
    `attn.output_mod` of the output, now in the type of scores, with reshapes and
    transposes behind it: gates with the functions that make them, scales and masks
    of heads, a mix with the values. What is not elementwise, such as
    the gate's projection, is read from its tensor. A residual sum, an output that is used twice,
    changed by a reduction, or whose places are no digits of its coordinates,
    stays as it is. What rounds to f8E4M3FN or f8E5M2 behind a clamp within its
    range is a part, too, with `bytes`: kernels round so from sm_89 on.

    Where a maximum of magnitudes, `math.absf` and `arith.maximumf` over all
    elements, or over the columns and other dimensions of the output as it is, or
    `tosa.abs` and `tosa.reduce_max` over the columns of static shapes,
    uses a tensor on the way, that is the result of an output_mod with an `amax`
    (up to 256 columns), the rest of the reduction is of that, and what else uses
    the tensor is followed: delayed scaling. What depends on the maximum is not
    captured.

    Requires: `tensor`, but for what surrounds attentions. Ensures: the same.

    Example:
    ```mlir
    %o = attn.attention %q, %k, %v : ... -> tensor<1x4x64x32xf16>
    %y = linalg.mul ins(%o, %gate : ...) outs(%e : ...)
    // becomes
    %o = attn.attention %q, %k, %v : ... -> tensor<1x4x64x32xf32>
    %y = attn.output_mod %o (%x: f32, %b: index, %h: index, %i: index, %c: index) {
      %g = tensor.extract %gate[%b, %h, %i, %c] : tensor<1x4x64x32xf16>
      ...
    } : tensor<1x4x64x32xf32> -> tensor<1x4x64x32xf16>
    ```
  }];
  let options = [
    Option<"bytes", "bytes", "bool", /*default=*/"true",
           "Outputs may have 8 bits">
  ];
  let dependentDialects = [
    "::attn::AttnDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numRaised", "num-raised", "Number of functions captured">
  ];
}

def AttnRaise : Pass<"attn-raise"> {
  let summary = "Capture attention graphs of linalg and TOSA ops";
  let description = [{
    Replaces each graph that computes attention by one `attn.attention`. The
    graph may be made of linalg named ops and generics, tensor reshapes and
    slices, and TOSA ops, in any mixture. The search starts at each contraction:
    if one of its operands is a softmax over another contraction, scale, bias,
    masks, score changes and the roles of the dimensions are read off the
    expression of a single score element. docs/Rationale/Raise.md says what is
    recognised and what the capture promises.

    Rotary embedding and norm of queries and keys in front of an attention become
    `attn.rotary` and `attn.qk_norm`. Keys and values of 8 bits that a graph
    widens for a query of 16, and multiplies by a number each, are read as they
    are, with descales.

    A contraction that has an exponential in an operand and is not captured gets
    a remark that says which op broke the match and why. A module without any
    attention is an error that names the nearest miss, but for one that appends to
    a cache and holds nothing like an attention.

    Requires: nothing. Ensures: the `tensor` form for what was captured; ops
    that became dead are erased.

    Example:
    ```mlir
    %s = linalg.batch_matmul ins(%q, %kt : ...) outs(%zero : ...)
    %p = linalg.softmax dimension(2) ins(%s : ...) outs(%e : ...)
    %o = linalg.batch_matmul ins(%p, %v : ...) outs(%zero2 : ...)
    ```
    becomes, with reshapes to four dimensions around it,
    ```mlir
    %o = attn.attention %q, %k, %v scale(1.000000e+00)
        : tensor<8x1x64x32xf32>, tensor<8x1x64x32xf32>, tensor<8x1x64x32xf32>
        -> tensor<8x1x64x32xf32>
    ```
  }];
  let dependentDialects = [
    "::attn::AttnDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"allowNone", "allow-none", "bool", /*default=*/"false",
           "A module without attention is no error">,
    Option<"maskThreshold", "mask-threshold", "double", /*default=*/"0",
           "Finite mask values at or below this count as -inf where every row "
           "sees a key (0: half of the lowest number of the score's type)">,
    Option<"assumeVisibleRows", "assume-visible-rows", "bool",
           /*default=*/"false",
           "Take it that every query sees at least one key, without proof">
  ];
  let statistics = [
    Statistic<"numFound", "attention-found",
              "contractions that looked like the end of an attention">,
    Statistic<"numRaised", "attention-raised", "of these, captured">,
    Statistic<"numMissed", "attention-missed", "of these, not captured">,
    Statistic<"numRows", "row-ops", "attn.rotary and attn.qk_norm before them">,
    Statistic<"numCaches", "caches-8-bit", "attentions that read keys and values of 8 bits">
  ];
}

//===----------------------------------------------------------------------===//
// PromoteToF64
//===----------------------------------------------------------------------===//

def PromoteToF64 : Pass<"attn-promote-to-f64", "::mlir::ModuleOp"> {
  let summary = "Compute the whole module in f64";
  let description = [{
    Replaces every f16, bf16, f32 and f8 type by f64: function signatures,
    values, constants (exactly; each value is representable). Conversions
    between float types disappear. What is left is the reference of a graph: the
    same operations without their rounding.

    Constants keep their values, so a mask of -3.4028e38 stays that number and
    -inf stays -inf. Where a graph relies on rounding or overflow (a sum of two
    such masks is -inf in f32 only), f64 gives the exact value instead.

    Requires: no op that reads the bits of a float (`arith.bitcast`,
    `tensor.bitcast`); TOSA already lowered, since its verifiers fix the types.
    Ensures: f64 is the only float type.

    Example: `arith.addf %a, %b : f16` becomes `arith.addf %a, %b : f64`.
  }];
  let statistics = [
    Statistic<"numPromoted", "ops-promoted", "ops whose types changed">
  ];
}

//===----------------------------------------------------------------------===//
// AttnToTile
//===----------------------------------------------------------------------===//

def ConvertAttnToTile : Pass<"convert-attn-to-tile", "::mlir::ModuleOp"> {
  let summary = "Tiled attention to the program of one CTA";
  let description = [{
    Each function that holds one tiled attention (docs/Forms.md) becomes one
    `attn_tile.kernel`: the `scf.forall` becomes the grid, the slices of query,
    key and value become loads of tiles, `attn.online_attention` becomes two
    matrix products around an online softmax in registers, and the regions
    become elementwise maps. The softmax is in base 2 with the scale folded in:
    P = exp2(c * S - c * max), c = scale * log2(e).

    Operands, workspaces, what a launcher must check and the launches are an
    `attn_launch.program` beside the kernels. Everything else of the function is
    dropped: the launcher is given query, key and value.

    Requires: normal form `tiled`. Ensures: an `attn_launch.program` and its
    kernels per function, with `attn_tile.load` for every tile
    (`--attn-tile-pipeline` stages them).

    Example:
    ```mlir
    // attn-opt --attn-to-scheduled=target=sm_80 --attn-to-tiled --convert-attn-to-tile
    func.func @f(%q: tensor<1x8x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>)
        -> tensor<1x8x?x64xf16> {
      %o = attn.attention %q, %k, %v mask_mod causal(bottom_right)
          : tensor<1x8x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x8x?x64xf16>
      return %o : tensor<1x8x?x64xf16>
    }
    ```
  }];
  let options = [
    Option<"allowTf32", "allow-tf32", "bool", /*default=*/"false",
           "Let f32 attention use tf32 tensor cores">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Number of kernels made">
  ];
  let dependentDialects = ["::attn::launch::AttnLaunchDialect",
                           "::attn::tile::AttnTileDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// ExpandFloat8
//===----------------------------------------------------------------------===//

def ExpandFloat8 : Pass<"attn-expand-float8"> {
  let summary = "arith.extf and arith.truncf of 8-bit floats by integer ops";
  let description = [{
    LLVM has no 8-bit floats: `arith.extf` from f8E4M3FN and f8E5M2 becomes shifts
    of the bits to those of an f16, which any host widens. All of their values are
    exact in f16; NaN stays NaN. `arith.truncf` to them becomes shifts and sums of
    the bits of an f32, which round to nearest, ties to even; what is beyond the
    largest number becomes infinity, or the NaN of f8E4M3FN.

    Requires: nothing. Ensures: no `arith.extf` of these types is left, and no
    `arith.truncf` to them but of f64.

    Example:
    ```mlir
    // attn-opt --attn-expand-float8
    func.func @widen(%x: f8E5M2) -> f32 {
      %y = arith.extf %x : f8E5M2 to f32
      return %y : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

//===----------------------------------------------------------------------===//
// TileToNVVM
//===----------------------------------------------------------------------===//

def ConvertAttnTileToNVVM
    : Pass<"convert-attn-tile-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Tile level to NVVM";
  let description = [{
    Lowers each `attn_tile.kernel` to an `llvm.func`: loads that
    `--attn-tile-pipeline` staged become cp.async, ldmatrix and mma.sync, those of
    `--attn-tile-specialize-warps` TMA, mbarriers and wgmma. Tile ops disappear;
    arithmetic of f32 becomes llvm ops, other scalar code stays in arith and scf.

    Requires: shared memory allocated (`--attn-tile-allocate-shared-memory`).
    Ensures: no attn_tile kernel is left; each `attn_launch.launch` knows the
    threads, the shared memory and the tensor maps of its kernel.

    Example: what stands before it is `--attn-to-tile`.
    ```mlir
    // attn-opt --attn-to-scheduled=target=sm_80 --attn-to-tiled --attn-to-tile --convert-attn-tile-to-nvvm
    func.func @f(%q: tensor<1x8x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>)
        -> tensor<1x8x?x64xf16> {
      %o = attn.attention %q, %k, %v mask_mod causal(bottom_right)
          : tensor<1x8x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x8x?x64xf16>
      return %o : tensor<1x8x?x64xf16>
    }
    ```
  }];
  let options = [
    Option<"float8Conversions", "float8-conversions", "bool",
           /*default=*/"false",
           "Widen f8E4M3FN by cvt, which sm_89 and later have">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Number of kernels lowered">
  ];
  let dependentDialects = ["::attn::ptx::AttnPTXDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def JoinConditions : Pass<"attn-join-conditions", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "the bounds of a mask as one predicate";
  let description = [{
    Where an `arith.select` of f32 asks for several comparisons that nothing else
    asks for, as those of a mask with two bounds, they become one predicate by
    inline PTX. LLVM's backend makes `select(a, select(b, x, y), y)` of
    `select(a and b, x, y)`: an instruction more for each score and bound, where
    ptxas joins a predicate with the comparison that makes another. Comparisons
    that several selects share stay as they are: there are more of them than
    predicate registers.

    Requires: kernels of `arith` ops, whose equal ones are one (`cse`). Ensures:
    the same.

    Example: of `begin <= j and j < end`,
    ```mlir
    %a = arith.cmpi sle, %begin, %j : i32
    %b = arith.cmpi slt, %j, %end : i32
    %0 = llvm.inline_asm "and.pred $0, $1, $2;", "=b,b,b" %a, %b : (i1, i1) -> i1
    %1 = arith.select %0, %score, %hidden : f32
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numJoined", "joined", "Number of selects by joined comparisons">
  ];
}

def ChainLaunches : Pass<"attn-chain-launches", "::mlir::ModuleOp"> {
  let summary = "start kernels while those before them still run";
  let description = [{
    Programmatic dependent launch (PTX ISA 9.7.13.13) of sm_90 and later: each
    launch of a program but the first becomes `programmatic`, so that its CTAs
    may start while the last ones of the kernel before still run. All threads of
    its kernel wait for the end of that kernel (`nvvm.griddepcontrol wait`) before
    the first op that reaches global memory or ends the CTA, and the kernels with
    a successor let it in there (`nvvm.griddepcontrol launch_dependents`), behind
    their own wait.

    The first launch of a program starts after the end of what was launched
    before, as ever.

    Requires: the form `tile`. Ensures: the same; the order of every two accesses
    of different kernels is as it was.

    Example: of a kernel that combines the parts of splits,
    ```mlir
    attn_launch.launch @combine programmatic grid(%c1, %c1, %c1) args(%w, %o : ...)
    attn_tile.kernel @combine(%w: ..., %o: ...) warps(4) {
      %x = gpu.block_id x
      nvvm.griddepcontrol wait
      %0 = attn_tile.extract %w[%x] : ...
      ...
    ```
  }];
  let statistics = [
    Statistic<"numChained", "chained", "Number of launches made programmatic">
  ];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def EraseLaunches : Pass<"attn-erase-launches", "::mlir::ModuleOp"> {
  let summary = "leave kernels that LLVM's own tools translate";
  let description = [{
    Erases each `attn_launch.program`, and the attributes of this project's
    dialects, so that stock `mlir-translate --mlir-to-llvmir` and `llc` take what
    is left. How the kernels are launched is lost: print the manifest before
    (`attn-opt --emit=manifest`), or let the host know it otherwise.

    Requires: `nvvm`. Ensures: only `llvm` and `nvvm` ops and attributes.

    Example:
    ```sh
    attn-opt in.mlir --attn-to-scheduled=target=sm_80 --attn-to-tiled \
        --attn-to-tile --attn-to-nvvm --attn-erase-launches |
      mlir-translate --mlir-to-llvmir | llc -march=nvptx64 -mcpu=sm_80 -mattr=+ptx80
    ```
  }];
  let statistics = [
    Statistic<"numErased", "erased", "Number of programs erased">
  ];
}

#endif // ATTN_CONVERSION_PASSES_TD
