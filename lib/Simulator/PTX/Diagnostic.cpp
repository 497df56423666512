//===- Diagnostic.cpp - Findings ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Module.h"

#include <cstdarg>
#include <cstdio>

using namespace attn::sim;

/// Findings beyond this number are dropped under keepGoing.
static constexpr size_t maxFindings = 50;

std::string attn::sim::format(const char *text, ...) {
  char buffer[2048];
  va_list arguments;
  va_start(arguments, text);
  vsnprintf(buffer, sizeof buffer, text, arguments);
  va_end(arguments);
  return buffer;
}

void attn::sim::failPtx(const std::string &file, uint32_t line,
                        const std::string &message) {
  Diagnostic diagnostic;
  diagnostic.finding = Finding::Ptx;
  diagnostic.file = file;
  diagnostic.line = line;
  diagnostic.message = message;
  throw SimulationError(std::move(diagnostic));
}

const char *attn::sim::name(Finding finding) {
  switch (finding) {
  case Finding::Ptx:
    return "ptx";
  case Finding::Memory:
    return "memcheck";
  case Finding::Init:
    return "initcheck";
  case Finding::Race:
    return "racecheck";
  case Finding::Sync:
    return "synccheck";
  case Finding::Async:
    return "asynccheck";
  case Finding::Proxy:
    return "proxycheck";
  case Finding::Trap:
    return "trap";
  }
  return "";
}

std::string Diagnostic::str() const {
  std::string out = file;
  if (line)
    out += format("%s%u", out.empty() ? "line " : ":", line);
  if (!out.empty())
    out += ": ";
  out += "error: ";
  if (finding != Finding::Ptx)
    out += std::string(name(finding)) + ": ";
  out += message;
  if (hasThread)
    out += format("\n  in kernel %.200s, CTA (%u,%u,%u), warp %u, lanes %08x",
                  kernel.c_str(), cta[0], cta[1], cta[2], warp, lanes);
  if (!text.empty())
    out += "\n    " + text;
  if (!remedy.empty())
    out += "\n  remedy: " + remedy;
  return out;
}

static Diagnostic makeDiagnostic(const Warp &warp,
                                 const Instruction &instruction,
                                 Finding finding, const std::string &message,
                                 const std::string &remedy) {
  Diagnostic diagnostic;
  diagnostic.finding = finding;
  diagnostic.message = message;
  diagnostic.remedy = remedy;
  diagnostic.file = warp.program->module->fileName();
  diagnostic.line = instruction.line;
  diagnostic.kernel = warp.program->name;
  diagnostic.text = instruction.text;
  diagnostic.hasThread = true;
  for (size_t i = 0; i < 3; ++i)
    diagnostic.cta[i] = warp.cta->index[i];
  diagnostic.warp = warp.id;
  diagnostic.lanes = warp.active;
  return diagnostic;
}

void attn::sim::fault(const Warp &warp, const Instruction &instruction,
                      Finding finding, const std::string &message,
                      const std::string &remedy) {
  throw SimulationError(
      makeDiagnostic(warp, instruction, finding, message, remedy));
}

void attn::sim::report(const Warp &warp, const Instruction &instruction,
                       Finding finding, const std::string &message,
                       const std::string &remedy) {
  if (!options(warp).keepGoing)
    fault(warp, instruction, finding, message, remedy);
  LaunchContext &launch = *warp.worker->launch;
  std::lock_guard<std::mutex> lock(launch.mutex);
  if (launch.findings.size() < maxFindings)
    launch.findings.push_back(
        makeDiagnostic(warp, instruction, finding, message, remedy));
}
