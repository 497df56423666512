//===- MaskOps.td - Masks that read data ------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_MASKOPS_TD
#define ATTN_DIALECT_ATTN_IR_MASKOPS_TD

include "attn/Dialect/Attn/IR/AttnOpBase.td"

def BlockListedOp : Attn_Op<"block_listed", [Pure]> {
  let summary = "true if the block of a pair is in a list of blocks";
  let description = [{
    With `(r, c) = (floor(i / block[0]), floor(j / block[1]))`: true if `c` is
    one of the first `num_blocks[b, h, r]` entries of `indices[b, h, r, :]`. A
    dimension of 1 is broadcast over batches (heads). The entries of a row
    ascend. Two such lists, of partial and of full blocks, are a block mask in
    the layout of FlexAttention (`kv_num_blocks`, `kv_indices`,
    `full_kv_num_blocks`, `full_kv_indices`). A mask that is false where no list
    has the block, and whose lists do not overlap, visits only listed blocks.

    Example: visible where the block is full, or partial and the pair is causal
    ```mlir
    %o = attn.attention %q, %k, %v
        mask_mod (%b: index, %h: index, %i: index, %j: index) {
          %full = attn.block_listed %full_num, %full_indices at(%b, %h, %i, %j) block [128, 128]
              : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
          %partial = attn.block_listed %num, %indices at(%b, %h, %i, %j) block [128, 128]
              : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
          %causal = arith.cmpi sle, %j, %i : index
          %some = arith.andi %partial, %causal : i1
          %visible = arith.ori %full, %some : i1
          attn.yield %visible : i1
        }
        : tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>
        -> tensor<1x2x256x64xf16>
    ```
  }];
  let arguments = (ins Attn_Tensor<I32, 3>:$numBlocks,
                       Attn_Tensor<I32, 4>:$indices, Index:$batch, Index:$head,
                       Index:$row, Index:$key, DenseI64ArrayAttr:$block);
  let results = (outs I1:$listed);
  let assemblyFormat = [{
    $numBlocks `,` $indices `at` `(` $batch `,` $head `,` $row `,` $key `)`
    `block` $block attr-dict `:` type($numBlocks) `,` type($indices)
  }];
  let hasVerifier = 1;
}

def SegmentOp : Attn_Op<"segment", [Pure]> {
  let summary = "the packed sequence that a position lies in";
  let description = [{
    The number of entries among `offsets[1]` to `offsets[S - 1]` that are at
    most `position`, where `offsets` has S + 1 entries that do not decrease: the
    `cu_seqlens` of S sequences that lie behind each other. That is the sequence
    of the position; the last one for positions past the end. Of empty
    sequences, which no position lies in, it is none.

    Example:
    ```mlir
    %s = attn.segment %cu_seqlens at %i : tensor<?xi32>
    ```
  }];
  let arguments = (ins Attn_Tensor<I32, 1>:$offsets, Index:$position);
  let results = (outs Index:$segment);
  let assemblyFormat = [{
    $offsets `at` $position attr-dict `:` type($offsets)
  }];
  let hasVerifier = 1;
}

def CreateBlockMaskOp : Attn_Op<"create_block_mask", [Pure]> {
  let summary = "the block lists of a mask, by looking at all its pairs";
  let description = [{
    For each batch, head and row block: how many key blocks are partial, which,
    how many are full, which; indices ascend (see `attn.block_listed`). Blocks
    have `block[0]` rows and `block[1]` keys, fewer at the ends: what does not
    exist counts neither as visible nor as masked. `batches` and `heads` are 1
    where the mask does not depend on them. There is room for
    `max(1, ceil(keys / block[1]))` indices.

    Example:
    ```mlir
    %l:4 = attn.create_block_mask batches(%c1) heads(%c1) rows(%m) keys(%n)
        block [128, 64] mask_mod {
        ^bb0(%b: index, %h: index, %i: index, %j: index):
          %x = tensor.extract %document[%i] : tensor<?xi32>
          %y = tensor.extract %document[%j] : tensor<?xi32>
          %same = arith.cmpi eq, %x, %y : i32
          attn.yield %same : i1
        } : tensor<1x1x?xi32>, tensor<1x1x?x?xi32>
    ```
  }];
  let arguments = (ins Index:$batches, Index:$heads, Index:$rows, Index:$keys,
                       DenseI64ArrayAttr:$block);
  let results = (outs Attn_Tensor<I32, 3>:$numBlocks,
                      Attn_Tensor<I32, 4>:$indices,
                      Attn_Tensor<I32, 3>:$fullNumBlocks,
                      Attn_Tensor<I32, 4>:$fullIndices);
  let regions = (region AnyRegion:$maskMod);
  let assemblyFormat = [{
    `batches` `(` $batches `)` `heads` `(` $heads `)` `rows` `(` $rows `)`
    `keys` `(` $keys `)` `block` $block `mask_mod` $maskMod attr-dict
    `:` custom<SameType>(type($numBlocks), type($fullNumBlocks)) `,`
    custom<SameType>(type($indices), type($fullIndices))
  }];
  let hasVerifier = 1;
}

def KeyBoundsOp : Attn_Op<"key_bounds", [Pure]> {
  let summary = "bounds on the keys that the tiles of rows see, from data";
  let description = [{
    Two regions for each band, `lower` and `upper`, say that row `i` sees the
    keys in [lower, upper). For each batch, head and tile of `tile` rows the
    result has four numbers for each band: the least lower and the greatest
    upper bound among the rows that see a key (0 and 0 without any), which hold
    what some row sees, and the greatest lower and the least upper bound, which
    hold what every row sees. `batches` and `heads` are 1 where the bounds do
    not depend on them.

    Example: keys from the start of a row's document to the row itself
    ```mlir
    %bounds = attn.key_bounds batches(%c1) heads(%c1) rows(%m) tile 128 {
    ^bb0(%b: index, %h: index, %i: index):
      %s = attn.segment %cu_seqlens at %i : tensor<?xi32>
      %x = tensor.extract %cu_seqlens[%s] : tensor<?xi32>
      %start = arith.index_cast %x : i32 to index
      attn.yield %start : index
    }, {
    ^bb0(%b: index, %h: index, %i: index):
      %end = arith.addi %i, %c1 : index
      attn.yield %end : index
    } : tensor<1x1x?x4xi32>
    ```
  }];
  let arguments = (ins Index:$batches, Index:$heads, Index:$rows,
                       I64Attr:$tile);
  let results = (outs Attn_Tensor<I32, 4>:$result);
  let regions = (region VariadicRegion<AnyRegion>:$bounds);
  let assemblyFormat = [{
    `batches` `(` $batches `)` `heads` `(` $heads `)` `rows` `(` $rows `)`
    `tile` $tile $bounds attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def DeviceAssertOp : Attn_Op<"device_assert"> {
  let summary = "stop the kernels where a condition does not hold";
  let description = [{
    The region must yield true at each point of the index space [0, size0) x
    [0, size1) x ..., of which there is one without sizes. Where it does not, the
    kernel that looks stops with the message and this op's location, as CUDA's
    `assert` does, and no kernel after it starts.

    Example: as many listed blocks as there is room for
    ```mlir
    attn.device_assert over(%rows) "expected num_blocks from 0 to 8" {
    ^bb0(%r: index):
      %num = tensor.extract %num_blocks[%c0, %c0, %r] : tensor<1x1x?xi32>
      %fits = arith.cmpi ule, %num, %c8_i32 : i32
      attn.yield %fits : i1
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, StrAttr:$message);
  let regions = (region AnyRegion:$condition);
  let assemblyFormat =
      "`over` `(` $sizes `)` $message $condition attr-dict";
  let hasVerifier = 1;
}

def YieldOp : Attn_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "the result of a score_mod, mask_mod, bounds or condition region";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // ATTN_DIALECT_ATTN_IR_MASKOPS_TD
