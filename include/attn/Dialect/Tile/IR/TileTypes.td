//===- TileTypes.td - Types of the attn_tile dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILETYPES_TD
#define ATTN_DIALECT_TILE_IR_TILETYPES_TD

include "attn/Dialect/Tile/IR/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"

class AttnTile_Type<string name, string typeMnemonic>
    : TypeDef<AttnTile_Dialect, name> {
  let mnemonic = typeMnemonic;
  let genVerifyDecl = 1;
}

def AttnTile_Global : AttnTile_Type<"Global", "global"> {
  let summary = "a tensor in global memory, with strides";
  let description = [{
    A pointer, the dynamic sizes and the strides of all dimensions but the last,
    which is contiguous. Strides are in elements and known at launch.

    Example: `!attn_tile.global<?x32x?x128xbf16>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<TileShape>($shape, $elementType) `>`";
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    bool isDynamicDim(unsigned dim) const;
  }];
}

def AttnTile_Shared : AttnTile_Type<"Shared", "shared"> {
  let summary = "a tile in shared memory, or a ring of them";
  let description = [{
    `rows x cols`, or `stages x rows x cols` for a ring. A tile is stored as
    panels of `swizzle` bytes of columns, one panel after the other; within a
    panel a row is `swizzle` bytes, and its 16-byte chunks are permuted so that
    eight rows of one logical chunk lie in eight different bank groups
    (this is also the order in which TMA writes):

    ```
    byte(row, col) = panel * rows * swizzle + row * swizzle
                   + 16 * (chunk xor f(row)) + e * col mod 16
    panel = e * col div swizzle     chunk = (e * col mod swizzle) div 16
    e: bytes of an element, 1 (i8, f8E4M3FN, f8E5M2), 2 (f16, bf16) or 4 (f32)
    swizzle 128: f(row) = row mod 8          swizzle 64: f(row) = (row div 2) mod 4
    swizzle  32: f(row) = (row div 4) mod 2
    A vector is a tile of one row, which is contiguous.

    swizzle 128, the chunk that lies in each place of a row:
      row 0:  0 1 2 3 4 5 6 7        row 1:  1 0 3 2 5 4 7 6
      row 2:  2 3 0 1 6 7 4 5        row 3:  3 2 1 0 7 6 5 4   ...
    ```

    Example: `!attn_tile.shared<2x64x128xbf16, swizzle = 128>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType, "int64_t":$swizzle);
  let assemblyFormat = [{
    `<` custom<TileShape>($shape, $elementType) `,` `swizzle` `=` $swizzle `>`
  }];
  let extraClassDeclaration = [{
    bool isRing() const { return getShape().size() == 3; }
    bool isVector() const { return getRows() == 1; }
    int64_t getStages() const { return isRing() ? getShape().front() : 1; }
    int64_t getRows() const { return getShape()[getShape().size() - 2]; }
    int64_t getCols() const { return getShape().back(); }
    /// Bytes of one tile (not of the whole ring).
    int64_t getTileBytes() const {
      return getRows() * getCols() * getElementBytes();
    }
    int64_t getElementBytes() const {
      return getElementType().getIntOrFloatBitWidth() / 8;
    }
    /// Columns of one panel.
    int64_t getPanelCols() const { return getSwizzle() / getElementBytes(); }
    /// One tile of a ring.
    SharedType getTile() const;
    /// The widest swizzle that rows of `bytes` bytes allow: 128, 64 or 32.
    static int64_t getSwizzleFor(int64_t bytes);
  }];
}

def AttnTile_Fragment : AttnTile_Type<"Fragment", "fragment"> {
  let summary = "a tile in the registers of the CTA's warps";
  let description = [{
    Rows are dealt out to the warps in equal contiguous parts, each a multiple
    of 16: warp w of W holds rows [w * rows / W, (w + 1) * rows / W). Within a
    warp, lane = 4 * g + t, blocks of 16 rows (PTX ISA, "Matrix Fragments for
    mma.m16n8k16"):

    `accumulator` (f32, or i32 of products of i8), for each block of 16 rows and 8 columns, 4 values:
    ```
              col 2t    2t+1          lanes of a row: 4g .. 4g+3
      row g     v0       v1
      row g+8   v2       v3
    ```
    `operand_a` (16 bit), for each block of 16 rows and 16 columns, 4 registers
    of two values: (row g, col 2t..), (row g+8, col 2t..), (row g, col 8+2t..),
    (row g+8, col 8+2t..).

    `operand_a` (f32, rounded to tf32), for each block of 16 rows and 8 columns,
    4 registers of one value: (row g, col c0), (row g+8, col c0), (row g, col
    c1), (row g+8, col c1). A product does not depend on the order of its terms,
    so c0 and c1 are what comes for free: t and 4+t from `load_operand`, 2t and
    2t+1 from `to_operand`; the `mma` that takes them reads its other operand in
    the same order.

    `operand_a` (8 bit), for each block of 16 rows and 32 columns, 4 registers
    of four values: (row g, 4 columns), (row g+8, the same), (row g, 16 further),
    (row g+8, 16 further). The columns are 4t.. from `load_operand`, and 2t,
    2t+1, 8+2t, 9+2t from `to_operand`: two blocks of an accumulator, in its
    order. The `mma` that takes them reads its other operand in the same order.

    `quads` (f32), what a product with an 8-bit operand [k, n] gives. ldmatrix
    transposes pairs of bytes, so that lanes have neighbouring columns of B: for
    each block of 16 rows and 16 columns, 8 values:
    ```
              col 4t    4t+2          col 4t+1  4t+3
      row g     v0       v1             v4       v5
      row g+8   v2       v3             v6       v7
    ```

    `row` (one value per row, rank 1), for each block of 16 rows 2 values: rows
    g and g+8; the four lanes of a quad each hold a copy, or each their part of
    a reduction that `row_all_reduce` completes.

    `column` (one value per column, rank 1), for each block of 8 columns 2
    values: columns 2t and 2t+1; the eight lanes with one t each hold a copy, in
    every warp.

    Example: `!attn_tile.fragment<128x64xf32, accumulator>`,
    `!attn_tile.fragment<128xf32, row>`, `!attn_tile.fragment<64xf32, column>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType,
                        EnumParameter<AttnTile_FragmentLayout>:$layout);
  let assemblyFormat = [{
    `<` custom<TileShape>($shape, $elementType) `,` $layout `>`
  }];
  let extraClassDeclaration = [{
    int64_t getRows() const { return getShape().front(); }
    bool isRow() const { return getLayout() == FragmentLayout::Row; }
    bool isColumn() const { return getLayout() == FragmentLayout::Column; }
    bool isQuads() const { return getLayout() == FragmentLayout::Quads; }
    /// The layout of what `mma` gives with an operand of `element`, which is
    /// [n, k] if `rowsAreN`, else [k, n].
    static FragmentLayout getProductLayout(::mlir::Type element, bool rowsAreN);
    /// Registers that one thread of `warps` warps holds.
    int64_t getRegisters(int64_t warps) const;
  }];
}

def AttnTile_TensorMap : AttnTile_Type<"TensorMap", "tensor_map"> {
  let summary = "a tensor of four dimensions as TMA sees it";
  let description = [{
    A parameter of the kernel that the launcher makes of another one. The shape is that of the box that one copy
    brings: `rows` rows of one panel of a shared tile, which is written with the
    tile's swizzle (PTX ISA, "Tensor-maps").

    Example: `!attn_tile.tensor_map<128x64xbf16, swizzle = 128>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType, "int64_t":$swizzle);
  let assemblyFormat = [{
    `<` custom<TileShape>($shape, $elementType) `,` `swizzle` `=` $swizzle `>`
  }];
  let extraClassDeclaration = [{
    /// The map whose boxes are `rows` (default: all) rows of the panels of `tile`.
    static TensorMapType getFor(SharedType tile,
                                ::std::optional<int64_t> rows = {});
    int64_t getRows() const { return getShape()[0]; }
  }];
}

def AttnTile_Mbarrier : AttnTile_Type<"Mbarrier", "mbarrier"> {
  let summary = "mbarriers in shared memory, one for each stage of a ring";
  let description = [{
    A phase of a barrier completes when `arrivals` arrivals and all bytes that
    were announced for it are there (PTX ISA, "mbarrier"). Phases have parity 0,
    1, 0, ...: waiting for the parity of the phase before the first one returns
    at once.

    Example: `!attn_tile.mbarrier<2, arrivals = 1>`.
  }];
  let parameters = (ins "int64_t":$stages, "int64_t":$arrivals);
  let assemblyFormat = "`<` $stages `,` `arrivals` `=` $arrivals `>`";
  let extraClassDeclaration = [{
    static constexpr int64_t kBytes = 8;
    int64_t getBytes() const { return kBytes * getStages(); }
  }];
}

#endif // ATTN_DIALECT_TILE_IR_TILETYPES_TD
