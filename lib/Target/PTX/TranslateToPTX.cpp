//===- TranslateToPTX.cpp - From the nvvm form to PTX ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the module, translates it to LLVM IR and runs the NVPTX backend on it.
// No LLVM middle-end passes run: the lowering writes the instructions it wants,
// and of the passes that the backend runs those that find nothing in a kernel
// are left out.
//
//===----------------------------------------------------------------------===//

#include "attn/Target/PTX/TranslateToPTX.h"

#include "attn/Dialect/Launch/IR/Launch.h"
#include "attn/Dialect/PTX/IR/PTX.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/LLVMTranslationInterface.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace attn;

// llvm/Support/TargetSelect.h only declares the host's targets by name.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace {
/// A program is no code of the device.
class ProgramTranslation : public LLVMTranslationDialectInterface {
public:
  using LLVMTranslationDialectInterface::LLVMTranslationDialectInterface;
  LogicalResult convertOperation(Operation *, llvm::IRBuilderBase &,
                                 LLVM::ModuleTranslation &) const override {
    return success();
  }
};
} // namespace

void attn::registerPTXTranslation(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, launch::AttnLaunchDialect *dialect) {
    dialect->addInterfaces<ProgramTranslation>();
  });
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

//===----------------------------------------------------------------------===//
// What the backend accepts
//===----------------------------------------------------------------------===//

static const llvm::Triple &getTriple() {
  static const llvm::Triple triple("nvptx64-nvidia-cuda");
  return triple;
}

/// LLVM's NVPTX target, registered on first use. Null if LLVM was built
/// without it.
static const llvm::Target *getNVPTXTarget() {
  static const llvm::Target *const target = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    std::string ignored;
    return llvm::TargetRegistry::lookupTarget(getTriple(), ignored);
  }();
  return target;
}

/// True if a block of PTX has `part` in it.
static bool hasAsm(ModuleOp module, StringRef part) {
  WalkResult result = module.walk([&](LLVM::InlineAsmOp op) {
    return op.getAsmString().contains(part) ? WalkResult::interrupt()
                                            : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// The version of PTX beyond the first one that has the chip, as a feature of
/// LLVM's: products of 8-bit types came with 8.4 (PTX ISA, "mma.sync"), for
/// sm_89 conversions of 8-bit floats with 8.1 (PTX ISA, "cvt"), predicates of
/// copies with 7.5 (PTX ISA, "cp.async"), and chips from sm_100 on with later
/// ones.
static StringRef getPtxFeature(ModuleOp module, StringRef chip) {
  unsigned version = 0;
  StringRef digits = chip.drop_while([](char c) { return !llvm::isDigit(c); });
  if (!digits.consumeInteger(10, version) && version >= 100)
    return "";
  if (hasAsm(module, "mma.sync.aligned.m16n8k32"))
    return "+ptx84";
  bool converts = hasAsm(module, ".e4m3x2") || hasAsm(module, ".e5m2x2");
  if (chip == "sm_89" && converts)
    return "+ptx81";
  return version < 89 && hasAsm(module, "%ignored") ? "+ptx75" : "";
}

/// A target machine for the chip, or null after an error at the module.
static std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const PTXOptions &options, ModuleOp module) {
  Location loc = module.getLoc();
  const llvm::Target *target = getNVPTXTarget();
  if (!target) {
    emitError(loc, "expected an LLVM with the NVPTX target, got one without");
    return nullptr;
  }
  // Without this check LLVM would warn and go on with its default chip.
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(getTriple(), /*CPU=*/"", /*Features=*/""));
  if (!subtarget->isCPUStringValid(options.chip)) {
    emitError(loc) << "expected a chip that LLVM's NVPTX target knows, got '"
                   << options.chip << "'";
    return nullptr;
  }
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      getTriple(), options.chip, getPtxFeature(module, options.chip),
      llvm::TargetOptions(), llvm::Reloc::PIC_, /*CM=*/std::nullopt,
      llvm::CodeGenOptLevel::Default));
}

/// The version in a name that createTargetMachine has checked: "sm_90a". Of the
/// instructions of sm_100a that this compiler emits sm_103a has all ("f"
/// features, PTX ISA, .target), which MLIR 22 does not know.
static NVVM::NVVMCheckSMVersion parseChip(StringRef chip) {
  int version = 0;
  chip.drop_front(strlen("sm_"))
      .take_while([](char c) { return llvm::isDigit(c); })
      .getAsInteger(10, version);
  if (version == 103)
    version = 100;
  return {/*archAccelerated=*/chip.ends_with("a"), version};
}

/// The chips that an operation runs on, for messages.
static std::string describe(const NVVM::NVVMCheckSMVersion &required) {
  std::string text;
  for (int version : required.smVersionList)
    text += (text.empty() ? "sm_" : " or sm_") + std::to_string(version) +
            (required.archAccelerated ? "a" : "");
  return required.archAccelerated ? text : text + " or newer";
}

/// Checks that inline assembly names only operands that it has: `$N` or
/// `${N:modifier}`, N below the number of its constraints, as LLVM's language
/// reference has it ("Inline Asm template").
static LogicalResult checkOperands(LLVM::InlineAsmOp op) {
  SmallVector<StringRef> constraints;
  op.getConstraints().split(constraints, ',', /*MaxSplit=*/-1,
                            /*KeepEmpty=*/false);
  // Clobbers ("~{memory}") are no operands.
  unsigned count = llvm::count_if(
      constraints, [](StringRef text) { return !text.starts_with("~"); });
  StringRef text = op.getAsmString();
  for (size_t at = text.find('$'); at != StringRef::npos; at = text.find('$')) {
    StringRef reference = text.drop_front(at);
    text = reference.drop_front();
    if (text.consume_front("$"))
      continue;
    bool braced = text.consume_front("{");
    unsigned number = 0;
    bool named = !text.consumeInteger(10, number) && number < count &&
                 (!braced || text.starts_with("}") || text.starts_with(":"));
    if (!named)
      return op.emitOpError("expected '$' to name one of ")
             << count << " operands of the assembly, got '"
             << reference.take_until([](char c) {
                  return c == ',' || c == ';' || llvm::isSpace(c);
                })
             << "'";
  }
  return success();
}

LogicalResult attn::checkLLVMTypes(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (!isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
      return WalkResult::advance();
    for (NamedAttribute attribute : op->getAttrs())
      if (auto type = dyn_cast<TypeAttr>(attribute.getValue());
          type && !LLVM::isCompatibleType(type.getValue())) {
        op->emitOpError("expected ")
            << attribute.getName() << " to be a type of LLVM IR, got " << type;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// The chips that an op is for; nothing if all have it.
static std::optional<NVVM::NVVMCheckSMVersion> getRequirement(Operation *op) {
  // Upstream's op does not say so (PTX ISA, "griddepcontrol").
  if (isa<NVVM::GriddepcontrolOp>(op))
    return NVVM::NVVMCheckSMVersion(false, 90);
  auto requirement = dyn_cast<NVVM::RequiresSMInterface>(op);
  if (!requirement)
    return std::nullopt;
  return NVVM::NVVMCheckSMVersion(requirement.getRequiredMinSMVersion());
}

/// Checks the facts of the nvvm form, and that the chip has what every
/// operation needs: the backend would abort on all of it.
static LogicalResult checkModule(ModuleOp module, const PTXOptions &options) {
  if (llvm::none_of(
          module.getOps<LLVM::LLVMFuncOp>(), [](LLVM::LLVMFuncOp func) {
            return func->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
          }))
    return emitError(module.getLoc(), "expected an llvm.func with nvvm.kernel, "
                                      "got a module without one");

  if (failed(checkLLVMTypes(module)))
    return failure();
  NVVM::NVVMCheckSMVersion chip = parseChip(options.chip);
  WalkResult result =
      module.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isa<launch::ProgramOp>(op))
          return WalkResult::skip();
        if (!isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(
                op->getDialect())) {
          op->emitError("expected only llvm and nvvm operations, got '")
              << op->getName() << "'";
          return WalkResult::interrupt();
        }
        auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
        if (assembly && failed(checkOperands(assembly)))
          return WalkResult::interrupt();
        auto required = getRequirement(op);
        if (!required || required->isCompatibleWith(chip))
          return WalkResult::advance();
        op->emitOpError("expected target ")
            << describe(*required) << ", got " << options.chip;
        return WalkResult::interrupt();
      });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

namespace {
/// Turns what LLVM reports into MLIR diagnostics, located at the function that
/// it is about. LLVM's own handler would print and exit the process.
class DiagnosticForwarder : public llvm::DiagnosticHandler {
public:
  explicit DiagnosticForwarder(ModuleOp module) : module(module) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    if (info.getSeverity() == llvm::DS_Error) {
      HasErrors = true;
      emitError(locate(info)) << "NVPTX code generation failed: " << text;
    } else if (info.getSeverity() == llvm::DS_Warning) {
      emitWarning(locate(info)) << "NVPTX code generation: " << text;
    }
    return true;
  }

private:
  Location locate(const llvm::DiagnosticInfo &info) {
    if (auto *unsupported =
            llvm::dyn_cast<llvm::DiagnosticInfoUnsupported>(&info))
      if (Operation *func =
              module.lookupSymbol(unsupported->getFunction().getName()))
        return func->getLoc();
    return module.getLoc();
  }

  ModuleOp module;
};

/// Leaves out passes that find nothing in functions that are marked: strength
/// reductions of straight lines, peepholes of a target that has none, and two
/// of the backend's three runs over common subexpressions.
class PassGate : public llvm::OptPassGate {
public:
  explicit PassGate(ModuleOp module) {
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(ptx::plainArithmeticAttrName))
        marked.insert(("function (" + function.getName() + ")").str());
  }
  bool shouldRunPass(StringRef pass, StringRef unit) const override {
    if (!marked.contains(unit))
      return true;
    if (pass == "early-cse")
      return merged.insert(unit).second;
    return pass != "slsr" && pass != "nary-reassociate" &&
           pass != "peephole-opt";
  }
  bool isEnabled() const override { return true; }

private:
  llvm::StringSet<> marked; ///< as LLVM describes them
  /// Those whose common subexpressions are merged. LLVM asks for each run of a
  /// pass, through a const function.
  mutable llvm::StringSet<> merged;
};

/// LLVM IR of a module together with what owns and compiles it.
struct LLVMModule {
  std::unique_ptr<PassGate> gate;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module; // last: goes before its context
};
} // namespace

static FailureOr<LLVMModule> translateToLLVM(ModuleOp module,
                                             const PTXOptions &options) {
  LLVMModule result;
  result.machine = createTargetMachine(options, module);
  if (!result.machine || failed(checkModule(module, options)))
    return failure();
  result.context = std::make_unique<llvm::LLVMContext>();
  result.gate = std::make_unique<PassGate>(module);
  result.context->setOptPassGate(*result.gate);
  result.context->setDiagnosticHandler(
      std::make_unique<DiagnosticForwarder>(module));
  result.module = translateModuleToLLVMIR(module, *result.context,
                                          module.getName().value_or("attn"));
  if (!result.module)
    return failure(); // The translation has said why.
  result.module->setTargetTriple(getTriple());
  result.module->setDataLayout(result.machine->createDataLayout());
  return result;
}

FailureOr<std::string> attn::translateToNVPTXLLVMIR(ModuleOp module,
                                                    const PTXOptions &options) {
  FailureOr<LLVMModule> translated = translateToLLVM(module, options);
  if (failed(translated))
    return failure();
  std::string text;
  llvm::raw_string_ostream(text) << *translated->module;
  return text;
}

FailureOr<std::string> attn::translateToPTX(ModuleOp module,
                                            const PTXOptions &options) {
  FailureOr<LLVMModule> translated = translateToLLVM(module, options);
  if (failed(translated))
    return failure();
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager codegen;
  // The translation has verified the module.
  if (translated->machine->addPassesToEmitFile(
          codegen, stream, /*DwoOut=*/nullptr,
          llvm::CodeGenFileType::AssemblyFile, /*DisableVerify=*/true))
    return emitError(module.getLoc(),
                     "expected an NVPTX target that writes assembly text, got "
                     "one that cannot");
  codegen.run(*translated->module);
  if (translated->context->getDiagHandlerPtr()->HasErrors)
    return failure();
  return std::string(text);
}
