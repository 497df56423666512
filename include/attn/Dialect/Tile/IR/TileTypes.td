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

def AttnTile_FragmentLayout : AttrDef<AttnTile_Dialect, "FragmentLayout"> {
  let mnemonic = "layout";
  let summary = "which lane holds which elements of a fragment";
  let description = [{
    A map, linear over bits, from the number of an element of a thread and the
    number of its lane to a row and a column, as in Zhou et al., "Linear
    Layouts" (arXiv 2505.23819). A basis is where one bit, set alone, leads: a pair of a row
    and a column, of which one is 0. What several bits lead to is the sum. Both
    are 0 for a bit of a lane that makes no difference: such lanes have copies.

    The bases span a unit, of a power of two rows and columns. Units fill the
    columns of a fragment one after the other, then its rows:

    ```
    row(element, lane) = unit / units * unit rows + rows of the bits' bases
    col(element, lane) = unit mod units * unit columns + columns of them
    units: those side by side    unit = element / elements of a unit
    ```

    The layout of what a fragment has for each row is that of the fragment with
    the columns left out of the bases (`getRowLayout`), and `getColumnLayout` leaves the
    rows out: the lanes of a row then have copies, and a reduction is as many
    exchanges between lanes as there are such bits. Elements of fewer than 32
    bits share registers, neighbours by number.

    Layouts that instructions have go by names, which are all that is printed of
    them (`!attn_tile.fragment`).

    Example, an `accumulator`:
    `#attn_tile.layout<elements = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]>`.
  }];
  let parameters = (ins ArrayRefParameter<"FragmentPlace">:$elements,
                        ArrayRefParameter<"FragmentPlace">:$lanes);
  let assemblyFormat = [{
    `<` `elements` `=` custom<Bases>($elements) `,`
        `lanes` `=` custom<Bases>($lanes) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Of sums of mma.m16n8, and of wgmma (PTX ISA, "Matrix Fragments").
    static FragmentLayoutAttr getAccumulator(::mlir::MLIRContext *context);
    /// Of an A operand with elements of `bits` bits, in the order of memory.
    static FragmentLayoutAttr getOperandA(::mlir::MLIRContext *context,
                                          int64_t bits);
    /// Of one whose lanes have the columns of an accumulator.
    static FragmentLayoutAttr getOperandPairs(::mlir::MLIRContext *context,
                                              int64_t bits);
    /// Of one of 16 bits whose other operand [n, k] has 8.
    static FragmentLayoutAttr getOperandBytes(::mlir::MLIRContext *context);
    /// Of sums beside an 8-bit operand [k, n], whose columns are of quads.
    static FragmentLayoutAttr getQuads(::mlir::MLIRContext *context);
    /// A row in each lane (PTX ISA, tcgen05.ld.32x32b).
    static FragmentLayoutAttr getLaneRow(::mlir::MLIRContext *context);

    /// What remains without columns, and without rows.
    FragmentLayoutAttr getRowLayout() const;
    FragmentLayoutAttr getColumnLayout() const;
    bool hasRows() const;
    bool hasColumns() const;
    /// Bits of a lane that make no difference.
    ::llvm::SmallVector<unsigned> getCopies() const;
    /// Rows and columns of a unit, and elements that a thread has of one.
    FragmentPlace getUnit() const;
    int64_t getUnitElements() const { return 1 << getElements().size(); }
    /// The row and the column in its unit of element `number` of lane 0.
    FragmentPlace getPlace(int64_t number) const;
    /// Its number among those of a unit of `getRowLayout()` (`getColumnLayout()`).
    int64_t getRowNumber(int64_t number) const;
    int64_t getColumnNumber(int64_t number) const;
  }];
}

def AttnTile_Fragment : AttnTile_Type<"Fragment", "fragment"> {
  let summary = "a tile in the registers of the CTA's warps";
  let description = [{
    Rows are dealt out to the warps in equal contiguous parts, each a multiple
    of the rows of a unit of the layout: warp w of W holds rows [w * rows / W,
    (w + 1) * rows / W). Within a warp the layout says what lane = 4 * g + t
    holds. Those of instructions have names (PTX ISA, "Matrix Fragments for
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
    4 registers of one value: (row g, col t), (row g+8, col t), (row g, col
    4+t), (row g+8, col 4+t).

    `operand_a` (8 bit), for each block of 16 rows and 32 columns, 4 registers
    of four values: (row g, col 4t..), (row g+8, the same), (row g, 16+4t..),
    (row g+8, 16+4t..).

    `operand_pairs` (f32 and 8 bit) is an `operand_a` of which each lane has the
    columns that it has of an accumulator: 2t and 2t+1 of eight in f32, and 2t,
    2t+1, 8+2t, 9+2t of 16 in 8 bits. A product does not depend on the order of
    its terms: the `mma` that takes it reads its other operand in the same
    order. In 16 bits it is the `operand_a`.

    `operand_bytes` (16 bit) is one beside an operand [n, k] of 8 bits, of which
    lanes have four neighbours: for each block of 16 rows and 16 columns (row g,
    col 4t..), (row g+8, col 4t..), (row g, col 4t+2..), (row g+8, col 4t+2..).

    `quads` (f32), what a product with an 8-bit operand [k, n] gives. ldmatrix
    transposes pairs of bytes, so that lanes have neighbouring columns of B: for
    each block of 16 rows and 16 columns, 8 values:
    ```
              col 4t    4t+2          col 4t+1  4t+3
      row g     v0       v1             v4       v5
      row g+8   v2       v3             v6       v7
    ```

    `lane_row`: of each 32 rows, lane r has row r, column after column. It is
    what `tcgen05.ld.32x32b` brings of tensor memory, where a row is a lane, too
    (PTX ISA, "Tensor Memory Load and Store"). As a vector: a value of its row.

    `row` (one value per row, rank 1), the rows of an accumulator: for each
    block of 16 rows 2 values: rows g and g+8; the four lanes of a quad each
    hold a copy, or each their part of a reduction that `row_all_reduce`
    completes.

    `column` (one value per column, rank 1), the columns of an accumulator: for
    each block of 8 columns 2 values: columns 2t and 2t+1; the eight lanes with
    one t each hold a copy, in every warp.

    A vector whose lanes all have copies is one of rows.

    Any other is written out, as `#attn_tile.layout` is: `layout<elements =
    [[0, 1], [0, 2]], lanes = [[0, 4], [1, 0], [2, 0], [4, 0], [8, 0]]>`.

    Example: `!attn_tile.fragment<128x64xf32, accumulator>`,
    `!attn_tile.fragment<128xf32, row>`, `!attn_tile.fragment<64xf32, column>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType,
                        "FragmentLayoutAttr":$layout);
  let assemblyFormat = [{
    `<` custom<TileShape>($shape, $elementType) `,`
        custom<Layout>($layout, ref($elementType)) `>`
  }];
  let extraClassDeclaration = [{
    static FragmentType getAccumulator(::llvm::ArrayRef<int64_t> shape,
                                       ::mlir::Type element);
    static FragmentType getOperandA(::llvm::ArrayRef<int64_t> shape,
                                    ::mlir::Type element);
    static FragmentType getOperandPairs(::llvm::ArrayRef<int64_t> shape,
                                        ::mlir::Type element);
    static FragmentType getOperandBytes(::llvm::ArrayRef<int64_t> shape,
                                        ::mlir::Type element);
    /// A value for each row, and for each column, of an accumulator.
    static FragmentType getRow(int64_t rows, ::mlir::Type element);
    static FragmentType getColumn(int64_t columns, ::mlir::Type element);
    int64_t getRows() const { return getShape().front(); }
    bool isVector() const { return getShape().size() == 1; }
    bool isRow() const { return isVector() && !getLayout().hasColumns(); }
    bool isColumn() const { return isVector() && getLayout().hasColumns(); }
    bool isAccumulator() const;
    bool isQuads() const;
    /// The A operand of a product, in any order of columns.
    bool isOperand() const;
    bool isOperandPairs() const;
    bool isOperandBytes() const;
    bool isLaneRow() const;
    /// The layout of what `mma` gives with an operand of `element`, which is
    /// [n, k] if `rowsAreN`, else [k, n].
    static FragmentLayoutAttr getProductLayout(::mlir::Type element,
                                               bool rowsAreN);
    /// What a fragment of this layout has for each of its rows.
    FragmentType getRowType(::mlir::Type element) const;
    /// The same shape and layout with other elements.
    FragmentType withElements(::mlir::Type element) const;
    /// Elements that one thread of `warps` warps holds, and registers.
    int64_t countElements(int64_t warps) const;
    int64_t getRegisters(int64_t warps) const;
    /// Whether a thread's elements 2i and 2i + 1 are of one row.
    bool hasPairs() const;
    /// The row and the column of a thread's element in its warp's rows, for lane
    /// 0, and their numbers in the row and column fragments beside this one.
    FragmentPlace getPlace(int64_t element) const;
    int64_t getRowNumber(int64_t element) const;
    int64_t getColumnNumber(int64_t element) const;
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
