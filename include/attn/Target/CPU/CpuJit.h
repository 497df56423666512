//===- CpuJit.h - Run a compiled module on the host -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a module of the LLVM dialect for the host, in process, and calls one
// of its functions on host tensors. The module comes from any pipeline that
// keeps the calling convention of buildLinalgToLLVMStage: a C interface whose
// arguments and results are memref descriptors, and results that the caller
// frees.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_CPU_CPUJIT_H
#define ATTN_TARGET_CPU_CPUJIT_H

#include "attn/Runtime/HostTensor.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Support/LLVM.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace attn {

/// The element type as the runtime knows it; nothing for types that no host
/// tensor has.
std::optional<runtime::DType> getDType(mlir::Type type);

/// The MLIR type of elements of `dtype`.
mlir::Type getElementType(mlir::MLIRContext *context, runtime::DType dtype);

/// A function of the host that compiled code calls: tensors to tensors. There
/// is no way back through compiled code from one that fails: it ends the
/// process.
struct HostFunction {
  /// Ranked tensors alone.
  mlir::FunctionType type;
  std::function<std::vector<runtime::HostTensor>(
      const std::vector<runtime::HostTensor> &)>
      call;
};

/// By the names of the module's external functions.
using HostFunctions = std::map<std::string, HostFunction>;

/// A compiled function.
class CpuJit {
public:
  /// Compiles `function` of `module` for the host. Without `simplify` the code
  /// is made faster and runs slower.
  /// `signature` is the function's type as it was on tensors: ranked tensors,
  /// or scalars among the arguments. Calls of external functions go to
  /// `externals`. Diagnostics go to the module's location.
  static mlir::FailureOr<std::unique_ptr<CpuJit>>
  compile(mlir::ModuleOp module, llvm::StringRef function,
          mlir::FunctionType signature, bool simplify = true,
          const HostFunctions &externals = {});
  /// From the object file of a function without external functions that was
  /// compiled for a host like this one.
  static mlir::FailureOr<std::unique_ptr<CpuJit>>
  load(mlir::ModuleOp module, llvm::StringRef function,
       mlir::FunctionType signature, std::string object);
  ~CpuJit();

  /// What `load` takes.
  llvm::StringRef getObject() const { return object; }

  /// On how many threads calls run; 0: one for each core.
  void setNumThreads(size_t number) { numThreads = number; }

  /// The memory that a result is copied to.
  using Allocator = llvm::function_ref<char *(
      runtime::DType dtype, const std::vector<int64_t> &shape)>;

  /// Calls the function; the arguments' ranks and element types must be those
  /// of the signature (scalars have rank 0). A failed cf.assert of the module
  /// prints its message and ends the process with exit code 1. `seconds`
  /// receives the time of the call alone, without copying the results.
  void run(llvm::ArrayRef<runtime::TensorView> arguments, Allocator allocate,
           double *seconds = nullptr);
  std::vector<runtime::HostTensor>
  run(llvm::ArrayRef<runtime::HostTensor> arguments, double *seconds = nullptr);

private:
  CpuJit();

  /// Without code.
  static mlir::FailureOr<std::unique_ptr<CpuJit>>
  create(mlir::ModuleOp module, llvm::StringRef function,
         mlir::FunctionType signature);
  /// That of `object`.
  mlir::LogicalResult loadCode(mlir::ModuleOp module);

  std::string object;
  std::unique_ptr<llvm::orc::LLJIT> code;
  void (*entry)(void **) = nullptr;
  size_t numThreads = 0;
  struct TensorType {
    runtime::DType dtype;
    int64_t rank;
  };
  /// A HostFunction and the types of its descriptors, at an address that
  /// compiled code holds.
  struct External;

  static mlir::FailureOr<std::vector<TensorType>>
  getTensorTypes(mlir::ModuleOp module, llvm::StringRef function,
                 mlir::TypeRange types);
  static void callExternal(const External *external, const int64_t **arguments,
                           int64_t *results);
  mlir::LogicalResult defineExternals(mlir::ModuleOp module,
                                      const HostFunctions &externals);

  /// Of the signature: which arguments are scalars; the results' types.
  std::vector<bool> isScalar;
  std::vector<TensorType> results;
  std::vector<std::unique_ptr<External>> externals;
};

} // namespace attn

#endif // ATTN_TARGET_CPU_CPUJIT_H
