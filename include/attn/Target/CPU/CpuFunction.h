//===- CpuFunction.h - Compiled functions of other processes ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that one process compiles and others call, on arrays of any
// strides whose last dimension is contiguous. Its file is a line of JSON, the
// version, the host and the types of arguments and results, and an object.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_CPU_CPUFUNCTION_H
#define ATTN_TARGET_CPU_CPUFUNCTION_H

#include "attn/Runtime/HostTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace attn {

/// The processor, as far as code depends on it.
std::string describeHost();

/// An array of the caller's; strides in elements.
struct ArrayLayout {
  std::string dtype;
  std::vector<int64_t> shape, strides;
};

class CpuFunction {
public:
  /// Lets the arguments of `function`, of rank 2 or more, have any strides but
  /// for the last dimension. To be called before the CPU pipeline.
  static void setArgumentLayouts(mlir::func::FuncOp function);

  /// The file of a function of that signature, ranked tensors alone, compiled
  /// to `object` with the arguments' layouts.
  static std::string write(mlir::FunctionType signature,
                           llvm::StringRef object);
  /// From what `write` gave in a process of the same version and processor.
  static llvm::Expected<std::unique_ptr<CpuFunction>>
  load(llvm::StringRef file);
  ~CpuFunction();

  size_t getNumResults() const { return results.size(); }

  /// Checks types, ranks, static sizes and strides. That sizes agree which the
  /// function takes to be equal is the caller's to check.
  llvm::Error check(llvm::ArrayRef<ArrayLayout> arguments) const;

  /// What a call returned: memory that goes with it.
  class Results;

  /// Calls the function on as many threads (0: one for each core). The
  /// arguments are of layouts that `check` took; `addresses` are those of
  /// element (0, 0, ...) of each.
  Results call(llvm::ArrayRef<ArrayLayout> arguments,
               llvm::ArrayRef<void *> addresses, size_t numThreads) const;

private:
  struct TensorType {
    runtime::DType dtype;
    std::string name;
    std::vector<int64_t> shape; // -1 where it is not known
  };
  CpuFunction();
  llvm::Error parseTypes(llvm::StringRef line);

  std::vector<TensorType> arguments, results;
  std::unique_ptr<llvm::orc::LLJIT> code;
  void (*entry)(void **) = nullptr;
};

class CpuFunction::Results {
public:
  Results(Results &&other) = default;
  Results &operator=(Results &&) = delete;
  ~Results();

  size_t size() const { return types->size(); }
  llvm::ArrayRef<int64_t> getShape(size_t index) const;
  /// To an array of the same sizes.
  void copyTo(size_t index, void *address,
              llvm::ArrayRef<int64_t> strides) const;

private:
  friend class CpuFunction;
  explicit Results(const std::vector<TensorType> &types);
  const int64_t *getDescriptor(size_t index) const;

  const std::vector<TensorType> *types;
  /// One memref descriptor after the other.
  std::vector<int64_t> words;
};

} // namespace attn

#endif // ATTN_TARGET_CPU_CPUFUNCTION_H
