//===- Passes.td - Passes of the attn dialect --------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In alphabetical order. Normal forms are those of docs/Forms.md.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_TD
#define ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertToOnlinePass : Pass<"attn-convert-to-online", "::mlir::ModuleOp"> {
  let summary = "attn.attention to one step of attn.online_attention";
  let description = [{
    Replaces each `attn.attention` by the initial state (acc = 0, max = -inf,
    sum = 0), one `attn.online_attention` over all keys, and `attn.normalize`.
    `attn.length` in the regions becomes a captured size. The schedule moves to
    the `attn.online_attention`.

    Requires: `tensor` or `scheduled`. Ensures: no `attn.attention`.

    Example:
    ```mlir
    %o = attn.attention %q, %k, %v mask_mod causal(top_left)
        : tensor<1x2x96x64xf32>, tensor<1x2x96x64xf32>, tensor<1x2x96x64xf32>
        -> tensor<1x2x96x64xf32>
    // becomes, with %acc, %max and %sum filled with 0, -inf and 0:
    %s:3 = attn.online_attention %q, %k, %v offsets(%c0, %c0, %c0, %c0)
        mask_mod causal(top_left) outs(%acc, %max, %sum)
        : tensor<1x2x96x64xf32>, tensor<1x2x96x64xf32>, tensor<1x2x96x64xf32>
        -> tensor<1x2x96x64xf32>, tensor<1x2x96xf32>, tensor<1x2x96xf32>
    %o = attn.normalize %s#0, %s#1, %s#2
        : tensor<1x2x96x64xf32>, tensor<1x2x96xf32> -> tensor<1x2x96x64xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numConverted", "num-converted", "Number of attentions converted">
  ];
}

def FoldProbModPass : Pass<"attn-fold-prob-mod", "::mlir::ModuleOp"> {
  let summary = "a linear prob_mod becomes an output_mod";
  let description = [{
    A `prob_mod` a p, or a p + (i == j ? c : 0), with a and c of (b, h, i) alone, is
    a function of the output: a O + c V[i], without c where the mask hides (i, i).
    It needs one attention, not two. With c what may hide a pair is to be the mask:
    there is neither a bias nor a score_mod, and no lengths, dropout, descales or
    views of V; the numbers of heads and keys are static.

    Requires: `tensor`, but for prob_mods. Ensures: the same.

    Example:
    ```mlir
    %o = attn.attention %q, %k, %v
        prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
          %f = tensor.extract %factors[%h] : tensor<2xf32>
          %r = arith.mulf %f, %p : f32
          attn.yield %r : f32
        }
        : tensor<1x2x96x64xf16>, tensor<1x2x80x64xf16>, tensor<1x2x80x64xf16>
        -> tensor<1x2x96x64xf16>
    // becomes
    %x = attn.attention %q, %k, %v : ... -> tensor<1x2x96x64xf32>
    %o = attn.output_mod %x (%y: f32, %b: index, %h: index, %i: index, %c: index) {
      %f = tensor.extract %factors[%h] : tensor<2xf32>
      %r = arith.mulf %f, %y : f32
      attn.yield %r : f32
    } : tensor<1x2x96x64xf32> -> tensor<1x2x96x64xf16>
    ```
  }];
  let dependentDialects = [
    "::attn::AttnDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numFolded", "num-folded", "Number of prob_mods that were linear">
  ];
}

def DecomposeProbModPass
    : Pass<"attn-decompose-prob-mod", "::mlir::ModuleOp"> {
  let summary = "an attention with a prob_mod becomes some without";
  let description = [{
    Replaces each `attn.attention` whose `prob_mod` is no factor of the
    probability (steps apply one that is, unless the schedule is a small cache's)
    by one that gives the LSE of its scores S, and one without normalization
    whose weights are prob_mod(exp(S - LSE)). The output of the first has no use;
    where keys are no view, its values are their first 16 columns in place of V.
    With a bias or a score_mod, and no sink, a third gives the LSE of S - LSE,
    which both shift by: an f32 has no room for the logarithm of a sum beside the
    scores of a row that a finite mask hides whole.

    Requires: `tensor`, but for the regions that are replaced. Ensures: `tensor`.

    Example:
    ```mlir
    %o = attn.attention %q, %k, %v
        prob_mod (%p: f32, %b: index, %h: index, %i: index, %j: index) {
          %r = arith.mulf %p, %p : f32
          attn.yield %r : f32
        }
        : tensor<1x2x96x64xf16>, tensor<1x2x80x64xf16>, tensor<1x2x80x8xf16>
        -> tensor<1x2x96x8xf16>
    // becomes, but for rows whose lse is -inf
    %unused, %lse = attn.attention %q, %k, %v
        : tensor<1x2x96x64xf16>, tensor<1x2x80x64xf16>, tensor<1x2x80x8xf16>
        -> tensor<1x2x96x8xf16>, tensor<1x2x96xf32>
    %o = attn.attention %q, %k, %v normalization(#attn.none)
        score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
          %l = tensor.extract %lse[%b, %h, %i] : tensor<1x2x96xf32>
          %x = arith.subf %s, %l : f32
          %p = math.exp %x : f32
          %r = arith.mulf %p, %p : f32
          attn.yield %r : f32
        }
        : tensor<1x2x96x64xf16>, tensor<1x2x80x64xf16>, tensor<1x2x80x8xf16>
        -> tensor<1x2x96x8xf16>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numDecomposed", "num-decomposed",
              "Number of attentions with a prob_mod">
  ];
}

def GradPass : Pass<"attn-grad", "::mlir::ModuleOp"> {
  let summary = "build the backward function of each forward function";
  let description = [{
    For each public function `@f` that contains an `attn.attention`, adds a
    function `@f_grad` with `attn.attention_backward`. `@f` stays as it is.

    Arguments of `@f_grad`, in this order: those of `@f`; the results of `@f`
    (what it saved: the output and the LSE); the gradient of the output, and,
    with the option `lse-gradient`, that of the LSE. Its results are the
    gradients of the float tensor arguments of `@f`, in their order and types:
    of query, key, value, bias and what score_mod reads by `tensor.extract`; of
    an argument that is several of these, the sum; of any other, zeros. Gradients of
    arguments of 8 bits are of what these stand for, in f16 or bf16.

    `@f` must return the output of one attention whose tensors are its
    arguments, and its LSE. With the option `recompute`, `@f` need not return
    the LSE: `@f_grad` computes the forward again, and takes the arguments of
    `@f` and the gradients only. The forward of 8-bit inputs is then that of what
    they stand for, whose weights are not rounded to 8 bits.

    An `attn.linear_attention` has linear attentions as gradients, of query, key,
    value, state and decay or slope: `@f` returns its output, or that and its
    final state, and `@f_grad` takes the arguments of `@f` and the gradients of
    its results only. A gradient of the output is rounded to the type of query.

    Requires: `tensor`. Ensures: `tensor`.

    Example:
    ```mlir
    func.func @f(%q: tensor<1x2x96x64xf16>, %k: tensor<1x2x96x64xf16>, %v: tensor<1x2x96x64xf16>)
        -> (tensor<1x2x96x64xf16>, tensor<1x2x96xf32>) { ... }
    // adds
    func.func @f_grad(%q: tensor<1x2x96x64xf16>, %k: tensor<1x2x96x64xf16>, %v: tensor<1x2x96x64xf16>,
                      %o: tensor<1x2x96x64xf16>, %lse: tensor<1x2x96xf32>, %do: tensor<1x2x96x64xf16>)
        -> (tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>, tensor<1x2x96x64xf16>) {
      %d:3 = attn.attention_backward %q, %k, %v output(%o : tensor<1x2x96x64xf16>) ...
      return %d#0, %d#1, %d#2 : ...
    }
    ```
  }];
  let dependentDialects = [
    "::attn::AttnDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"recompute", "recompute", "bool", "false",
           "Compute the forward again instead of taking its results">,
    Option<"lseGradient", "lse-gradient", "bool", "false",
           "Take the gradient of the LSE too">
  ];
  let statistics = [
    Statistic<"numFunctions", "num-functions",
              "Number of backward functions built">
  ];
}

def InsertDeviceAssertsPass
    : Pass<"attn-insert-device-asserts", "::mlir::ModuleOp"> {
  let summary = "check on the device what masks read";
  let description = [{
    Puts an `attn.device_assert` before each attention for what its mask expects
    of data: lists of blocks that fit the problem, ascend and do not overlap, and
    offsets of packed sequences that start at 0 and do not decrease; likewise for
    lengths, entries of tables, slots, positions, maps of heads and descales.
    Kernels take them for granted, since only the device has the data. The
    interpreter, and so `attn-run --verify`, checks the same, but for descales of an
    attention: what one that is not finite gives is defined.

    Requires: `scheduled`. Ensures: `scheduled`.

    Example: of packed sequences
    ```mlir
    attn.device_assert over(%sequences) "expected offsets that do not decrease" {
    ^bb0(%s: index):
      %next = arith.addi %s, %c1 : index
      %from = tensor.extract %cu_seqlens[%s] : tensor<?xi32>
      %to = tensor.extract %cu_seqlens[%next] : tensor<?xi32>
      %holds = arith.cmpi sle, %from, %to : i32
      attn.yield %holds : i1
    }
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numAsserts", "num-asserts", "Number of conditions checked">
  ];
}

def InsertBlockSkippingPass
    : Pass<"attn-insert-block-skipping", "::mlir::ModuleOp"> {
  let summary = "walk only the key tiles that the mask leaves visible";
  let description = [{
    Reads each mask_mod region as a union of bands of the query position `i`
    and the key position `j` (Analysis/MaskAnalysis), and bounds, for each row tile, the keys that some row sees
    and those that every row sees. The key loop is split accordingly: *empty*
    key tiles are in no loop, *full* ones in a loop without mask, *partial*
    ones in loops with it. A mask that cannot be read stays partial
    everywhere, which is always correct; it counts as missed.

    Partial tiles on both sides of the full ones are one loop, after them: the
    body computes the key, those before the full ones come last. Where several
    ranges of keys are visible, one loop walks all full tiles and another all
    partial ones: the induction variable counts keys, and the body
    computes the tile that the count means by jumping over the gaps.

    What is exact is listed in docs/MaskAnalysis.md: causal masks, windows,
    prefixes, chunks, and their unions and intersections, whatever M and N.
    Where M and N are constant and that would visit tiles without need, the
    visible tiles are read from a table.

    Requires: `tiled`. Ensures: `tiled`.

    Example: row tiles of 64 and key tiles of 32 under `causal(top_left)`, M =
    N = 4096
    ```mlir
    %s:3 = scf.for %n = %c0 to %c4096 step %c32 ... mask_mod causal(top_left)
    // becomes
    %hi = affine.apply affine_map<(d0) -> (d0 + 64)>(%m)
    %s0:3 = scf.for %n = %c0 to %m step %c32 ...                       // full
    %s1:3 = scf.for %n = %m to %hi step %c32 ... mask_mod causal(top_left)
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect"
  ];
  let statistics = [
    Statistic<"numMasks", "num-masks", "Number of masked attentions found">,
    Statistic<"numBounded", "num-bounded",
              "Number of masks whose bounds were found">,
    Statistic<"numMissed", "num-missed",
              "Number of masks without bounds: every key tile is partial">
  ];
}

def FuseOutputsPass : Pass<"attn-fuse-outputs", "::mlir::ModuleOp"> {
  let summary = "functions of an attention's output, in its tiles";
  let description = [{
    Each `attn.output_mod` of an attention's output, or of d_query, d_key or
    d_value of a backward, that nothing else reads is applied to the tiles of it,
    before they are inserted. The nest stays where it is, or moves to the op, whose
    captures may follow the attention, unless a result is used before. That of an `attn.repair` is that of both attentions. Any other gets
    a nest over row tiles of its own, if it has a static number of columns.

    Requires: `tiled`. Ensures: `tiled`.

    Example:
    ```mlir
    %o = scf.forall (%b, %h, %m) = ... shared_outs(%out = %init) -> (tensor<1x2x96x64xf32>) {
      ...
      %ot = attn.normalize %s#0, %s#1, %s#2 : ... -> tensor<1x1x32x64xf32>
      ...                                       // %ot into %out
    }
    %y = attn.output_mod %o (%x: f32, ...) {...} : tensor<1x2x96x64xf32> -> tensor<1x2x96x64xf16>
    // becomes
    %y = scf.forall (%b, %h, %m) = ... shared_outs(%out = %empty) -> (tensor<1x2x96x64xf16>) {
      ...
      %ot = attn.normalize %s#0, %s#1, %s#2 : ... -> tensor<1x1x32x64xf32>
      %yt = attn.output_mod %ot offsets(%b, %h, %m, %c0) (%x: f32, ...) {...}
          : tensor<1x1x32x64xf32> -> tensor<1x1x32x64xf16>
      ...                                       // %yt into %out
    }
    ```
  }];
  let dependentDialects = [
    "::attn::AttnDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numFused", "num-fused",
              "Number of output_mods applied to tiles of an attention">
  ];
}

def SplitKVPass : Pass<"attn-split-kv", "::mlir::ModuleOp"> {
  let summary = "compute ranges of the keys apart, and combine them";
  let description = [{
    Where the schedule is `kind = "split_kv"`, the nest over row tiles becomes
    two (FlashDecoding, Dao et al. 2023): one over row tiles and `splits` ranges
    of keys, which gives the state (acc, max, sum) of each range, and one over row
    tiles, which combines the states. The ranges divide the key tiles that the
    row tile visits, whatever the mask: all have the same number, but for the
    last ones. With `split_keys` in place of `splits`, range s begins at key s *
    `split_keys`, and there are as many as the tensor has keys for.

    Requires: `tiled`. Ensures: `tiled`.

    Example: two splits of a row tile that visits the keys [0, %hi)
    ```mlir
    %parts:2 = scf.forall (%b, %h, %m, %s) = (0, 0, 0, 0) to (%B, 8, %M, 2) step (1, 1, 16, 1) ... {
      %length = affine.apply affine_map<()[s0] -> (s0 ceildiv 128 * 64)>()[%hi]
      %lower = arith.muli %s, %length : index
      %upper = arith.addi %lower, %length : index
      ...
      %r:3 = scf.for %n = %from to %to step %c64 ...   // [0, %hi) cut to [%lower, %upper)
      ...                                      // %r into a stack, [2, B, 8, M, 64]
    }
    %out = scf.forall (%b, %h, %m) = (0, 0, 0) to (%B, 8, %M) step (1, 1, 16) ... {
      ...                                      // slices of the stacks
      %acc, %max, %sum = attn.combine %accs, %maxima, %sums
          : tensor<2x1x1x16x64xf32>, tensor<2x1x1x16xf32> -> tensor<1x1x16x64xf32>, tensor<1x1x16xf32>
      %o = attn.normalize %acc, %max, %sum : tensor<1x1x16x64xf32>, tensor<1x1x16xf32> -> tensor<1x1x16x64xf16>
      ...
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numSplit", "num-split", "Number of attentions split">
  ];
}

def RaiseAppendPass : Pass<"attn-raise-append", "::mlir::ModuleOp"> {
  let summary = "a cache that a graph updates by a slice becomes an append";
  let description = [{
    The keys and values of an attention that are a slice of new rows inserted into
    an argument that nothing else reads become an `attn.append`, whose slots follow
    from the slice's place. A mask `j <= n` or `j < n` of such keys, where n is a
    number of the batch, becomes `lengths`: the keys behind it are not read. So
    does `j <= n + i` of up to 16 rows, that of the last one, and stays a mask. Keys
    and values that are the first n rows of such caches are the caches, with lengths
    of n.

    Requires: `tensor`. Ensures: `tensor`.

    Example:
    ```mlir
    %k = tensor.insert_slice %new into %cache[0, 0, %pos, 0] [2, 4, 1, 64] [1, 1, 1, 1]
        : tensor<2x4x1x64xf16> into tensor<2x4x96x64xf16>
    // becomes
    %k = attn.append %new into %cache slots(%slots : tensor<2x1xi64>)
        : tensor<2x4x1x64xf16> into tensor<2x4x96x64xf16>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numAppends", "num-appends", "Number of appends raised">
  ];
}

def SharePastPass : Pass<"attn-share-past", "::mlir::ModuleOp"> {
  let summary = "caches that a graph returns with new rows behind grow in place";
  let description = [{
    An argument [B, H, past, D] that the graph concatenates with new rows and
    returns, as transformers' DynamicCache and ONNX's past and present do, would be
    copied at each step. It becomes a buffer with room for more rows, of which a new
    last argument, `tensor<i64>`, says how many there are (its number is the function's
    attribute `attn.past_length`); the result is the buffer,
    and all caches of a function have as many rows (onnxruntime's
    past_present_share_buffer). `--attn-raise-append` makes an append in place of the
    rows, and lengths of the end, where an attention reads them.

    Requires: linalg on tensors. Ensures: the same.

    Example:
    ```mlir
    %k = tensor.concat dim(2) %past, %new
        : (tensor<1x2x?x64xf16>, tensor<1x2x1x64xf16>) -> tensor<1x2x?x64xf16>
    // becomes
    %present = tensor.insert_slice %new into %past[0, 0, %n, 0] [1, 2, 1, 64] [1, 1, 1, 1]
        : tensor<1x2x1x64xf16> into tensor<1x2x?x64xf16>
    %k = tensor.extract_slice %present[0, 0, 0, 0] [1, 2, %end, 64] [1, 1, 1, 1]
        : tensor<1x2x?x64xf16> to tensor<1x2x?x64xf16>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numShared", "num-shared", "Number of caches that grow in place">
  ];
}

def ShareWindowPass : Pass<"attn-share-window", "::mlir::ModuleOp"> {
  let summary = "caches of a window that a graph moves by a row are rings";
  let description = [{
    An argument [B, H, W - 1, D] that the graph concatenates with a new row, and
    returns without the first one, as transformers' caches of sliding windows do,
    would be copied at each step; and so would one [B, H, W, D] that is moved by one
    row before (by slices, or rolled), as its static caches are. Where an attention
    without mask or anything else that knows a key's place reads all W rows, it
    becomes a ring of W rows: the new one goes to row n mod W, n being the argument
    of `--attn-share-past`, the rows that the function got before, and the result
    is the ring. `--attn-raise-append` makes an append of it.

    Requires: `tensor`. Ensures: `tensor`.

    Example:
    ```mlir
    %k = tensor.concat dim(2) %past, %new
        : (tensor<1x2x95x64xf16>, tensor<1x2x1x64xf16>) -> tensor<1x2x96x64xf16>
    %moved = tensor.extract_slice %k[0, 0, 1, 0] [1, 2, 95, 64] [1, 1, 1, 1]
        : tensor<1x2x96x64xf16> to tensor<1x2x95x64xf16>
    // becomes
    %k = tensor.insert_slice %new into %ring[0, 0, %place, 0] [1, 2, 1, 64] [1, 1, 1, 1]
        : tensor<1x2x1x64xf16> into tensor<1x2x96x64xf16>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numShared", "num-shared", "Number of caches that are rings">
  ];
}

def GatherPagesPass : Pass<"attn-gather-pages", "::mlir::ModuleOp"> {
  let summary = "copy tiles out of pages, and of sequences behind each other";
  let description = [{
    Each tile of an `attn.paged` becomes a loop over its rows, which looks each
    row's page up in the table and copies the row; each tile of an `attn.ragged`
    one over the rows of its sequence. For a CPU: on a GPU the loads of a kernel do
    it. A view that anything but a tile reads is an error.

    Requires: `tiled`. Ensures: `tiled`, without `attn.paged` and `attn.ragged`.

    Example:
    ```mlir
    %kt = tensor.extract_slice %view[%b, %h, %n, 0] [1, 1, 64, 128] [1, 1, 1, 1]
        : tensor<?x8x?x128xf32> to tensor<1x1x64x128xf32>
    // becomes
    %kt = scf.for %r = %c0 to %c64 step %c1 iter_args(%t = %empty) -> (tensor<1x1x64x128xf32>) {
      %entry = tensor.extract %table[%b, %column] : tensor<?x?xi32>
      %row = tensor.extract_slice %pool[%page, %h, %rest, 0] [1, 1, 1, 128] [1, 1, 1, 1] ...
      %next = tensor.insert_slice %row into %t[0, 0, %r, 0] [1, 1, 1, 128] [1, 1, 1, 1] ...
      scf.yield %next : tensor<1x1x64x128xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numGathered", "num-gathered", "Number of tiles gathered">
  ];
}

def PadTilesPass : Pass<"attn-pad-tiles", "::mlir::ModuleOp"> {
  let summary = "give ragged tiles the size of whole ones";
  let description = [{
    Tiles at the ragged ends become static: query, key, value and bias tiles
    are padded with zeros, padded keys are masked, and the results of padded
    rows are cut off. The regions see the last valid position in place of
    padded ones, so that they never read out of range.

    Requires: `tiled`. Ensures: `tiled`, with static tiles.

    Example:
    ```mlir
    %kt = tensor.extract_slice %k[%b, %h, %n, 0] [1, 1, %left, 64] ...
    // becomes
    %p = tensor.pad %kt low[0, 0, 0, 0] high[0, 0, %rest, 0] { ... }
        : tensor<1x1x?x64xf16> to tensor<1x1x128x64xf16>
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numPadded", "num-padded", "Number of attentions padded">
  ];
}

def SelectSchedulePass : Pass<"attn-select-schedule", "::mlir::ModuleOp"> {
  let summary = "choose the schedule of each attention by the cost model";
  let description = [{
    Puts a complete `#attn.schedule` on each `attn.attention`: of the schedules
    that the target can run and the code generators can emit, the one that is
    predicted to be fastest (docs/CostModel.md). What is set already on the op
    wins over the option `schedule`, which wins over the model; a schedule that
    cannot run is an error that names the limit and the nearest legal one. An
    `attn.attention_backward` gets one for each of its kernels.

    Remarks (`--remarks-filter=attn-select-schedule`): `schedule-chosen`,
    `schedule-lost` (the runners-up) and `schedule-rejected`, each with its
    reason.

    Requires: `tensor`. Ensures: `scheduled`.

    Example, `--attn-select-schedule="target=sm_80 schedule='stages=3'"`:
    ```mlir
    %o = attn.attention %q, %k, %v {schedule = #attn.schedule<tile_n = 32>} ...
    // becomes
    %o = attn.attention %q, %k, %v {schedule = #attn.schedule<
             kind = "large_cache", mma = "mma_sync", tile_m = 128, tile_n = 32,
             tile_d = 64, tile_dv = 64, stages = 3, warps = 4, ...>} ...
    ```
  }];
  let dependentDialects = ["::attn::AttnDialect"];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "Target to choose for: cpu, sm_80, ...">,
    Option<"targetFields", "target-fields", "std::string", "\"\"",
           "Numbers of the target to change: 'smem-bytes=65536 ...'">,
    Option<"schedule", "schedule", "std::string", "\"\"",
           "Fields of the schedule that are given: 'tile_m=64 stages=3'">,
    Option<"allowTf32", "allow-tf32", "bool", "false",
           "Let f32 attention use tf32 tensor cores">,
    Option<"deterministic", "deterministic", "bool", "false",
           "Choose only backwards that give the same bits in every run">
  ];
  let statistics = [
    Statistic<"numAttentions", "num-attentions", "Number of attentions found">,
    Statistic<"numRejected", "num-rejected",
              "Number of schedules that cannot run">
  ];
}

def TileBackwardPass : Pass<"attn-tile-backward", "::mlir::ModuleOp"> {
  let summary = "loop nests over tiles around backward steps";
  let description = [{
    Gives each `attn.attention_backward` loop nests. Two are deterministic: an
    `scf.forall` over row tiles that walks the key tiles and gives dQ (and
    delta, which the second nest reads), and an `scf.forall` over key tiles that
    walks the row tiles of all query heads of its group and gives dK and dV.
    With a `fused` schedule of the keys there is one for all gradients, an
    `scf.forall` over key heads around a loop over key tiles, which adds to
    dQ in the score type; one nest before it gives delta and zeros, one behind it
    rounds.
    Key and row tiles that the mask leaves empty are skipped (Analysis/
    KeyRanges). With `cluster_n` in the schedule the tiles that stay of as many
    neighbours walk those that one of them sees: the CTAs of a cluster share
    what they read. Tiles have static sizes: ragged ones are padded with zeros,
    rows with an LSE of -inf, and the mask excludes padded keys.

    Each gradient of a bias or of a captured tensor that score_mod reads at
    (b, h, i, j), some of them or constants, is a nest of its own: over its
    tiles, or over rows or keys, whose numbers an `attn.backward_sum` adds up. At
    other indices that do not depend on the score a loop over tiles scatters
    (`attn.backward_scatter`). A backward with a captured tensor at indices that
    do is left as it is, with a remark; `--convert-attn-to-linalg` takes it.

    Requires: `tensor`. Ensures: no other `attn.attention_backward`.

    Example:
    ```mlir
    %dq, %delta = scf.forall (%b, %h, %m) = (0, 0, 0) to (1, 2, 96) step (1, 1, 32)
        shared_outs(...) {
      ...
      %d = attn.backward_delta %ot, %dot : ...
      %g = scf.for %n = %c0 to %c96 step %c32 iter_args(%acc = %zero) -> (tensor<1x1x32x64xf32>) {
        %r = attn.backward_step %qt, %kt, %vt d_output(%dot) lse(%lset) delta(%d)
            offsets(%b, %h, %m, %n) d_query(%acc : tensor<1x1x32x64xf32>) : ...
        scf.yield %r : ...
      }
      ...
    }
    %dk, %dv = scf.forall (%b, %h, %n) = (0, 0, 0) to (1, 2, 96) step (1, 1, 32) ...
    ```
  }];
  let dependentDialects = [
    "::attn::AttnDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"tileM", "tile-m", "int64_t", "0",
           "Rows of a tile, where the op's schedule has none; 0: 64, or 32 "
           "where a head dimension is over 64">,
    Option<"tileN", "tile-n", "int64_t", "64",
           "Keys of a tile, where the op's schedule has none">
  ];
  let statistics = [
    Statistic<"numTiled", "num-tiled", "Number of backwards tiled">,
    Statistic<"numLeft", "num-left", "Number of backwards left as they are">
  ];
}

def TilePass : Pass<"attn-tile", "::mlir::ModuleOp"> {
  let summary = "loops over query tiles and key tiles around online attention";
  let description = [{
    Gives each `attn.online_attention` over whole tensors, with its initial
    state and its `attn.normalize`, the loops of the `tiled` form
    (docs/Forms.md): an `scf.forall` over batch, query head and row tile, and
    inside it a loop over the key tiles; keys that do not fill a tile are in a
    loop of their own. Tile sizes come from the schedule.

    Requires: `--attn-convert-to-online` on the `scheduled` form. Ensures:
    `tiled`.

    Example:
    ```mlir
    %o = scf.forall (%b, %h, %m) = (0, 0, 0) to (1, 2, 96) step (1, 1, 32)
        shared_outs(%out = %init) -> (tensor<1x2x96x64xf32>) {
      ...
      %s:3 = scf.for %n = %c0 to %c96 step %c32
          iter_args(%acc = %acc0, %max = %max0, %sum = %sum0) -> (...) {
        %r:3 = attn.online_attention %qt, %kt, %vt offsets(%b, %h, %m, %n) ...
        scf.yield %r#0, %r#1, %r#2 : ...
      }
      %ot = attn.normalize %s#0, %s#1, %s#2 : ...
      ...
    }
    ```
  }];
  let dependentDialects = [
    "::attn::AttnDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numTiled", "num-tiled", "Number of attentions tiled">
  ];
}

def SplitFiniteMasksPass
    : Pass<"attn-split-finite-masks", "::mlir::ModuleOp"> {
  let summary = "finite masks to masks that skip, and a repair of rows";
  let description = [{
    A score_mod that gives hidden pairs a finite score, as models do with the
    lowest number, becomes two attentions: one in which such pairs are left out by
    a mask_mod, whose tiles can be skipped, and the one as it was, of which
    `attn.repair` takes the rows that saw no key. Pairs are hidden by

    - `select(visible, s, c)` with c at or below -1000: rows whose LSE is not
      above half of it are repaired;
    - `s + select(visible, t, c)` with c at or below half of the lowest f32, or
      `mask-threshold`, and sums of several such terms: s and t are taken to be
      below a quarter of it.

    An attention with a sink needs no repair: the sink has all weight in a row
    that sees no key, with finite masks as without.

    A backward gets such a mask_mod beside its score_mod, in which rows that would
    be repaired, by the LSE that it is given, keep all their pairs: P is 0 in the
    pairs that are left out.

    Both masks must hold where there is a mask_mod already. Left alone are
    attentions and backwards of fewer than 32 rows, or with a `schedule` that is not
    of a large cache, and attentions of more than 256 columns.

    Requires: normal form `tensor`. Ensures: normal form `tensor`.

    Example:
    ```mlir
    %o = attn.attention %q, %k, %v
        score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
          %lowest = arith.constant -3.40282347e+38 : f32
          %visible = arith.cmpi sle, %j, %i : index
          %r = arith.select %visible, %s, %lowest : f32
          attn.yield %r : f32
        }
        : tensor<1x2x96x64xf16>, tensor<1x2x80x64xf16>, tensor<1x2x80x64xf16>
        -> tensor<1x2x96x64xf16>
    ```
  }];
  let dependentDialects = ["::attn::AttnDialect",
                           "::mlir::arith::ArithDialect"];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"\"",
           "Fields of the schedule that will be chosen">,
    Option<"maskThreshold", "mask-threshold", "double", /*default=*/"0",
           "Values at or below this hide a pair when they are added to its score "
           "(0: half of the lowest f32)">,
    Option<"assumeVisibleRows", "assume-visible-rows", "bool",
           /*default=*/"false",
           "Take it that every query sees at least one key: no repair">
  ];
  let statistics = [
    Statistic<"numSplit", "split", "Number of attentions split">,
    Statistic<"numMasked", "masked", "Number of backwards given a mask">
  ];
}

def VerifyNormalFormPass
    : Pass<"attn-verify-normal-form", "::mlir::ModuleOp"> {
  let summary = "check the facts of a normal form";
  let description = [{
    Fails with a located diagnostic at the first op that breaks the facts of
    the form that the module carries (`attn.normal_form`), or of `form`. A
    module that carries none must name one.

    Requires: nothing. Ensures: the form, and that the module carries it.

    Example:
    ```mlir
    module attributes {attn.normal_form = #attn.normal_form<tiled>} { ... }
    ```
  }];
  let dependentDialects = ["::attn::AttnDialect"];
  let options = [
    Option<"form", "form", "std::string", "\"\"",
           "Form to check: tensor, scheduled or tiled; default: the module's">
  ];
}

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_TD
