//===- AttentionDims.cpp - Shapes of the oracle's inputs ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionDetail.h"

#include "attn/Reference/Element.h"

namespace attn {
namespace reference {

static Error makeShapeError(const char *expected, const char *name,
                            const Tensor &tensor) {
  return Error{std::string("expected ") + name + " of shape " + expected +
               ", got " + formatShape(tensor.getShape())};
}

static Status checkBias(const Tensor &bias, const detail::AttentionDims &dims) {
  const int64_t sizes[] = {dims.batch, dims.queryHeads, dims.queryLength,
                           dims.kvLength};
  bool fits = bias.getRank() == 4;
  for (int64_t i = 0; fits && i < 4; ++i)
    fits = bias.getDim(i) == 1 || bias.getDim(i) == sizes[i];
  if (!fits)
    return makeShapeError("[B or 1, Hq or 1, M or 1, N or 1]", "bias", bias);
  return {};
}

Result<detail::AttentionDims> detail::getDims(const Tensor &query,
                                              const Tensor &key,
                                              const Tensor &value,
                                              const AttentionOptions &options) {
  if (query.getRank() != 4)
    return makeShapeError("[B, Hq, M, D]", "query", query);
  if (key.getRank() != 4 || key.getDim(0) != query.getDim(0) ||
      key.getDim(3) != query.getDim(3))
    return makeShapeError("[B, Hkv, N, D] with the query's B and D", "key",
                          key);
  if (value.getRank() != 4 || value.getDim(0) != key.getDim(0) ||
      value.getDim(1) != key.getDim(1) || value.getDim(2) != key.getDim(2))
    return makeShapeError("[B, Hkv, N, Dv] with the key's B, Hkv and N",
                          "value", value);
  AttentionDims dims = {query.getDim(0), query.getDim(1), key.getDim(1),
                        query.getDim(2), key.getDim(2),   query.getDim(3),
                        value.getDim(3)};
  if (dims.kvHeads == 0 || dims.queryHeads % dims.kvHeads != 0)
    return Error{
        "expected Hkv that divides Hq = " + std::to_string(dims.queryHeads) +
        ", got " + std::to_string(dims.kvHeads)};
  if (options.softCap && !(*options.softCap > 0))
    return Error{"expected a positive soft cap, got " +
                 std::to_string(*options.softCap)};
  if (options.bias)
    if (Status status = checkBias(*options.bias, dims); !status)
      return Error{status.error()};
  if (options.sink && (options.sink->getRank() != 1 ||
                       options.sink->getDim(0) != dims.queryHeads))
    return makeShapeError("[Hq]", "sink", *options.sink);
  return dims;
}

/// Element of a bias whose sizes of 1 are broadcast.
double detail::getBias(const Tensor &bias, int64_t b, int64_t h, int64_t i,
                       int64_t j) {
  auto clamp = [&](int64_t dim, int64_t index) {
    return bias.getDim(dim) == 1 ? 0 : index;
  };
  return bias.at(clamp(0, b), clamp(1, h), clamp(2, i), clamp(3, j));
}

Tensor detail::roundToTf32(const Tensor &tensor) {
  Tensor rounded = tensor;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    rounded.set(i, reference::roundToTf32(tensor[i]));
  return rounded;
}

} // namespace reference
} // namespace attn
