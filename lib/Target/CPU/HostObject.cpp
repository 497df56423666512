//===- HostObject.cpp - Machine code for this host ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostObject.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace attn;

static llvm::Expected<llvm::orc::JITTargetMachineBuilder> detectHost() {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (builder)
    builder->setRelocationModel(llvm::Reloc::PIC_);
  return builder;
}

/// Adds the packed entry: it loads the arguments of `interface` from their
/// addresses.
static void buildPackedEntry(llvm::Function &interface) {
  llvm::Module &module = *interface.getParent();
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto *entry = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer}, false),
      llvm::Function::ExternalLinkage, kPackedEntry, module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", entry));
  SmallVector<llvm::Value *> arguments;
  for (llvm::Argument &argument : interface.args()) {
    llvm::Value *slot = builder.CreateConstGEP1_64(pointer, entry->getArg(0),
                                                   argument.getArgNo());
    llvm::Value *address = builder.CreateLoad(pointer, slot);
    arguments.push_back(builder.CreateLoad(argument.getType(), address));
  }
  builder.CreateCall(&interface, arguments);
  builder.CreateRetVoid();
}

/// Removes what the lowering computes twice or in each turn of a loop. The rest
/// of -O1 takes four times as long and makes vector code no faster.
static llvm::Error simplifyCode(llvm::Module &module,
                                llvm::TargetMachine &machine) {
  llvm::PassBuilder passes(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager pipeline;
  if (llvm::Error error = passes.parsePassPipeline(
          pipeline, "function(early-cse,simplifycfg,loop-mssa(licm))"))
    return error;
  pipeline.run(module, modules);
  return llvm::Error::success();
}

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Expected<std::string>
attn::compileToObject(ModuleOp module, StringRef function, bool simplify) {
  auto host = detectHost();
  if (!host)
    return host.takeError();
  host->setCodeGenOptLevel(simplify ? llvm::CodeGenOptLevel::Less
                                    : llvm::CodeGenOptLevel::None);
  auto machine = host->createTargetMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context);
  if (!code)
    return makeError("cannot translate the module to LLVM IR");
  code->setDataLayout((*machine)->createDataLayout());
  code->setTargetTriple((*machine)->getTargetTriple());
  llvm::Function *interface =
      code->getFunction(("_mlir_ciface_" + function).str());
  if (!interface)
    return makeError("expected @" + function + " to have a C interface");
  buildPackedEntry(*interface);
  if (simplify)
    if (llvm::Error error = simplifyCode(*code, **machine))
      return error;
  SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager codegen;
  // The translation has verified the module.
  if ((*machine)->addPassesToEmitFile(codegen, stream, nullptr,
                                      llvm::CodeGenFileType::ObjectFile,
                                      /*DisableVerify=*/true))
    return makeError("the host's code generator writes no object files");
  codegen.run(*code);
  return std::string(object.begin(), object.end());
}

llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> attn::loadObject(
    StringRef object,
    llvm::function_ref<llvm::orc::SymbolMap(llvm::orc::MangleAndInterner)>
        symbols) {
  auto host = detectHost();
  if (!host)
    return host.takeError();
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(*host))
                 .create();
  if (!jit)
    return jit.takeError();
  llvm::orc::JITDylib &library = (*jit)->getMainJITDylib();
  llvm::orc::MangleAndInterner intern((*jit)->getExecutionSession(),
                                      (*jit)->getDataLayout());
  if (llvm::Error error =
          library.define(llvm::orc::absoluteSymbols(symbols(intern))))
    return error;
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  if (llvm::Error error = (*jit)->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(object, "attn")))
    return error;
  return jit;
}
