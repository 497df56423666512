//===- CpuFunction.cpp - Compiled functions of other processes ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/CPU/CpuFunction.h"

#include "HostObject.h"
#include "HostSymbols.h"

#include "attn/Support/Parallel.h"
#include "attn/Target/CPU/CpuJit.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/TargetParser/Host.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace attn;

/// Of the file. Another one, or another host, is another function.
static constexpr StringRef kVersion = "attn-mlir/cpu-function/2";

static llvm::Error mismatch(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

std::string attn::describeHost() {
  SmallVector<StringRef> names;
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  for (const auto &feature : features)
    if (feature.second)
      names.push_back(feature.first());
  llvm::sort(names);
  return (llvm::sys::getHostCPUName() + " " + llvm::join(names, " ")).str();
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

void CpuFunction::setArgumentLayouts(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() < 2)
      continue;
    SmallVector<int64_t> strides(static_cast<size_t>(tensor.getRank()),
                                 ShapedType::kDynamic);
    strides.back() = 1;
    function.setArgAttr(
        static_cast<unsigned>(i),
        bufferization::BufferizationDialect::kBufferLayoutAttrName,
        StridedLayoutAttr::get(context, /*offset=*/0, strides));
  }
}

static llvm::json::Array describeTypes(TypeRange types) {
  llvm::json::Array described;
  for (Type type : types) {
    auto tensor = cast<RankedTensorType>(type);
    llvm::json::Array shape;
    for (int64_t size : tensor.getShape())
      shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
    described.push_back(llvm::json::Object{
        {"dtype", runtime::name(*getDType(tensor.getElementType()))},
        {"shape", std::move(shape)}});
  }
  return described;
}

std::string CpuFunction::write(FunctionType signature, StringRef object) {
  llvm::json::Value head =
      llvm::json::Object{{"version", kVersion},
                         {"host", describeHost()},
                         {"arguments", describeTypes(signature.getInputs())},
                         {"results", describeTypes(signature.getResults())}};
  return llvm::formatv("{0}\n{1}", head, object).str();
}

llvm::Error CpuFunction::parseTypes(StringRef line) {
  auto head = llvm::json::parse(line);
  if (!head) {
    llvm::consumeError(head.takeError());
    return mismatch("expected a function compiled for the CPU");
  }
  const llvm::json::Object *fields = head->getAsObject();
  if (!fields || fields->getString("version") != kVersion)
    return mismatch("expected a function of version " + kVersion);
  if (fields->getString("host") != describeHost())
    return mismatch("expected code for this processor, " + describeHost() +
                    ", got code for " +
                    fields->getString("host").value_or("none"));
  for (auto [name, types] :
       {std::pair("arguments", &arguments), std::pair("results", &results)}) {
    const llvm::json::Array *described = fields->getArray(name);
    if (!described)
      return mismatch(llvm::Twine("expected ") + name + " of the function");
    for (const llvm::json::Value &value : *described) {
      const llvm::json::Object *type = value.getAsObject();
      auto text = type ? type->getString("dtype") : std::nullopt;
      auto dtype = text ? runtime::parseDType(text->str()) : std::nullopt;
      const llvm::json::Array *shape = type ? type->getArray("shape") : nullptr;
      if (!dtype || !shape)
        return mismatch(llvm::Twine("expected types of ") + name);
      types->push_back({*dtype, text->str(), {}});
      for (const llvm::json::Value &size : *shape)
        types->back().shape.push_back(size.getAsInteger().value_or(-1));
    }
  }
  return llvm::Error::success();
}

CpuFunction::CpuFunction() = default;

CpuFunction::~CpuFunction() = default;

llvm::Expected<std::unique_ptr<CpuFunction>> CpuFunction::load(StringRef file) {
  auto [line, object] = file.split('\n');
  std::unique_ptr<CpuFunction> function(new CpuFunction());
  if (llvm::Error error = function->parseTypes(line))
    return error;
  auto loaded = loadObject(object, getHostSymbols);
  if (!loaded)
    return loaded.takeError();
  auto address = (*loaded)->lookup(kPackedEntry);
  if (!address)
    return address.takeError();
  function->code = std::move(*loaded);
  function->entry = address->toPtr<void (*)(void **)>();
  return function;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

llvm::Error CpuFunction::check(ArrayRef<ArrayLayout> given) const {
  if (given.size() != arguments.size())
    return mismatch("expected " + llvm::Twine(arguments.size()) +
                    " arguments, got " + llvm::Twine(given.size()));
  for (auto [i, type, layout] : llvm::enumerate(arguments, given)) {
    std::string where = "argument " + std::to_string(i) + ": expected ";
    auto report = [&](const llvm::Twine &expected, const llvm::Twine &got) {
      return mismatch(where + expected + ", got " + got);
    };
    size_t rank = type.shape.size();
    if (layout.dtype != type.name)
      return report("dtype " + type.name, layout.dtype);
    if (layout.shape.size() != rank || layout.strides.size() != rank)
      return report("rank " + llvm::Twine(rank),
                    llvm::Twine(layout.shape.size()));
    for (size_t d = 0; d < rank; ++d) {
      if (layout.shape[d] < 0)
        return report("sizes of at least 0", llvm::Twine(layout.shape[d]));
      if (type.shape[d] >= 0 && layout.shape[d] != type.shape[d])
        return report("dim " + llvm::Twine(d) + " to be " +
                          llvm::Twine(type.shape[d]),
                      llvm::Twine(layout.shape[d]));
    }
    if (rank > 0 && layout.shape.back() > 1 && layout.strides.back() != 1)
      return report("a last dimension of stride 1",
                    llvm::Twine(layout.strides.back()));
  }
  return llvm::Error::success();
}

static size_t getNumWords(size_t rank) { return 3 + 2 * rank; }

CpuFunction::Results CpuFunction::call(ArrayRef<ArrayLayout> layouts,
                                       ArrayRef<void *> addresses,
                                       size_t numThreads) const {
  assert(addresses.size() == arguments.size() && "wrong number of arguments");
  Results returned(results);
  SmallVector<int64_t> words;
  for (const ArrayLayout &layout : layouts)
    words.append(getNumWords(layout.shape.size()), 0);
  // The addresses of the results, then those of each descriptor.
  int64_t *resultWords = returned.words.data(), *next = words.data();
  SmallVector<int64_t *> descriptors;
  for (auto [layout, address] : llvm::zip_equal(layouts, addresses)) {
    descriptors.push_back(next);
    next[0] = next[1] = reinterpret_cast<int64_t>(address);
    next = llvm::copy(layout.shape, next + 3);
    next = llvm::copy(layout.strides, next);
  }
  SmallVector<void *> packed;
  if (!results.empty())
    packed.push_back(static_cast<void *>(&resultWords));
  for (int64_t *&descriptor : descriptors)
    packed.push_back(static_cast<void *>(&descriptor));
  ThreadLimit limit(numThreads);
  entry(packed.data());
  return returned;
}

CpuFunction::Results::Results(const std::vector<TensorType> &types)
    : types(&types) {
  size_t count = 0;
  for (const TensorType &type : types)
    count += getNumWords(type.shape.size());
  words.resize(count);
}

CpuFunction::Results::~Results() {
  SmallVector<int64_t> freed;
  for (size_t i = 0; i < size() && !words.empty(); ++i) {
    int64_t allocation = getDescriptor(i)[0];
    if (llvm::is_contained(freed, allocation))
      continue;
    freed.push_back(allocation);
    std::free(reinterpret_cast<void *>(allocation));
  }
}

const int64_t *CpuFunction::Results::getDescriptor(size_t index) const {
  size_t begin = 0;
  for (const TensorType &type : ArrayRef(*types).take_front(index))
    begin += getNumWords(type.shape.size());
  return words.data() + begin;
}

ArrayRef<int64_t> CpuFunction::Results::getShape(size_t index) const {
  return ArrayRef(getDescriptor(index) + 3, (*types)[index].shape.size());
}

void CpuFunction::Results::copyTo(size_t index, void *address,
                                  ArrayRef<int64_t> strides) const {
  const int64_t *from = getDescriptor(index);
  int64_t rank = static_cast<int64_t>(strides.size());
  SmallVector<int64_t> to = {0, reinterpret_cast<int64_t>(address), 0};
  to.append(from + 3, from + 3 + rank);
  llvm::append_range(to, strides);
  copyMemRef(byteSize((*types)[index].dtype), from, to.data(), rank);
}
