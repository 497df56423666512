//===- Tcgen05.cpp - Tensor core operations of sm_100a -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tcgen05.mma into tensor memory, and what brings fragments there and back (PTX
// ISA, "TensorCore 5th Generation Family Instructions"). A product of 128 rows
// has row r in lane r, and a warp reaches 32 lanes. Those are two blocks of 16
// rows, which .16x256b reads as the accumulator of mma.m16n8 (TileTypes.td
// draws it), and .16x128b writes as its operand: a cell has 4 / e neighbours of
// e bytes. Or they are 32 rows, which .32x32b moves as lane_row.
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "MatrixDescriptors.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn::tile;

namespace {

constexpr unsigned kTensorSpace = 6;
constexpr int64_t kProductRows = TensorTileType::kLanes;
/// Columns of tensor memory that one instruction reads of A: 32 bytes of a row.
constexpr int64_t kProductColumns = 8;
/// Registers that one instruction moves at most: more would not fit beside the
/// sums that they are added to.
constexpr int64_t kRegistersAtOnce = 32;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// The address of the warpgroup's part of a tile, an i32.
Value addressOfGroup(IndexBuilder &index, TensorTileType type, Value tile,
                     Value warpgroup) {
  return index.add(tile,
                   index.mul(index.toI32(warpgroup), type.getGroupColumns()));
}

/// The same with the first of the lanes that the warp reaches, in bits 16 to
/// 31.
Value addressOfWarp(IndexBuilder &index, TensorTileType type, Value tile,
                    Value warpgroup) {
  Value lanes = index.mul(index.bitAnd(index.warp(), 3), int64_t(32) << 16);
  return index.add(addressOfGroup(index, type, tile, warpgroup), lanes);
}

Value toPointer(OpBuilder &builder, Location loc, Value address) {
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), kTensorSpace);
  return LLVM::IntToPtrOp::create(builder, loc, type, address);
}

void fence(OpBuilder &builder, Location loc, NVVM::Tcgen05FenceKind kind) {
  NVVM::Tcgen05FenceOp::create(
      builder, loc,
      NVVM::Tcgen05FenceKindAttr::get(builder.getContext(), kind));
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

NVVM::CTAGroupKind getGroup(bool isPair) {
  return isPair ? NVVM::CTAGroupKind::CTA_2 : NVVM::CTAGroupKind::CTA_1;
}

/// Runs `build` in the first warp of the CTA.
void inFirstWarp(OpBuilder &builder, Location loc, function_ref<void()> build) {
  OpBuilder::InsertionGuard guard(builder);
  IndexBuilder index(builder, loc);
  Value isFirst = index.isZero(index.warp());
  auto branch = scf::IfOp::create(builder, loc, isFirst);
  builder.setInsertionPointToStart(branch.thenBlock());
  build();
}

struct AllocTensorsLowering : TileOpLowering<AllocTensorsOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(AllocTensorsOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getOffset())
      return rewriter.notifyMatchFailure(op, "shared memory is not allocated");
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value place = addressOfShared(rewriter, loc, *op.getOffset());
    int64_t columns = TensorTileType::getAllocation(op.getTiles().getTypes());
    inFirstWarp(rewriter, loc, [&] {
      NVVM::CTAGroupKind group = getGroup(hasCtaPairs());
      NVVM::Tcgen05AllocOp::create(rewriter, loc, place, index.i32(columns),
                                   group);
      NVVM::Tcgen05RelinquishAllocPermitOp::create(rewriter, loc, group);
    });
    // All columns begin at 0, which nobody has to be told: the CTA meets when
    // mbarriers are initialised, and no role holds an address.
    Value address = index.i32(0);
    if (columns != TensorTileType::kMostColumns) {
      NVVM::Barrier0Op::create(rewriter, loc);
      address =
          LLVM::LoadOp::create(rewriter, loc, rewriter.getI32Type(), place);
    }
    SmallVector<Value> tiles;
    for (Value tile : op.getTiles()) {
      tiles.push_back(address);
      address =
          index.add(address, cast<TensorTileType>(tile.getType()).getColumns());
    }
    rewriter.replaceOp(op, tiles);
    return success();
  }
};

struct FreeTensorsLowering : TileOpLowering<FreeTensorsOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(FreeTensorsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (auto as = op->getParentOfType<AsWarpgroupOp>())
      syncWarpgroup(rewriter, loc, as.getWarpgroup());
    else
      syncConsumers(rewriter, loc, getWarps());
    inFirstWarp(rewriter, loc, [&] {
      IndexBuilder index(rewriter, loc);
      Value columns =
          index.i32(TensorTileType::getAllocation(op.getTiles().getTypes()));
      NVVM::Tcgen05DeallocOp::create(
          rewriter, loc,
          toPointer(rewriter, loc, adaptor.getTiles().front().front()), columns,
          getGroup(hasCtaPairs()));
    });
    rewriter.eraseOp(op);
    return success();
  }
};

/// The type with fewer columns finds a warpgroup's part too early.
struct NarrowTensorLowering : TileOpLowering<NarrowTensorOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(NarrowTensorOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    int64_t columns = op.getTile().getType().getGroupColumns() -
                      op.getResult().getType().getGroupColumns();
    Value group = index.toI32(adaptor.getWarpgroup().front());
    rewriter.replaceOp(
        op, index.add(adaptor.getTile().front(), index.mul(group, columns)));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool isByte(Type element) { return element.getIntOrFloatBitWidth() == 8; }

/// PTX ISA, "Instruction descriptor": sums in f32 (1), or i32 (2) of i8; f16
/// and e4m3 are 0, signed integers 1.
int64_t instructionDescriptor(Type a, Type b, int64_t rows, int64_t columns,
                              bool isMnMajorB) {
  auto typeOf = [](Type element) -> int64_t {
    return element.isInteger() || element.isBF16() ||
           isa<Float8E5M2Type>(element);
  };
  int64_t sum = b.isInteger() ? 2 : 1;
  return sum << 4 | typeOf(a) << 7 | typeOf(b) << 10 |
         int64_t(isMnMajorB) << 16 | columns / 8 << 17 | rows / 16 << 24;
}

/// As instructions have it.
std::string getGroupText(bool isPair) {
  return isPair ? ".cta_group::2" : ".cta_group::1";
}

/// Adds the text by which what the thread has started, for a pair of CTAs or
/// for its own, arrives at a barrier of each of `ctas` CTAs of a cluster.
void addCommit(PtxBlock &block, OpBuilder &builder, Location loc, Value ring,
               Value stage, int64_t ctas, bool isPair) {
  IndexBuilder index(builder, loc);
  Value barrier = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(),
                                           mbarrierAddress(index, ring, stage));
  std::string at = "[" + block.use(barrier).front() + "]";
  std::string commit = "tcgen05.commit" + getGroupText(isPair) +
                       ".mbarrier::arrive::one.shared::cluster";
  if (ctas == 1)
    return block.add(commit + ".b64 " + at);
  std::string all = block.declare("all", 1, 16).front();
  block.add("mov.b16 " + all + ", " + std::to_string((1 << ctas) - 1));
  block.add(commit + ".multicast::cluster.b64 " + at + ", " + all);
}

struct MmaTensorLowering : TileOpLowering<MmaTensorOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(MmaTensorOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value warpgroup = adaptor.getWarpgroup().front();
    TensorTileType type = op.getTile().getType();
    Value tile =
        addressOfGroup(index, type, adaptor.getTile().front(), warpgroup);
    if (op.getMeet()) {
      fence(rewriter, loc, NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
      syncWarpgroup(rewriter, loc, warpgroup);
    }
    OpBuilder::InsertionGuard guard(rewriter);
    if (op.getOneThread()) {
      multiply(rewriter, op, adaptor, tile);
      rewriter.eraseOp(op);
      return success();
    }
    Value isFirst = index.isZero(index.bitAnd(index.warp(), 3));
    auto branch = scf::IfOp::create(rewriter, loc, isFirst);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    // Of several lanes that a loop could take one by one, ptxas makes one.
    Value elected =
        NVVM::ElectSyncOp::create(rewriter, loc, rewriter.getI1Type(),
                                  /*membermask=*/Value());
    auto issue = scf::IfOp::create(rewriter, loc, elected);
    rewriter.setInsertionPointToStart(issue.thenBlock());
    if (op.getMeet())
      fence(rewriter, loc, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
    multiply(rewriter, op, adaptor, tile);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// As text: LLVM 22 would fold the sums that make descriptors into operands
  /// "%rd+2", which PTX does not have.
  void multiply(ConversionPatternRewriter &rewriter, MmaTensorOp op,
                Adaptor adaptor, Value tile) const {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    SharedType type = op.getB().getType();
    bool isMnMajor = !op.getTransposeB();
    int64_t columns = isMnMajor ? type.getCols() : type.getRows();
    int64_t depth = isMnMajor ? type.getRows() : type.getCols();
    int64_t products = depth / getProductDepth(type);
    int64_t ctas = hasCtaPairs() ? 2 : 1;
    int64_t begin = 0, end = products;
    if (std::optional<ArrayRef<int64_t>> part = op.getDepth()) {
      begin = part->front() / getProductDepth(type);
      end = part->back() / getProductDepth(type);
    }
    SmallVector<Value> a = leftOperands(rewriter, op, adaptor, products);
    SmallVector<Value> b =
        MatrixDescriptors(rewriter, loc, DescriptorFormat::Tcgen05, op.getB(),
                          isMnMajor, hasClusters())
            .getWhole(products);
    a = SmallVector<Value>(ArrayRef(a).slice(begin, end - begin));
    b = SmallVector<Value>(ArrayRef(b).slice(begin, end - begin));
    PtxBlock block(rewriter, loc, /*resultType=*/Type(), /*numResults=*/0);
    std::string to = "[" + block.use(tile).front() + "]";
    std::string descriptor =
        block
            .use(index.i32(instructionDescriptor(
                op.getElementOfA(), type.getElementType(), ctas * kProductRows,
                ctas * columns, isMnMajor)))
            .front();
    SmallVector<std::string> left = block.use(a), right = block.use(b);
    bool isStored = isa<TensorTileType>(op.getA().getType());
    Type element = type.getElementType();
    std::string kind = element.isInteger() ? "i8"
                       : isByte(element)   ? "f8f6f4"
                                           : "f16";
    std::string group = getGroupText(hasCtaPairs());
    block.add(".reg .pred adds");
    block.add(op.getAccumulate() ? "mov.pred adds, -1" : "mov.pred adds, 0");
    for (int64_t product = 0; product < end - begin; ++product) {
      if (product == 1 && !op.getAccumulate())
        block.add("mov.pred adds, -1");
      std::string from = isStored ? "[" + left[product] + "]" : left[product];
      block.add((Twine("tcgen05.mma") + group + ".kind::" + kind + " " + to +
                 ", " + from + ", " + right[product] + ", " + descriptor +
                 ", adds")
                    .str());
    }
    if (op.getBarrier())
      addCommit(block, rewriter, loc, adaptor.getBarrier().front(),
                adaptor.getWarpgroup().front(), ctas, hasCtaPairs());
    block.create();
  }

  /// Descriptors, or addresses in tensor memory: the warpgroup's rows.
  SmallVector<Value> leftOperands(ConversionPatternRewriter &rewriter,
                                  MmaTensorOp op, Adaptor adaptor,
                                  int64_t products) const {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value warpgroup = adaptor.getWarpgroup().front();
    if (auto shared = dyn_cast<TypedValue<SharedType>>(op.getA()))
      return MatrixDescriptors(rewriter, loc, DescriptorFormat::Tcgen05, shared,
                               /*isMnMajor=*/false, hasClusters())
          .getRows(warpgroup, kProductRows, products);
    auto type = cast<TensorTileType>(op.getA().getType());
    Value first =
        addressOfGroup(index, type, adaptor.getA().front(), warpgroup);
    SmallVector<Value> addresses;
    for (int64_t product = 0; product < products; ++product)
      addresses.push_back(index.add(first, product * kProductColumns));
    return addresses;
  }
};

struct CommitTensorsLowering : TileOpLowering<CommitTensorsOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(CommitTensorsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    PtxBlock block(rewriter, loc, /*resultType=*/Type(), /*numResults=*/0);
    addCommit(block, rewriter, loc, adaptor.getBarrier().front(),
              adaptor.getStage().front(), op.getCtas(), hasCtaPairs());
    block.create();
    rewriter.eraseOp(op);
    return success();
  }
};

struct FenceTensorsLowering : TileOpLowering<FenceTensorsOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(FenceTensorsOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    fence(rewriter, op.getLoc(),
          op.getAfter() ? NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC
                        : NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// How a warp's part of some columns of a tile moves between tensor memory and
/// a fragment (PTX ISA, "Tensor Memory Load and Store"): a row for each lane at
/// once, or blocks of 16 rows, of which four lanes share each.
class TensorMoves {
public:
  TensorMoves(TensorTileType type, FragmentType fragment)
      : bits(type.getElementType().getIntOrFloatBitWidth()),
        columns(fragment.getShape()[1]), isLaneRow(fragment.isLaneRow()) {}

  /// A part that one instruction moves.
  struct Part {
    int64_t row, column, columns;
    size_t first, count; ///< registers
  };

  /// All parts, in the order of the fragment's registers.
  SmallVector<Part> getParts() const {
    SmallVector<Part> parts;
    size_t next = 0;
    for (int64_t row = 0; row < kWarpRows; row += getRows())
      for (int64_t column = 0; column < columns;) {
        int64_t width = getColumnsAtOnce(columns - column);
        auto count =
            static_cast<size_t>(countCells(width) * getRows() / kWarpRows);
        parts.push_back({row, column, width, next, count});
        next += count;
        column += width;
      }
    return parts;
  }

  /// The text that stores `registers`, or loads them, where a part begins.
  std::string getStore(const Part &part, const std::string &address,
                       int64_t begin, ArrayRef<std::string> registers) const {
    return getName("st", part) + getPlace(part, address, begin) + ", " +
           PtxBlock::list(registers);
  }
  std::string getLoad(const Part &part, const std::string &address,
                      int64_t begin, ArrayRef<std::string> registers) const {
    return getName("ld", part) + PtxBlock::list(registers) + ", " +
           getPlace(part, address, begin);
  }

private:
  /// Rows of a tile that a warp reaches, those of a block of a fragment.
  static constexpr int64_t kWarpRows = 32, kBlockRows = 16;

  int64_t getRows() const { return isLaneRow ? kWarpRows : kBlockRows; }

  /// Cells of a row of `width` columns.
  int64_t countCells(int64_t width) const { return width * bits / 32; }

  /// Of the `left` columns of a tile, a power of two.
  int64_t getColumnsAtOnce(int64_t left) const {
    int64_t width = kRegistersAtOnce * kWarpRows / getRows() * 32 / bits;
    while (width > left)
      width /= 2;
    return width;
  }

  /// An accumulator's f32 or i32, or an operand's smaller elements.
  std::string getName(const char *name, const Part &part) const {
    // Cells of a row that the shape has.
    int64_t cells = isLaneRow ? 1 : bits == 32 ? 8 : 4;
    const char *shape = isLaneRow    ? "32x32b"
                        : bits == 32 ? "16x256b"
                                     : "16x128b";
    return std::string("tcgen05.") + name + ".sync.aligned." + shape + ".x" +
           std::to_string(countCells(part.columns) / cells) + ".b32 ";
  }

  /// A register and a constant, of lanes in bits 16 to 31.
  std::string getPlace(const Part &part, const std::string &address,
                       int64_t begin) const {
    int64_t offset = (part.row << 16) + countCells(begin + part.column);
    return "[" + address + "+" + std::to_string(offset) + "]";
  }

  int64_t bits, columns;
  bool isLaneRow;
};

/// Adds the text that brings bytes from the order of `to_operand` to that of
/// cells, and returns the registers: lane t of a quad has columns 2t, 2t + 1, 8
/// + 2t and 9 + 2t of 16, and cell t the columns 4t and on. Of two blocks of 16
/// columns a lane sends two pairs to the one lane that wants them, twice.
SmallVector<std::string> orderBytes(PtxBlock &block, OpBuilder &builder,
                                    Location loc,
                                    ArrayRef<std::string> registers) {
  constexpr int64_t kLow = 0x5410, kToHigh = 0x2222, kToSwapped = 0x4444;
  IndexBuilder index(builder, loc);
  Value lane = index.lane(), low = index.bitAnd(lane, 1);
  Value high = index.bitAnd(index.shiftRight(lane, 1), 1);
  // An even lane sends the pairs of the low columns first, which the first two
  // lanes want; so lanes 0, 1, 2, 3 read lanes 0, 2, 1, 3, and then 1, 3, 0, 2.
  Value from = index.add(index.mul(low, 2), high);
  Value sent = index.bitXor(index.mul(low, kToHigh), kLow);
  Value kept = index.bitXor(index.mul(high, kToSwapped), kLow);
  SmallVector<std::string> lanes = block.use({from, index.bitXor(from, 1)});
  SmallVector<std::string> send =
      block.use({sent, index.bitXor(sent, kToHigh)});
  SmallVector<std::string> keep =
      block.use({kept, index.bitXor(kept, kToHigh)});
  SmallVector<std::string> pairs = block.declare("%pair", 2);
  SmallVector<std::string> cells = block.declare("%cell", registers.size());
  // Two rows of a block of 16 columns, then those of the next one.
  for (size_t first = 0; first < registers.size(); first += 4)
    for (size_t row = first; row < first + 2; ++row) {
      for (size_t i = 0; i < 2; ++i) {
        block.add("prmt.b32 " + pairs[i] + ", " + registers[row] + ", " +
                  registers[row + 2] + ", " + send[i]);
        block.add("shfl.sync.idx.b32 " + pairs[i] + ", " + pairs[i] + ", " +
                  lanes[i] + ", 0x1c1f, -1");
      }
      for (size_t i = 0; i < 2; ++i)
        block.add("prmt.b32 " + cells[row + 2 * i] + ", " + pairs[0] + ", " +
                  pairs[1] + ", " + keep[i]);
    }
  return cells;
}

void addStoreWait(PtxBlock &block) {
  block.add("tcgen05.wait::st.sync.aligned");
}

SmallVector<Value> getBits(OpBuilder &builder, Location loc,
                           ValueRange values) {
  Type bits = builder.getI32Type();
  return llvm::map_to_vector(values, [&](Value value) -> Value {
    return value.getType().isF32()
               ? LLVM::BitcastOp::create(builder, loc, bits, value)
               : value;
  });
}

/// Loads a part of sums from column `begin` on, and waits for it.
SmallVector<Value> load(OpBuilder &builder, Location loc, TensorTileType type,
                        Value address, const TensorMoves &moves,
                        const TensorMoves::Part &part, int64_t begin) {
  auto count = static_cast<int64_t>(part.count);
  PtxBlock block(builder, loc, type.getElementType(), count);
  std::string from = block.use(address).front();
  SmallVector<std::string> bits = block.declare("bits", count);
  block.add(moves.getLoad(part, from, begin, bits));
  block.add("tcgen05.wait::ld.sync.aligned");
  for (auto [to, value] : llvm::zip_equal(block.results(0, count), bits))
    block.add(("mov.b32 " + Twine(to) + ", " + value).str());
  return block.create();
}

/// The address of the tile's rows that the warp of `op` has: 32 of the 128 of
/// its warpgroup.
template <typename OpTy>
FailureOr<Value> addressRows(ConversionPatternRewriter &rewriter, OpTy op,
                             typename TileOpLowering<OpTy>::Adaptor adaptor,
                             int64_t warps) {
  TensorTileType type = op.getTile().getType();
  if (type.getRows() * 4 != warps * TensorTileType::kLanes)
    return rewriter.notifyMatchFailure(op, "not 128 rows for a warpgroup");
  IndexBuilder index(rewriter, op.getLoc());
  return addressOfWarp(index, type, adaptor.getTile().front(),
                       adaptor.getWarpgroup().front());
}

struct StoreTensorLowering : TileOpLowering<StoreTensorOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(StoreTensorOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TensorTileType type = op.getTile().getType();
    FailureOr<Value> rows = addressRows(rewriter, op, adaptor, getWarps());
    if (failed(rows))
      return failure();
    PtxBlock block(rewriter, loc, /*resultType=*/Type(), /*numResults=*/0);
    std::string address = block.use(*rows).front();
    SmallVector<std::string> registers =
        block.use(getBits(rewriter, loc, adaptor.getSource()));
    FragmentType source = op.getSource().getType();
    if (isByte(type.getElementType()) && !source.isLaneRow())
      registers = orderBytes(block, rewriter, loc, registers);
    auto begin = static_cast<int64_t>(op.getColumn());
    TensorMoves moves(type, source);
    for (const TensorMoves::Part &part : moves.getParts())
      block.add(
          moves.getStore(part, address, begin,
                         ArrayRef(registers).slice(part.first, part.count)));
    if (!op.getPending())
      addStoreWait(block);
    block.create();
    rewriter.eraseOp(op);
    return success();
  }
};

/// A few columns at a time, each added before the next ones come.
struct LoadTensorLowering : TileOpLowering<LoadTensorOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(LoadTensorOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TensorTileType type = op.getTile().getType();
    FailureOr<Value> address = addressRows(rewriter, op, adaptor, getWarps());
    if (failed(address))
      return failure();
    if (!op.getFenced())
      fence(rewriter, loc, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
    auto begin = static_cast<int64_t>(op.getColumn());
    TensorMoves moves(type, op.getResult().getType());
    SmallVector<Value> registers;
    for (const TensorMoves::Part &part : moves.getParts())
      for (Value value :
           load(rewriter, loc, type, *address, moves, part, begin)) {
        if (op.getAcc())
          value = arith::AddFOp::create(
              rewriter, loc, adaptor.getAcc()[registers.size()], value);
        registers.push_back(value);
      }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// A few columns at a time, as a fragment that has the factor for its rows.
struct ScaleTensorLowering : TileOpLowering<ScaleTensorOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(ScaleTensorOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TensorTileType type = op.getTile().getType();
    FailureOr<Value> address = addressRows(rewriter, op, adaptor, getWarps());
    if (failed(address))
      return failure();
    fence(rewriter, loc, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
    FragmentType factor = op.getFactor().getType();
    auto scaled = FragmentType::get(
        op.getContext(), type.getShape(), type.getElementType(),
        factor.isLaneRow() ? factor.getLayout()
                           : FragmentLayoutAttr::getAccumulator(getContext()));
    TensorMoves moves(type, scaled);
    for (const TensorMoves::Part &part : moves.getParts()) {
      SmallVector<Value> values =
          load(rewriter, loc, type, *address, moves, part, /*begin=*/0);
      for (auto [i, value] : llvm::enumerate(values))
        value = arith::MulFOp::create(
            rewriter, loc, value,
            adaptor.getFactor()[scaled.getRowNumber(part.first + i)]);
      PtxBlock block(rewriter, loc, /*resultType=*/Type(), /*numResults=*/0);
      std::string place = block.use(*address).front();
      block.add(moves.getStore(part, place, /*begin=*/0,
                               block.use(getBits(rewriter, loc, values))));
      block.create();
    }
    PtxBlock wait(rewriter, loc, /*resultType=*/Type(), /*numResults=*/0);
    addStoreWait(wait);
    wait.create();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void attn::tile::populateTcgen05Patterns(TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<AllocTensorsLowering, FreeTensorsLowering, NarrowTensorLowering,
               StoreTensorLowering, MmaTensorLowering, CommitTensorsLowering,
               FenceTensorsLowering, LoadTensorLowering, ScaleTensorLowering>(
      converter, patterns.getContext());
}
