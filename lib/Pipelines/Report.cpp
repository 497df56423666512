//===- Report.cpp - What the compiler decided -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace attn;
namespace json = llvm::json;

/// A free-form object of the manifest, which its reader has parsed before.
static json::Value parseObject(const std::string &text) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (value)
    return std::move(*value);
  llvm::consumeError(value.takeError());
  return json::Object();
}

static json::Array describeKernels(const runtime::Manifest &manifest) {
  json::Array kernels;
  for (const runtime::Kernel &kernel : manifest.kernels)
    kernels.push_back(json::Object{{"entry", kernel.entry},
                                   {"grid", json::Array(kernel.grid)},
                                   {"block", json::Array(kernel.block)},
                                   {"cluster", json::Array(kernel.cluster)},
                                   {"shared_bytes", kernel.sharedBytes}});
  return kernels;
}

static json::Array describeTraffic(const runtime::Manifest &manifest) {
  json::Array traffic;
  for (const runtime::PredictedBytes &bytes : manifest.predictedBytes)
    traffic.push_back(json::Object{{"operand", bytes.operand},
                                   {"read", bytes.read},
                                   {"write", bytes.write}});
  return traffic;
}

/// What the compiler decided for a program; `choices` are all of its own.
static json::Object describeProgram(const runtime::Manifest &manifest,
                                    llvm::ArrayRef<ProgramChoice> choices) {
  json::Array selections, masks;
  for (const ProgramChoice &choice : choices) {
    selections.push_back(parseObject(choice.selection));
    masks.push_back(choice.mask);
  }
  return json::Object{
      {"name", manifest.name},
      {"schedule", parseObject(manifest.schedule)},
      {"semantics", parseObject(manifest.semantics)},
      {"kernels", describeKernels(manifest)},
      {"predicted_bytes", describeTraffic(manifest)},
      {"selections", std::move(selections)},
      {"masks", std::move(masks)},
  };
}

/// The choices of a program.
static std::vector<ProgramChoice>
filterChoices(llvm::ArrayRef<ProgramChoice> choices, llvm::StringRef program) {
  std::vector<ProgramChoice> own;
  llvm::copy_if(choices, std::back_inserter(own),
                [&](const ProgramChoice &c) { return c.program == program; });
  return own;
}

std::string attn::writeReport(const runtime::Bundle &bundle,
                              llvm::ArrayRef<ProgramChoice> choices,
                              llvm::ArrayRef<Note> notes,
                              llvm::ArrayRef<StepTime> times) {
  json::Object report;
  if (bundle.programs.size() == 1 && bundle.calls.empty()) {
    report = describeProgram(bundle.programs.front(), choices);
  } else {
    json::Array programs;
    for (const runtime::Manifest &program : bundle.programs)
      programs.push_back(
          describeProgram(program, filterChoices(choices, program.name)));
    report["programs"] = std::move(programs);
  }
  json::Array noteList;
  for (const Note &note : notes)
    noteList.push_back(json::Object{{"severity", note.severity},
                                    {"location", note.location},
                                    {"message", note.message}});
  json::Array timeList;
  for (const StepTime &time : times)
    timeList.push_back(
        json::Object{{"step", time.step}, {"milliseconds", time.milliseconds}});
  report["schema"] = "attn-mlir/report/1";
  report["name"] = bundle.name;
  report["target"] = bundle.target;
  report["notes"] = std::move(noteList);
  report["times"] = std::move(timeList);
  return llvm::formatv("{0:2}\n", json::Value(std::move(report)));
}
