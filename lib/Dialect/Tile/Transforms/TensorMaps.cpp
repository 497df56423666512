//===- TensorMaps.cpp - Tensor maps as kernel parameters -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMaps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attn::tile;

/// The unit of addresses and strides of a tensor map.
static constexpr int64_t kChunkBytes = 16;

/// Replaces one field of the kernel's entry in its manifest by what `change`
/// makes of it.
static void changeKernelField(KernelOp kernel, StringRef name,
                              function_ref<Attribute(Attribute)> change) {
  DictionaryAttr manifest = kernel.getManifestAttr();
  auto kernels = manifest ? manifest.getAs<ArrayAttr>("kernels") : ArrayAttr();
  if (!kernels)
    return;
  MLIRContext *context = kernel.getContext();
  SmallVector<Attribute> entries(kernels.getValue());
  for (Attribute &attribute : entries) {
    NamedAttrList entry(cast<DictionaryAttr>(attribute));
    if (entries.size() > 1 && entry.get("entry") != kernel.getSymNameAttr())
      continue;
    entry.set(name, change(entry.get(name)));
    attribute = entry.getDictionary(context);
  }
  NamedAttrList fields(manifest);
  fields.set("kernels", ArrayAttr::get(context, entries));
  kernel.setManifestAttr(fields.getDictionary(context));
}

/// The manifest's entry for a map of operand number `operand`: dimensions from
/// the innermost out, and a box of one panel.
static DictionaryAttr describeMap(KernelOp kernel, StringRef operand,
                                  GlobalType tensor, SharedType tile,
                                  int64_t rows, int64_t heads) {
  Builder builder(kernel.getContext());
  int64_t last = tensor.getRank() - 1;
  SmallVector<Attribute> dims, strides, box;
  for (int64_t dim = last; dim >= 0; --dim) {
    // A map of nothing cannot be made; it is not read then.
    if (tensor.isDynamicDim(dim))
      dims.push_back(builder.getStringAttr("max(dim(" + operand + ", " +
                                           Twine(dim) + "), 1)"));
    else
      dims.push_back(builder.getI64IntegerAttr(
          std::max<int64_t>(tensor.getShape()[dim], 1)));
    if (dim != last)
      strides.push_back(builder.getStringAttr("stride(" + operand + ", " +
                                              Twine(dim) + ") * 2"));
    int64_t size = dim == last       ? tile.getPanelCols()
                   : dim == last - 1 ? rows / heads
                   : dim == last - 2 ? heads
                                     : 1;
    box.push_back(builder.getI64IntegerAttr(size));
  }
  std::string dtype;
  llvm::raw_string_ostream(dtype) << tensor.getElementType();
  auto field = [&](StringRef name, Attribute value) {
    return builder.getNamedAttr(name, value);
  };
  return builder.getDictionaryAttr({
      field("kind", builder.getStringAttr("tensor_map")),
      field("operand", builder.getStringAttr(operand)),
      field("dtype", builder.getStringAttr(dtype)),
      field("dims", builder.getArrayAttr(dims)),
      field("strides_bytes", builder.getArrayAttr(strides)),
      field("box", builder.getArrayAttr(box)),
      field("swizzle", builder.getI64IntegerAttr(tile.getSwizzle())),
  });
}

/// Asks the caller for addresses and strides of whole chunks of 16 bytes.
static DictionaryAttr alignOperand(DictionaryAttr operand) {
  Builder builder(operand.getContext());
  auto atLeast = [&](NamedAttrList &fields, StringRef name, int64_t least) {
    auto old = dyn_cast_or_null<IntegerAttr>(fields.get(name));
    fields.set(name, builder.getI64IntegerAttr(
                         std::max(least, old ? old.getInt() : 1)));
  };
  NamedAttrList fields(operand), strides;
  if (auto known = operand.getAs<DictionaryAttr>("stride_constraints"))
    strides = NamedAttrList(known);
  atLeast(strides, "multiple_of", kChunkBytes / 2);
  fields.set("stride_constraints", strides.getDictionary(builder.getContext()));
  atLeast(fields, "alignment_bytes", kChunkBytes);
  return fields.getDictionary(builder.getContext());
}

Value attn::tile::addTensorMap(KernelOp kernel, Value tensor, SharedType tile,
                               int64_t rows, int64_t heads) {
  Value map = kernel.getBody().addArgument(TensorMapType::getFor(tile, rows),
                                           tensor.getLoc());
  DictionaryAttr manifest = kernel.getManifestAttr();
  auto operands =
      manifest ? manifest.getAs<ArrayAttr>("operands") : ArrayAttr();
  unsigned number = cast<BlockArgument>(tensor).getArgNumber();
  if (!operands || number >= operands.size())
    return map;
  auto operand = cast<DictionaryAttr>(operands[number]);
  StringRef name = operand.getAs<StringAttr>("name").getValue();
  SmallVector<Attribute> aligned(operands.getValue());
  aligned[number] = alignOperand(operand);
  NamedAttrList fields(manifest);
  fields.set("operands", ArrayAttr::get(kernel.getContext(), aligned));
  kernel.setManifestAttr(fields.getDictionary(kernel.getContext()));
  changeKernelField(kernel, "parameters", [&](Attribute parameters) {
    SmallVector<Attribute> list(cast<ArrayAttr>(parameters).getValue());
    list.push_back(describeMap(kernel, name, cast<GlobalType>(tensor.getType()),
                               tile, rows, heads));
    return ArrayAttr::get(kernel.getContext(), list);
  });
  return map;
}

void attn::tile::setManifestThreads(KernelOp kernel) {
  changeKernelField(kernel, "block", [&](Attribute) {
    Builder builder(kernel.getContext());
    Attribute one = builder.getI64IntegerAttr(1);
    return builder.getArrayAttr(
        {builder.getI64IntegerAttr(kernel.getThreads()), one, one});
  });
}
