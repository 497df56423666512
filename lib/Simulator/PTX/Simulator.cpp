//===- Simulator.cpp - The public interface -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Simulator/Simulator.h"
#include "Launch.h"
#include "Module.h"

using namespace attn::sim;
using attn::Error;
using attn::Result;

Device::Device(uint32_t smCount)
    : sms(smCount), deviceMemory(std::make_unique<DeviceMemory>()) {}

Device::~Device() = default;

uint64_t Device::allocate(size_t bytes, const std::string &name,
                          bool readOnly) {
  try {
    return deviceMemory->allocate(bytes, name, readOnly);
  } catch (const SimulationError &) {
    return 0;
  }
}

void Device::release(uint64_t address) { deviceMemory->release(address); }

Result<std::shared_ptr<Module>> Device::load(const std::string &ptx,
                                             const std::string &fileName) {
  try {
    return std::make_shared<Module>(*deviceMemory, ptx, fileName);
  } catch (const SimulationError &error) {
    return Error{error.diagnostic.str()};
  }
}

LaunchReport Device::launch(Module &module, const std::string &entry,
                            const LaunchConfig &config,
                            const Options &options) {
  try {
    return runLaunch(*deviceMemory, sms, module, entry, config, options);
  } catch (const SimulationError &error) {
    LaunchReport report;
    report.diagnostics.push_back(error.diagnostic);
    return report;
  }
}

std::string attn::sim::moduleTarget(const Module &module) {
  return module.target();
}

std::vector<std::string> attn::sim::entryNames(const Module &module) {
  return module.entries();
}

Result<std::vector<EntryParameter>>
attn::sim::entryParameters(const Module &module, const std::string &entry) {
  const FunctionDecl *function = module.findFunction(entry);
  if (!function || !function->isEntry)
    return Error{module.fileName() + ": no entry named '" + entry + "'"};
  std::vector<EntryParameter> parameters;
  for (const ParameterDecl &parameter : function->parameters)
    parameters.push_back({parameter.name, parameter.offset, parameter.bytes,
                          parameter.alignment});
  return parameters;
}

uint64_t attn::sim::symbolAddress(const Module &module, const std::string &name,
                                  uint64_t *bytes) {
  const Symbol *symbol = module.findVariable(name);
  if (!symbol)
    return 0;
  if (bytes)
    *bytes = symbol->bytes;
  return symbol->offset;
}
