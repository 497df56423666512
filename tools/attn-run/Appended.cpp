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

/// `pool` with the rows whose slots are not negative, divided by `descale`, f32
/// [1] or [B, Hkv], unless it is null.
static HostTensor appendRows(HostTensor pool, const HostTensor &rows,
                             const HostTensor &slots,
                             const HostTensor *descale) {
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
    unsigned number = cast<OpResult>(returned).getResultNumber();
    auto pool = dyn_cast<BlockArgument>(append.getPools()[number]);
    auto rows = dyn_cast<BlockArgument>(append.getRows()[number]);
    auto slots = dyn_cast<BlockArgument>(append.getSlots());
    Value scale = append.getDescale(number);
    auto descale = dyn_cast_or_null<BlockArgument>(scale);
    if (pool && rows && slots && (!scale || descale))
      expectation =
          appendRows(inputs[pool.getArgNumber()], inputs[rows.getArgNumber()],
                     inputs[slots.getArgNumber()],
                     descale ? &inputs[descale.getArgNumber()] : nullptr);
  }
  return expected;
}
