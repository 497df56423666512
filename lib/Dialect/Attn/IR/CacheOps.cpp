//===- CacheOps.cpp - Verifiers of pages and of what is appended ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttnVerifiers.h"

using namespace mlir;
using namespace attn;

LogicalResult PagedOp::verify() {
  auto pool = cast<ShapedType>(getPool().getType());
  auto table = cast<ShapedType>(getTable().getType());
  auto result = cast<ShapedType>(getResult().getType());
  // paged_c1
  if (failed(verifyElementType(*this, "result", result, pool.getElementType())))
    return failure();
  // paged_c2
  int64_t page = pool.getDimSize(kSequence);
  if (ShapedType::isDynamic(page) || page == 0)
    return emitOpError() << "expected the page size, dimension 2 of the pool, "
                            "to be static and positive, got "
                         << (page == 0 ? "0" : "a dynamic size");
  // paged_c1
  if ((table.getRank() == 1) != static_cast<bool>(getOffsets()))
    return emitOpError() << "expected offsets with a table of rank 1, and only "
                            "with one, got "
                         << table;
  if (getOffsets() && failed(verifyOffsets(*this, getOffsets())))
    return failure();
  // paged_c3
  int64_t columns = table.getDimSize(getEntryDim());
  int64_t capacity = ShapedType::isDynamic(columns) ? columns : columns * page;
  NamedDim batches = {"the table", "0", table.getDimSize(0)};
  if (getOffsets())
    batches = {"the sequences", "", countSequences(getOffsets())};
  NamedDim expected[] = {batches,
                         {"the pool", "1", pool.getDimSize(kHead)},
                         {"the pages of the table", "", capacity},
                         {"the pool", "3", pool.getDimSize(kHeadDim)}};
  for (auto [dim, size] : llvm::enumerate(expected))
    if (failed(verifyEqual(
            *this, size, {"result", Twine(dim).str(), result.getDimSize(dim)})))
      return failure();
  // paged_c4
  auto view = getPool().getDefiningOp<PagedOp>();
  if (!view)
    return success();
  InFlightDiagnostic diag = emitOpError() << "expected a pool, got pages of "
                                             "another pool: compose the tables";
  diag.attachNote(view.getLoc()) << "view here";
  return diag;
}

/// append_c5 and c6: rows are quantised by a `what`.
static LogicalResult verifyQuantized(AppendOp op, unsigned number,
                                     StringRef what) {
  auto rows = cast<ShapedType>(op.getRows()[number].getType());
  auto pool = cast<ShapedType>(op.getPools()[number].getType());
  Type wide = rows.getElementType();
  if (isByte(pool) && (wide.isF16() || wide.isBF16() || wide.isF32()))
    return success();
  return op.emitOpError()
         << "expected rows of f16, bf16 or f32 and a pool of f8E4M3FN, f8E5M2 "
            "or i8 with "
         << what << ", got " << wide << " and " << pool.getElementType();
}

/// append_c6
static LogicalResult verifyScaleOf(AppendOp op, unsigned number) {
  if (failed(verifyQuantized(op, number, "scales")))
    return failure();
  auto pool = cast<ShapedType>(op.getPools()[number].getType());
  auto scale = cast<ShapedType>(op.getScale(number).getType());
  std::string name = ("the scales of pool #" + Twine(number)).str();
  for (unsigned dim : {kBatch, kHead, kSequence})
    if (failed(verifyEqual(op,
                           {"the pool", Twine(dim).str(), pool.getDimSize(dim)},
                           {name, Twine(dim).str(), scale.getDimSize(dim)})))
      return failure();
  return success();
}

/// append_c5
static LogicalResult verifyDescaleOf(AppendOp op, unsigned number) {
  auto rows = cast<ShapedType>(op.getRows()[number].getType());
  auto slots = cast<ShapedType>(op.getSlots().getType());
  if (failed(verifyQuantized(op, number, "descale")))
    return failure();
  Type type = op.getDescale(number).getType();
  if (slots.getRank() == 1 && cast<ShapedType>(type).getRank() != 1)
    return op.emitOpError()
           << "expected descales of rank 1 with slots [T], whose rows have no "
              "batch, got "
           << type;
  return verifyDescale(op, ("the descale of pool #" + Twine(number)).str(),
                       type, rows.getDimSize(0),
                       rows.getDimSize(AppendOp::kRowHead));
}

/// append_c2 of rows [T, Hkv, D] or [B, Hkv, M, D]
static LogicalResult verifyNewRows(AppendOp op, unsigned number) {
  auto rows = cast<ShapedType>(op.getRows()[number].getType());
  auto pool = cast<ShapedType>(op.getPools()[number].getType());
  auto slots = cast<ShapedType>(op.getSlots().getType());
  std::string name = ("rows #" + Twine(number)).str();
  if (rows.getRank() != slots.getRank() + 2)
    return op.emitOpError()
           << "expected " << name << " to have rank " << slots.getRank() + 2
           << " for slots of rank " << slots.getRank() << ", got " << rows;
  // append_c4
  if (op.getDescales().empty() && op.getScales().empty() &&
      (isByte(pool) || isByte(rows)) &&
      rows.getElementType() != pool.getElementType())
    return op.emitOpError()
           << "expected " << name << " of " << pool.getElementType()
           << ", that of its pool, since nothing is rounded to 8 bits without "
              "descale or scales, or from them, got "
           << rows.getElementType();
  for (int64_t dim = 0; dim < slots.getRank(); ++dim) {
    unsigned of = AppendOp::getRowDim(dim);
    if (failed(verifyEqual(op, {name, Twine(of).str(), rows.getDimSize(of)},
                           {"slots", Twine(dim).str(), slots.getDimSize(dim)})))
      return failure();
  }
  std::pair<int64_t, unsigned> same[] = {{AppendOp::kRowHead, kHead},
                                         {rows.getRank() - 1, kHeadDim}};
  for (auto [of, dim] : same)
    if (failed(
            verifyEqual(op, {name, Twine(of).str(), rows.getDimSize(of)},
                        {"its pool", Twine(dim).str(), pool.getDimSize(dim)})))
      return failure();
  return success();
}

LogicalResult AppendOp::verify() {
  // append_c1
  if (getPools().empty() || getRows().size() != getPools().size())
    return emitOpError() << "expected new rows for each of one or more pools, "
                            "got "
                         << getRows().size() << " for " << getPools().size();
  if (size_t descales = getDescales().size();
      descales != 0 && descales != getPools().size())
    return emitOpError() << "expected a descale for each of "
                         << getPools().size() << " pools, got " << descales;
  // append_c6
  if (size_t scales = getScales().size();
      scales != 0 && scales != getPools().size())
    return emitOpError() << "expected scales for each of " << getPools().size()
                         << " pools, got " << scales;
  if (!getScales().empty() && !getDescales().empty())
    return emitOpError() << "expected descale or scales, got both";
  if (!llvm::equal(getResultTypes(), TypeRange(getDpsInits())))
    return emitOpError() << "expected results of the types of pools and scales";
  auto first = cast<ShapedType>(getPools().front().getType());
  for (auto [number, value] : llvm::enumerate(getPools())) {
    if (failed(verifyNewRows(*this, number)) ||
        (!getDescales().empty() && failed(verifyDescaleOf(*this, number))) ||
        (!getScales().empty() && failed(verifyScaleOf(*this, number))))
      return failure();
    // append_c3
    auto pool = cast<ShapedType>(value.getType());
    std::string name = ("pool #" + Twine(number)).str();
    for (unsigned dim : {kBatch, kHead, kSequence})
      if (failed(verifyEqual(
              *this, {name, Twine(dim).str(), pool.getDimSize(dim)},
              {"pool #0", Twine(dim).str(), first.getDimSize(dim)})))
        return failure();
  }
  return success();
}
