//===- Appended.cpp - What caches hold after an append --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Appended.h"

#include "CacheInputs.h"
#include "Inputs.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Reference/Element.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace attn;
using namespace attn::run;
using runtime::HostTensor;

/// Copies `count` elements of `from` at `source` to `to` at `target`, rounded
/// to its type, and divided by `descale` before, if there is one.
static void copyElements(const HostTensor &from, int64_t source, HostTensor &to,
                         int64_t target, int64_t count,
                         std::optional<double> descale) {
  size_t size = byteSize(from.dtype), newSize = byteSize(to.dtype);
  if (from.dtype == to.dtype) {
    std::copy_n(&from.data[source * size], count * size,
                &to.data[target * size]);
    return;
  }
  ElementType oldType = *parseElementType(name(from.dtype));
  ElementType newType = *parseElementType(name(to.dtype));
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, &from.data[(source + i) * size], size);
    double number = reference::decodeElement(bits, oldType);
    if (descale)
      number = reference::quantize(number, *descale, newType);
    bits = reference::encodeElement(number, newType);
    std::memcpy(&to.data[(target + i) * newSize], &bits, newSize);
  }
}

static double getReal(const HostTensor &tensor, int64_t at) {
  float number = 0;
  std::memcpy(&number, &tensor.data[at * sizeof(number)], sizeof(number));
  return number;
}

/// What `count` elements of `rows` from `first` on are divided by to be stored
/// in `type`, with scales of rows.
static double getScale(const HostTensor &rows, int64_t first, int64_t count,
                       runtime::DType type) {
  ElementType element = *parseElementType(name(rows.dtype));
  double largest = 0;
  for (int64_t i = first; i < first + count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, &rows.data[i * byteSize(rows.dtype)],
                byteSize(rows.dtype));
    largest = reference::maxMagnitude(largest,
                                      reference::decodeElement(bits, element));
  }
  return reference::getTokenScale(largest, *parseElementType(name(type)));
}

/// `pool` with the rows whose slots are not negative, divided by `descale`, f32
/// [1] or [B, Hkv], unless it is null, or by their own, which go to `scales`.
static HostTensor appendRows(HostTensor pool, const HostTensor &rows,
                             const HostTensor &slots, const HostTensor *descale,
                             HostTensor *scales) {
  int64_t heads = pool.shape[kHead], page = pool.shape[kSequence];
  int64_t columns = pool.shape[kHeadDim];
  int64_t together = slots.shape.size() == 2 ? slots.shape[1] : 1;
  for (int64_t token = 0; token < slots.numElements(); ++token) {
    int64_t slot = getInteger(slots, token);
    for (int64_t h = 0; slot >= 0 && h < heads; ++h) {
      int64_t from = (token / together * heads + h) * together;
      int64_t to = (slot / page * heads + h) * page;
      std::optional<double> divisor;
      if (descale)
        divisor = getReal(*descale, descale->shape.size() == 1
                                        ? 0
                                        : token / together * heads + h);
      if (scales) {
        divisor = getScale(rows, (from + token % together) * columns, columns,
                           pool.dtype);
        setElement(*scales, to + slot % page, *divisor);
      }
      copyElements(rows, (from + token % together) * columns, pool,
                   (to + slot % page) * columns, columns, divisor);
    }
  }
  return pool;
}

std::vector<std::optional<HostTensor>>
attn::run::expectAppended(func::FuncOp function,
                          const std::vector<HostTensor> &inputs) {
  std::vector<std::optional<HostTensor>> expected(function.getNumResults());
  // Of several blocks it depends on the inputs which one returns.
  if (!function.getBody().hasOneBlock())
    return expected;
  Operation *end = function.getBody().front().getTerminator();
  for (auto [expectation, returned] :
       llvm::zip_equal(expected, end->getOperands())) {
    auto append = returned.getDefiningOp<AppendOp>();
    if (!append)
      continue;
    unsigned result = cast<OpResult>(returned).getResultNumber();
    unsigned number = result % append.getPools().size();
    auto pool = dyn_cast<BlockArgument>(append.getPools()[number]);
    auto rows = dyn_cast<BlockArgument>(append.getRows()[number]);
    auto slots = dyn_cast<BlockArgument>(append.getSlots());
    Value scale = append.getDescale(number);
    auto descale = dyn_cast_or_null<BlockArgument>(scale);
    Value ownScales = append.getScale(number);
    auto own = dyn_cast_or_null<BlockArgument>(ownScales);
    if (!pool || !rows || !slots || (scale && !descale) || (ownScales && !own))
      continue;
    std::optional<HostTensor> scales;
    if (own)
      scales = inputs[own.getArgNumber()];
    expectation =
        appendRows(inputs[pool.getArgNumber()], inputs[rows.getArgNumber()],
                   inputs[slots.getArgNumber()],
                   descale ? &inputs[descale.getArgNumber()] : nullptr,
                   scales ? &*scales : nullptr);
    if (result >= append.getPools().size())
      expectation = std::move(scales);
  }
  return expected;
}
