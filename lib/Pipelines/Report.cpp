//===- Report.cpp - What the compiler decided -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

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

std::string attn::writeReport(const runtime::Manifest &manifest,
                              llvm::ArrayRef<std::string> selections,
                              llvm::ArrayRef<json::Value> masks,
                              llvm::ArrayRef<Note> notes,
                              llvm::ArrayRef<StepTime> times) {
  json::Array selectionList;
  for (const std::string &selection : selections)
    selectionList.push_back(parseObject(selection));
  json::Array noteList;
  for (const Note &note : notes)
    noteList.push_back(json::Object{{"severity", note.severity},
                                    {"location", note.location},
                                    {"message", note.message}});
  json::Array timeList;
  for (const StepTime &time : times)
    timeList.push_back(
        json::Object{{"step", time.step}, {"milliseconds", time.milliseconds}});
  json::Value report = json::Object{
      {"schema", "attn-mlir/report/1"},
      {"name", manifest.name},
      {"target", manifest.target},
      {"schedule", parseObject(manifest.schedule)},
      {"semantics", parseObject(manifest.semantics)},
      {"kernels", describeKernels(manifest)},
      {"predicted_bytes", describeTraffic(manifest)},
      {"selections", std::move(selectionList)},
      {"masks", json::Array(masks)},
      {"notes", std::move(noteList)},
      {"times", std::move(timeList)},
  };
  return llvm::formatv("{0:2}\n", report);
}
