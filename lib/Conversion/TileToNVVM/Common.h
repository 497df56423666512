//===- Common.h - Shared pieces of the tile lowering -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the files of this folder share: how types become registers, where a
// thread stands in its CTA, and where an element lies in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_TILETONVVM_COMMON_H
#define LIB_CONVERSION_TILETONVVM_COMMON_H

#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/MapVector.h"

namespace attn::tile {

/// NVPTX address space of shared memory.
inline constexpr unsigned kSharedSpace = 3;

inline constexpr int64_t kWarpgroupThreads = 128;

/// Maps a global view to (pointer, dynamic sizes as i32, strides as i64 of all
/// dimensions but the last), a shared tile to its address, and a fragment to
/// the registers of one thread (TileTypes.td draws them).
class TileTypeConverter : public mlir::TypeConverter {
public:
  /// Of the kernel whose types are converted: the warps that compute, how many
  /// of them share rows, whether its CTAs form clusters, whether two of them
  /// multiply together, and whether its chip computes with pairs of f32
  /// (FloatPairs.h).
  TileTypeConverter(int64_t warps, int64_t sharing, bool hasClusters,
                    bool hasCtaPairs, bool hasFloatPairs);
  int64_t getWarps() const { return warps / sharing; }
  int64_t getSharing() const { return sharing; }
  bool hasClusters() const { return inClusters; }
  bool hasCtaPairs() const { return inPairs; }
  bool hasFloatPairs() const { return floatPairs; }

private:
  int64_t warps, sharing;
  bool inClusters, inPairs, floatPairs;
};

/// The warps among which the rows of a fragment are dealt out.
struct RowWarps {
  int64_t count;
  bool areShared; ///< other warps have the same rows
};

/// A pattern that lowers `OpTy` and can ask for the number of warps.
template <typename OpTy>
class TileOpLowering : public mlir::OpConversionPattern<OpTy> {
public:
  using mlir::OpConversionPattern<OpTy>::OpConversionPattern;
  using Adaptor = typename mlir::OpConversionPattern<OpTy>::OneToNOpAdaptor;

protected:
  /// Warps among which the rows of a fragment are dealt out: all that compute,
  /// unless some share them.
  int64_t getWarps() const { return getConverter().getWarps(); }
  RowWarps getRowWarps() const {
    return {getWarps(), getConverter().getSharing() > 1};
  }
  /// All warps that compute.
  int64_t getConsumerWarps() const {
    return getWarps() * getConverter().getSharing();
  }
  /// True if the CTA is part of a cluster.
  bool hasClusters() const { return getConverter().hasClusters(); }
  bool hasCtaPairs() const { return getConverter().hasCtaPairs(); }
  /// True if the chip has instructions for pairs of f32.
  bool hasFloatPairs() const { return getConverter().hasFloatPairs(); }

private:
  const TileTypeConverter &getConverter() const {
    return *static_cast<const TileTypeConverter *>(this->getTypeConverter());
  }
};

/// Builds scalar integer code, folding constants on the way.
class IndexBuilder {
public:
  IndexBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b);
  mlir::Value bitAnd(mlir::Value a, int64_t b);
  mlir::Value bitXor(mlir::Value a, mlir::Value b);
  mlir::Value bitXor(mlir::Value a, int64_t b);
  mlir::Value shiftRight(mlir::Value a, int64_t b);
  /// Unsigned division by a power of two or by any constant.
  mlir::Value div(mlir::Value a, int64_t b);
  /// Its remainder.
  mlir::Value rem(mlir::Value a, int64_t b);
  /// Whether `a`, an i32, is 0.
  mlir::Value isZero(mlir::Value a);
  /// `value` in the lane that `kind` makes of `lane`, for all 32 lanes.
  mlir::Value shuffle(mlir::NVVM::ShflKind kind, mlir::Value value,
                      int64_t lane);
  /// `value` in the lane of that number, i32, for all 32 lanes.
  mlir::Value shuffle(mlir::Value value, mlir::Value lane);
  /// The sum of the bases of the bits that `number`, an i32, has.
  mlir::Value sumOfBits(mlir::Value number, llvm::ArrayRef<int64_t> bases);
  /// index, i32 or i64 as i32 (i64).
  mlir::Value toI32(mlir::Value value);
  mlir::Value toI64(mlir::Value value);
  /// `pointer` plus a number of bytes (i32, i64 or constant).
  mlir::Value offset(mlir::Value pointer, mlir::Value bytes);
  mlir::Value offset(mlir::Value pointer, int64_t bytes);
  /// Thread in the CTA, lane in the warp, warp in the CTA, all i32.
  mlir::Value thread();
  mlir::Value lane();
  mlir::Value warp();
  /// The row, and the column, of the calling lane's first element in the units
  /// of a layout, i32.
  mlir::Value laneRow(FragmentLayoutAttr layout);
  mlir::Value laneColumn(FragmentLayoutAttr layout);
  /// Whether the lane is the first of those that have copies, i1, and which
  /// one that is, i32.
  mlir::Value isFirstCopy(FragmentLayoutAttr layout);
  mlir::Value firstCopy(FragmentLayoutAttr layout);
  /// The first of the calling warp's rows of a fragment of `rows`, i32.
  mlir::Value warpRow(int64_t rows, RowWarps warps);

private:
  mlir::Value constantLike(mlir::Value like, int64_t value);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// The parts of a converted global view.
class GlobalView {
public:
  GlobalView(GlobalType type, mlir::ValueRange parts)
      : type(type), parts(parts) {}

  mlir::Value pointer() const { return parts.front(); }
  /// Size of a dimension, i32.
  mlir::Value size(IndexBuilder &index, unsigned dim) const;
  /// Stride of a dimension in elements, i64.
  mlir::Value stride(IndexBuilder &index, unsigned dim) const;
  /// Address of the element at `indices`; missing trailing indices are 0.
  mlir::Value address(IndexBuilder &index, mlir::ValueRange indices) const;

private:
  GlobalType type;
  mlir::ValueRange parts;
};

/// Address of the 16-byte chunk `chunk + laneChunk` of row `row + laneRow` in a
/// swizzled tile (TileTypes.td, SharedType). `row` (a multiple of 8) and
/// `chunk` (even) are constants, `laneRow` and `laneChunk` (0 or 1) differ by
/// lane, so that almost all of the address is shared between accesses.
class SwizzledAddress {
public:
  SwizzledAddress(IndexBuilder &index, SharedType type, mlir::Value base,
                  mlir::Value laneRow, mlir::Value laneChunk);
  mlir::Value get(int64_t row, int64_t chunk);
  /// A pointer that chunks share, and the bytes from it to the chunk.
  std::pair<mlir::Value, int64_t> split(int64_t row, int64_t chunk);

private:
  IndexBuilder &index;
  SharedType type;
  mlir::Value rowAddress; ///< base + laneRow * swizzle
  mlir::Value laneXor;    ///< 16 * (laneChunk xor f(laneRow))
  llvm::SmallDenseMap<int64_t, mlir::Value> byChunk;
};

/// A run of PTX instructions as one operation, with results, if any, that the
/// run writes to. Apart, the registers that pass from one to the next would
/// each be an operation or more in MLIR and in LLVM, which move none of them
/// anyway.
class PtxBlock {
public:
  PtxBlock(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type resultType,
           int64_t numResults);

  /// Names of `count` results from `first` on, to write to and to read.
  llvm::SmallVector<std::string> results(int64_t first, int64_t count) const;
  /// Names of the first results, which hold `values` at first. Before any
  /// `use`.
  llvm::SmallVector<std::string> update(mlir::ValueRange values);
  /// Names of operands, to read.
  llvm::SmallVector<std::string> use(mlir::ValueRange values);
  /// Names of new registers of `bits` bits: `prefix`0, `prefix`1, ...
  llvm::SmallVector<std::string> declare(const std::string &prefix,
                                         int64_t count, int64_t bits = 32);
  /// "{a, b, c}"
  static std::string list(llvm::ArrayRef<std::string> names);
  void add(const std::string &instruction);
  /// Of an opcode and its operands, as they are named.
  void add(llvm::StringRef opcode, llvm::ArrayRef<std::string> operands);
  /// A label that the block's branches may name.
  void label(const std::string &name);
  /// Creates the operation. One with side effects, as reads of memory are here,
  /// is not moved over others that have them.
  llvm::SmallVector<mlir::Value> create(bool hasSideEffects = true);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type resultType;
  int64_t numResults;
  llvm::SmallVector<mlir::Value> initial;         ///< of the first results
  llvm::MapVector<mlir::Value, int64_t> operands; ///< and their numbers
  std::string text;
};

/// f(row) of SharedType's documentation, an i32.
mlir::Value swizzlePermutation(IndexBuilder &index, SharedType type,
                               mlir::Value row);

/// Address of the mbarrier of `stage` (index or i32) in a ring of them.
mlir::Value mbarrierAddress(IndexBuilder &index, mlir::Value ring,
                            mlir::Value stage);

/// A barrier of the 128 threads of the warpgroup (index or i32).
void syncWarpgroup(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value warpgroup);

/// A barrier of the threads of the `warps` consumer warps.
void syncConsumers(mlir::OpBuilder &builder, mlir::Location loc, int64_t warps);

/// Lets TMA and wgmma see what this thread has written to shared memory, once a
/// barrier has been passed.
void fenceSharedWrites(mlir::OpBuilder &builder, mlir::Location loc);

/// Waits until the bulk copies of this thread have read their source.
void waitUntilRead(mlir::OpBuilder &builder, mlir::Location loc);

/// L2 policies as createpolicy.fractional.L2 makes them for all of the data.
inline constexpr int64_t kEvictFirst = 0x12F0000000000000;
inline constexpr int64_t kEvictLast = 0x14F0000000000000;

/// 2^x for x <= 128, an f32, without the exponential units: relative error
/// below 2e-7; 0 from -127 down, NaN of NaN.
mlir::Value buildExp2OnFma(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value x);

/// Replaces sums, differences, products, negations and maxima of f32 by llvm
/// ops.
void lowerFloatArith(mlir::FunctionOpInterface function);

/// Declares the CTA's dynamic shared memory, which attn_tile.alloc refers to.
void declareSharedMemory(mlir::ModuleOp module);
/// The address of a place in it.
mlir::Value addressOfShared(mlir::OpBuilder &builder, mlir::Location loc,
                            int64_t offset);

void populateAccumulatePatterns(mlir::TypeConverter &converter,
                                mlir::RewritePatternSet &patterns);
void populateAssertPatterns(mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);
void populateChangeRowsPatterns(mlir::TypeConverter &converter,
                                mlir::RewritePatternSet &patterns);
void populateClearRowsPatterns(mlir::TypeConverter &converter,
                               mlir::RewritePatternSet &patterns);
void populateCpAsyncPatterns(mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns);
void populateDropoutPatterns(mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns);
void populateElementwisePatterns(mlir::TypeConverter &converter,
                                 mlir::RewritePatternSet &patterns);
void populateGlobalMemoryPatterns(mlir::TypeConverter &converter,
                                  mlir::RewritePatternSet &patterns);
void populateKernelPatterns(mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);
void populateMapPatterns(mlir::TypeConverter &converter,
                         mlir::RewritePatternSet &patterns);
void populateMbarrierPatterns(mlir::TypeConverter &converter,
                              mlir::RewritePatternSet &patterns);
/// With `hasFloat8` 8-bit floats are widened by instructions (WidenBytes.h).
void populateMmaSyncPatterns(mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns, bool hasFloat8);
void populateNamedBarrierPatterns(mlir::TypeConverter &converter,
                                  mlir::RewritePatternSet &patterns);
/// Of what roles do in the place of consumers (attn_tile.as_warpgroup), behind
/// the lowering of its body: that body, of threads with other numbers.
void inlineWarpgroups(mlir::Operation *function);
void populateRolesPatterns(mlir::TypeConverter &converter,
                           mlir::RewritePatternSet &patterns);
void populateSequencePatterns(mlir::TypeConverter &converter,
                              mlir::RewritePatternSet &patterns);
void populateSharedRowsPatterns(mlir::TypeConverter &converter,
                                mlir::RewritePatternSet &patterns);
void populateStMatrixPatterns(mlir::TypeConverter &converter,
                              mlir::RewritePatternSet &patterns);
/// `hasFloat8` as of populateMmaSyncPatterns.
void populateStoreWidenedPatterns(mlir::TypeConverter &converter,
                                  mlir::RewritePatternSet &patterns,
                                  bool hasFloat8);
void populateTcgen05Patterns(mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns);
void populateTmaPatterns(mlir::TypeConverter &converter,
                         mlir::RewritePatternSet &patterns);
void populateTransposePatterns(mlir::TypeConverter &converter,
                               mlir::RewritePatternSet &patterns);
void populateWgmmaPatterns(mlir::TypeConverter &converter,
                           mlir::RewritePatternSet &patterns);
/// Expands math ops on f32 scalars that no unit computes.
mlir::LogicalResult expandMath(KernelOp kernel);
/// math ops on f32 scalars by the approximate instructions of the SFU.
void populateMathToNVVMPatterns(mlir::RewritePatternSet &patterns);

} // namespace attn::tile

#endif // LIB_CONVERSION_TILETONVVM_COMMON_H
