//===- Module.cpp - A PTX file --------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Module.h"
#include "ModuleParser.h"
#include "isa/Wgmma.h"

#include <cstdlib>

using namespace attn::sim;

/// Function "addresses" are numbers far from any memory.
static constexpr u64 functionAddressBase = 0x7f00000000ull;

Module::Module(DeviceMemory &memory, std::string source,
               const std::string &fileName)
    : memory(memory), text(std::move(source)), tokens(text, fileName) {
  ModuleParser(*this).run();
  u64 address = functionAddressBase;
  for (const std::string &name : functionOrder)
    functionAddresses[name] = address += 16;
  applyRelocations();
}

Module::~Module() {
  for (u64 address : ownedMemory)
    memory.release(address);
}

void Module::applyRelocations() {
  for (const Relocation &relocation : relocations) {
    u64 value = 0;
    if (const Symbol *symbol = findVariable(relocation.symbol)) {
      if (symbol->kind == Symbol::Kind::Shared)
        failPtx(fileName(), relocation.line,
                "initialiser takes the address of shared variable '" +
                    relocation.symbol + "'");
      value = symbol->offset;
    } else if (u64 address = functionAddress(relocation.symbol)) {
      value = address;
    } else {
      failPtx(fileName(), relocation.line,
              "initialiser names unknown symbol '" + relocation.symbol + "'");
    }
    value += relocation.addend;
    std::memcpy(reinterpret_cast<void *>(relocation.address), &value,
                relocation.bytes);
  }
}

int Module::chip() const {
  size_t digits = targetName.find_first_of("0123456789");
  return digits == std::string::npos ? 0 : std::atoi(&targetName[digits]);
}

const FunctionDecl *Module::findFunction(const std::string &name) const {
  auto it = functions.find(name);
  return it == functions.end() ? nullptr : &it->second;
}

const Symbol *Module::findVariable(const std::string &name) const {
  auto it = variables.find(name);
  return it == variables.end() ? nullptr : &it->second;
}

std::vector<std::string> Module::entries() const {
  std::vector<std::string> names;
  for (const std::string &name : functionOrder) {
    const FunctionDecl &function = functions.at(name);
    if (function.isEntry && function.hasBody)
      names.push_back(name);
  }
  return names;
}

u64 Module::functionAddress(const std::string &name) const {
  auto it = functionAddresses.find(name);
  return it == functionAddresses.end() ? 0 : it->second;
}

std::vector<std::string> Module::addressTakenFunctions() const {
  std::vector<std::string> names;
  for (const Relocation &relocation : relocations)
    if (findFunction(relocation.symbol))
      names.push_back(relocation.symbol);
  return names;
}

const Program &Module::program(const std::string &entry, bool keepRegisters) {
  std::lock_guard<std::mutex> lock(programMutex);
  std::unique_ptr<Program> &program = programs[{entry, keepRegisters}];
  if (program)
    return *program;
  const FunctionDecl *function = findFunction(entry);
  if (!function || !function->isEntry || !function->hasBody)
    failPtx(fileName(), 0, "no entry named '" + entry + "'");
  program = buildProgram(*this, tokens, *function);
  if (!keepRegisters)
    allocateRegisters(*program);
  noteStampedSlots(*program);
  return *program;
}
