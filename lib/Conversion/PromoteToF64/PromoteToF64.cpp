//===- PromoteToF64.cpp - Compute the whole module in f64 -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass --attn-promote-to-f64. Types change in place: no op is rebuilt, and
// so none can be forgotten. Only ops that convert between float types need a
// second look.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"

namespace attn {
#define GEN_PASS_DEF_PROMOTETOF64
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// The same number in f64; exact for every narrower type.
static APFloat promote(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

/// A resource with float elements as an ordinary constant; null if its data are
/// missing.
static DenseElementsAttr readResource(DenseResourceElementsAttr attr) {
  AsmResourceBlob *blob = attr.getRawHandle().getBlob();
  bool isSplat = false;
  if (!blob || !DenseElementsAttr::isValidRawBuffer(attr.getType(),
                                                    blob->getData(), isSplat))
    return nullptr;
  return DenseElementsAttr::getFromRawBuffer(attr.getType(), blob->getData());
}

static Attribute promoteElements(DenseElementsAttr attr) {
  auto elements = cast<DenseFPElementsAttr>(attr);
  return elements.mapValues(
      Float64Type::get(attr.getContext()),
      [](const APFloat &value) { return promote(value).bitcastToAPInt(); });
}

/// Replaces float types, in types and attributes alike.
static AttrTypeReplacer makeReplacer() {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](FloatType type) -> Type {
    return Float64Type::get(type.getContext());
  });
  replacer.addReplacement([](FloatAttr attr)
                              -> std::pair<Attribute, WalkResult> {
    Type type = Float64Type::get(attr.getContext());
    return {FloatAttr::get(type, promote(attr.getValue())), WalkResult::skip()};
  });
  replacer.addReplacement(
      [](DenseElementsAttr attr)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        if (!isa<FloatType>(attr.getElementType()))
          return std::nullopt;
        return std::make_pair(promoteElements(attr), WalkResult::skip());
      });
  replacer.addReplacement(
      [](DenseResourceElementsAttr attr)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        if (!isa<FloatType>(attr.getType().getElementType()))
          return std::nullopt;
        DenseElementsAttr elements = readResource(attr);
        if (!elements)
          return std::nullopt;
        return std::make_pair(promoteElements(elements), WalkResult::skip());
      });
  return replacer;
}

/// Fails on ops whose meaning depends on the bits of a float.
static LogicalResult checkPromotable(Operation *op) {
  auto isFloat = [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  };
  if (isa<arith::BitcastOp, tensor::BitcastOp>(op) &&
      (llvm::any_of(op->getOperandTypes(), isFloat) ||
       llvm::any_of(op->getResultTypes(), isFloat)))
    return op->emitOpError()
           << "reads the bits of a float: cannot compute this module in f64";
  for (NamedAttribute named : op->getAttrs()) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(named.getValue());
    if (resource && isFloat(resource.getType()) && !readResource(resource))
      return op->emitOpError()
             << "expected data of type " << resource.getType()
             << " for resource " << resource.getRawHandle().getKey();
  }
  return success();
}

namespace {
struct PromoteToF64Pass
    : public attn::impl::PromoteToF64Base<PromoteToF64Pass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    WalkResult checked = module.walk([](Operation *op) {
      return failed(checkPromotable(op)) ? WalkResult::interrupt()
                                         : WalkResult::advance();
    });
    if (checked.wasInterrupted())
      return signalPassFailure();

    AttrTypeReplacer replacer = makeReplacer();
    SmallVector<Operation *> conversions;
    module.walk([&](Operation *op) {
      DictionaryAttr before = op->getAttrDictionary();
      SmallVector<Type> types(op->getResultTypes());
      replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                                 /*replaceLocs=*/false, /*replaceTypes=*/true);
      if (before != op->getAttrDictionary() ||
          TypeRange(types) != op->getResultTypes())
        ++numPromoted;
      if (isa<arith::ExtFOp, arith::TruncFOp>(op))
        conversions.push_back(op);
    });
    for (Operation *op : conversions) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    }
  }
};
} // namespace
