//===- CompiledObject.cpp - Compiled functions in files -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is a line with the digest of what it was made from, then the object.
//
//===----------------------------------------------------------------------===//

#include "CompiledObject.h"

#include "CpuDevice.h"

#include "attn/Target/CPU/CpuFunction.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace attn;
using namespace attn::run;

/// The module, what changes its code, and the processor.
static std::string getDigest(func::FuncOp function, const Options &options) {
  std::string text = ATTN_VERSION "\n";
  llvm::raw_string_ostream stream(text);
  stream << describeHost();
  stream << '\n'
         << function.getName() << ' ' << static_cast<int>(options.raise) << ' '
         << options.maskThreshold << ' ' << options.assumeVisibleRows << '\n';
  function->getParentOfType<ModuleOp>().print(
      stream, OpPrintingFlags().printGenericOpForm());
  auto bytes = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(bytes, /*LowerCase=*/true);
}

/// What stands before an object: what it was made from, and its own digest.
static std::string getHead(StringRef origin, StringRef object) {
  auto bytes = llvm::SHA256::hash(llvm::arrayRefFromStringRef(object));
  return ("attn-run object " + origin + " " +
          llvm::toHex(bytes, /*LowerCase=*/true) + "\n")
      .str();
}

/// The object of a file that was written with `origin`; nothing if there is
/// none, or another, or a part of it.
static std::optional<std::string> readObject(const std::string &path,
                                             StringRef origin) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return std::nullopt;
  auto [head, object] = (*buffer)->getBuffer().split('\n');
  if (head.str() + "\n" != getHead(origin, object))
    return std::nullopt;
  return object.str();
}

/// Whole or not at all.
static bool writeObject(const std::string &option, const std::string &path,
                        StringRef head, StringRef object) {
  llvm::Error error =
      llvm::writeToOutput(path, [&](llvm::raw_ostream &stream) -> llvm::Error {
        stream << head << object;
        return llvm::Error::success();
      });
  return !error || reportError(option + " " + path + ": cannot write: " +
                               llvm::toString(std::move(error)));
}

FailureOr<std::unique_ptr<CpuJit>>
attn::run::getCompiled(func::FuncOp function, const Options &options) {
  if (options.object.empty())
    return compileForCpu(function, CpuPath::Device, options);
  std::string origin = getDigest(function, options);
  if (auto object = readObject(options.object, origin)) {
    auto jit =
        CpuJit::load(function->getParentOfType<ModuleOp>(), function.getName(),
                     function.getFunctionType(), std::move(*object));
    if (succeeded(jit))
      (*jit)->setNumThreads(static_cast<size_t>(options.threads));
    return jit;
  }
  auto jit = compileForCpu(function, CpuPath::Device, options);
  if (failed(jit) ||
      !writeObject("--object", options.object,
                   getHead(origin, (*jit)->getObject()), (*jit)->getObject()))
    return failure();
  return jit;
}

static std::string describe(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

bool attn::run::emitObject(func::FuncOp function, const Options &options) {
  for (ArrayRef<Type> types :
       {function.getArgumentTypes(), function.getResultTypes()})
    for (Type type : types) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !getDType(tensor.getElementType()))
        return reportError("--emit-object: expected ranked tensors of a type "
                           "that the host has, got " +
                           describe(type));
    }
  CpuFunction::setArgumentLayouts(function);
  auto jit = compileForCpu(function, CpuPath::Device, options);
  return succeeded(jit) &&
         writeObject("--emit-object", options.emitObject, "",
                     CpuFunction::write(function.getFunctionType(),
                                        (*jit)->getObject()));
}
