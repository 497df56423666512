//===- CpuJit.cpp - Run a compiled module on the host ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A memref descriptor of rank r is 3 + 2 r machine words: allocated pointer,
// aligned pointer, offset, sizes, strides. Results come back as one struct of
// descriptors whose allocations are the caller's, freed here by `free`.
//
//===----------------------------------------------------------------------===//

#include "attn/Target/CPU/CpuJit.h"

#include "HostObject.h"
#include "HostSymbols.h"

#include "attn/Support/Parallel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace attn;
using runtime::DType;
using runtime::HostTensor;
using runtime::TensorView;

using Word = int64_t;
static_assert(sizeof(void *) == sizeof(Word), "expected a 64-bit host");

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::optional<DType> attn::getDType(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return DType::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return DType::F8E5M2;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  if (type.isInteger(1))
    return DType::I1;
  if (type.isInteger(8))
    return DType::I8;
  if (type.isInteger(32))
    return DType::I32;
  if (type.isInteger(64) || type.isIndex())
    return DType::I64;
  return std::nullopt;
}

Type attn::getElementType(MLIRContext *context, DType dtype) {
  Builder builder(context);
  switch (dtype) {
  case DType::F8E4M3FN:
    return builder.getType<Float8E4M3FNType>();
  case DType::F8E5M2:
    return builder.getType<Float8E5M2Type>();
  case DType::F16:
    return builder.getF16Type();
  case DType::BF16:
    return builder.getBF16Type();
  case DType::F32:
    return builder.getF32Type();
  case DType::F64:
    return builder.getF64Type();
  case DType::I1:
    return builder.getI1Type();
  case DType::I8:
    return builder.getIntegerType(8);
  case DType::I32:
    return builder.getI32Type();
  case DType::I64:
    return builder.getI64Type();
  }
  llvm_unreachable("unknown element type");
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

CpuJit::CpuJit() = default;
CpuJit::~CpuJit() = default;

static Location getLocation(ModuleOp module, StringRef function) {
  Operation *op = module.lookupSymbol(function);
  return op ? op->getLoc() : module.getLoc();
}

FailureOr<std::vector<CpuJit::TensorType>>
CpuJit::getTensorTypes(ModuleOp module, StringRef function, TypeRange types) {
  std::vector<TensorType> known;
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::optional<DType> dtype =
        tensor ? getDType(tensor.getElementType()) : std::nullopt;
    if (!dtype)
      return emitError(getLocation(module, function))
             << "expected the results of @" << function
             << " to be ranked tensors of a type that the "
                "host has, got "
             << type;
    known.push_back({*dtype, tensor.getRank()});
  }
  return known;
}

FailureOr<std::unique_ptr<CpuJit>>
CpuJit::create(ModuleOp module, StringRef function, FunctionType signature) {
  std::unique_ptr<CpuJit> jit(new CpuJit());
  for (Type type : signature.getInputs())
    jit->isScalar.push_back(!isa<ShapedType>(type));
  auto results = getTensorTypes(module, function, signature.getResults());
  if (failed(results))
    return failure();
  jit->results = std::move(*results);
  return jit;
}

LogicalResult CpuJit::loadCode(ModuleOp module) {
  auto report = [&](llvm::Error error) {
    return emitError(module.getLoc()) << "cannot load code for the host: "
                                      << llvm::toString(std::move(error));
  };
  auto loaded = loadObject(object, getHostSymbols);
  if (!loaded)
    return report(loaded.takeError());
  auto address = (*loaded)->lookup(kPackedEntry);
  if (!address)
    return report(address.takeError());
  code = std::move(*loaded);
  entry = address->toPtr<void (*)(void **)>();
  return success();
}

FailureOr<std::unique_ptr<CpuJit>>
CpuJit::compile(ModuleOp module, StringRef function, FunctionType signature,
                bool simplify, const HostFunctions &externals) {
  auto jit = create(module, function, signature);
  if (failed(jit) || failed((*jit)->defineExternals(module, externals)))
    return failure();
  DialectRegistry registry;
  registerAllToLLVMIRTranslations(registry);
  module.getContext()->appendDialectRegistry(registry);
  auto object = compileToObject(module, function, simplify);
  if (!object)
    return emitError(module.getLoc()) << "cannot compile for the host: "
                                      << llvm::toString(object.takeError());
  (*jit)->object = std::move(*object);
  if (failed((*jit)->loadCode(module)))
    return failure();
  return jit;
}

FailureOr<std::unique_ptr<CpuJit>> CpuJit::load(ModuleOp module,
                                                StringRef function,
                                                FunctionType signature,
                                                std::string object) {
  auto jit = create(module, function, signature);
  if (failed(jit))
    return failure();
  (*jit)->object = std::move(object);
  if (failed((*jit)->loadCode(module)))
    return failure();
  return jit;
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

static std::vector<Word> makeDescriptor(const TensorView &tensor) {
  Word data = reinterpret_cast<Word>(tensor.data);
  std::vector<Word> words = {data, data, 0};
  llvm::append_range(words, tensor.shape);
  llvm::append_range(words, runtime::getRowMajorStrides(tensor.shape));
  return words;
}

static std::vector<int64_t> getSizes(const Word *words, int64_t rank) {
  return std::vector<int64_t>(words + 3, words + 3 + rank);
}

/// Copies the memref that `words` describe into the memory of a row-major
/// tensor.
static void copyMemRefTo(char *target, const Word *words, DType dtype,
                         int64_t rank) {
  std::vector<int64_t> shape = getSizes(words, rank);
  const Word *strides = words + 3 + rank;
  size_t size = byteSize(dtype);
  const char *source = reinterpret_cast<const char *>(words[1]) +
                       words[2] * static_cast<Word>(size);
  if (runtime::getRowMajorStrides(shape) ==
      std::vector<int64_t>(strides, strides + rank)) {
    std::copy_n(source, runtime::getByteSize(dtype, shape), target);
    return;
  }
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Word offset = 0;
    for (int64_t d = 0; d < rank; ++d)
      offset += index[d] * strides[d];
    std::memcpy(target, source + offset * static_cast<Word>(size), size);
    target += size;
  });
}

/// The memref that `words` describe as a row-major tensor.
static HostTensor copyResult(const Word *words, DType dtype, int64_t rank) {
  HostTensor tensor(dtype, getSizes(words, rank));
  copyMemRefTo(tensor.data.data(), words, dtype, rank);
  return tensor;
}

//===----------------------------------------------------------------------===//
// External functions
//===----------------------------------------------------------------------===//

struct CpuJit::External {
  HostFunction function;
  std::vector<TensorType> arguments, results;
};

/// Writes a descriptor of a copy of the tensor, whose allocation is its
/// reader's; returns what follows it.
static Word *writeOwned(Word *words, const HostTensor &tensor) {
  char *data = static_cast<char *>(
      std::aligned_alloc(64, llvm::alignTo(tensor.data.size() + 1, 64)));
  std::copy_n(tensor.data.begin(), tensor.data.size(), data);
  words[0] = words[1] = reinterpret_cast<Word>(data);
  words[2] = 0;
  words = llvm::copy(tensor.shape, words + 3);
  return llvm::copy(runtime::getRowMajorStrides(tensor.shape), words);
}

void CpuJit::callExternal(const External *external, const int64_t **arguments,
                          int64_t *results) {
  std::vector<HostTensor> tensors;
  for (auto [type, words] :
       llvm::zip_equal(external->arguments,
                       ArrayRef(arguments, external->arguments.size())))
    tensors.push_back(copyResult(words, type.dtype, type.rank));
  std::vector<HostTensor> returned = external->function.call(tensors);
  assert(returned.size() == external->results.size() && "wrong results");
  for (const HostTensor &tensor : returned)
    results = writeOwned(results, tensor);
}

/// Gives the C interface of an external function a body, which calls
/// `handler` with `external`, the addresses of the arguments' descriptors and
/// that of the results'.
static void buildBody(LLVM::LLVMFuncOp interface, bool hasResults,
                      const void *external, const void *handler) {
  Location loc = interface.getLoc();
  Block *block = interface.addEntryBlock(
      *std::make_unique<OpBuilder>(interface.getContext()));
  OpBuilder builder = OpBuilder::atBlockBegin(block);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto address = [&](const void *host) -> Value {
    Value number = LLVM::ConstantOp::create(
        builder, loc, builder.getI64Type(),
        builder.getI64IntegerAttr(reinterpret_cast<int64_t>(host)));
    return LLVM::IntToPtrOp::create(builder, loc, pointer, number);
  };
  ValueRange arguments = block->getArguments();
  Value results = hasResults ? arguments.front() : address(nullptr);
  arguments = arguments.drop_front(hasResults);
  Value count = LLVM::ConstantOp::create(
      builder, loc, builder.getI64Type(),
      builder.getI64IntegerAttr(std::max<int64_t>(1, arguments.size())));
  Value list = LLVM::AllocaOp::create(builder, loc, pointer, pointer, count);
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    Value slot =
        LLVM::GEPOp::create(builder, loc, pointer, pointer, list,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(builder, loc, argument, slot);
  }
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  {pointer, pointer, pointer});
  LLVM::CallOp::create(
      builder, loc, type,
      ValueRange{address(handler), address(external), list, results});
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  interface.setLinkage(LLVM::Linkage::External);
}

LogicalResult CpuJit::defineExternals(ModuleOp module,
                                      const HostFunctions &functions) {
  for (const auto &[name, function] : functions) {
    auto interface =
        module.lookupSymbol<LLVM::LLVMFuncOp>("_mlir_ciface_" + name);
    if (!interface || !interface.isExternal())
      continue; // Nothing calls it.
    auto arguments = getTensorTypes(module, name, function.type.getInputs());
    auto returned = getTensorTypes(module, name, function.type.getResults());
    if (failed(arguments) || failed(returned))
      return failure();
    externals.push_back(std::make_unique<External>(
        External{function, std::move(*arguments), std::move(*returned)}));
    buildBody(interface, !externals.back()->results.empty(),
              externals.back().get(),
              reinterpret_cast<const void *>(&callExternal));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Calls into compiled code
//===----------------------------------------------------------------------===//

void CpuJit::run(ArrayRef<TensorView> arguments, Allocator allocate,
                 double *seconds) {
  assert(arguments.size() == isScalar.size() && "wrong number of arguments");
  size_t resultWords = 0;
  for (const TensorType &result : results)
    resultWords += 3 + 2 * result.rank;
  std::vector<Word> returned(resultWords);

  // The packed entry takes a pointer to each argument of the C interface:
  // the result struct's address, the descriptors' addresses, and scalars.
  void *returnedAddress = returned.data();
  SmallVector<void *> packed;
  if (!results.empty())
    packed.push_back(&returnedAddress);
  std::vector<std::vector<Word>> descriptors;
  std::vector<void *> addresses(arguments.size());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    descriptors.push_back(makeDescriptor(argument));
    addresses[i] = descriptors.back().data();
    packed.push_back(isScalar[i] ? const_cast<char *>(argument.data)
                                 : static_cast<void *>(&addresses[i]));
  }
  ThreadLimit limit(numThreads);
  auto start = std::chrono::steady_clock::now();
  entry(packed.data());
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  if (seconds)
    *seconds = elapsed.count();

  const Word *words = returned.data();
  SmallVector<void *> allocations;
  for (const TensorType &result : results) {
    char *target = allocate(result.dtype, getSizes(words, result.rank));
    copyMemRefTo(target, words, result.dtype, result.rank);
    void *allocation = reinterpret_cast<void *>(words[0]);
    if (!llvm::is_contained(allocations, allocation))
      allocations.push_back(allocation);
    words += 3 + 2 * result.rank;
  }
  for (void *allocation : allocations)
    std::free(allocation);
}

std::vector<HostTensor> CpuJit::run(ArrayRef<HostTensor> arguments,
                                    double *seconds) {
  std::vector<TensorView> views;
  for (const HostTensor &argument : arguments)
    views.push_back({argument.dtype, argument.shape, argument.data.data()});
  std::vector<HostTensor> tensors;
  tensors.reserve(results.size());
  run(
      views,
      [&](DType dtype, const std::vector<int64_t> &shape) {
        return tensors.emplace_back(dtype, shape).data.data();
      },
      seconds);
  return tensors;
}
