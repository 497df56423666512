//===- BundleTest.cpp - Tests of the bundle's reader and writer -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Bundle.h"

#include "TestManifest.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::runtime;

namespace {

/// Two programs that differ in name; the second takes the first one's output.
Bundle makeBundle() {
  Manifest first = *readManifest(testManifestText), second = first;
  first.name = "first";
  second.name = "second";
  Bundle bundle{"model", first.target, first.ptx, {first, second}, {}};
  ProgramCall call{"f", "first", {}, {{"query", {0, std::nullopt, ""}}}, {}};
  bundle.calls.push_back(call);
  bundle.calls.push_back({"f",
                          "second",
                          {"scf.for", "scf.if"},
                          {{"key", {std::nullopt, 0, "output"}}},
                          {{"output", 3}}});
  return bundle;
}

/// What the reader says of the bundle with `from` replaced.
std::string errorAfter(const std::string &from, const std::string &to) {
  std::string text = writeBundle(makeBundle());
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  Result<Bundle> bundle = readBundle(text);
  return bundle ? "" : bundle.error();
}

TEST(Bundle, IsWhatWasWritten) {
  std::string text = writeBundle(makeBundle());
  Result<Bundle> bundle = readBundle(text);
  ASSERT_TRUE(bool(bundle)) << bundle.error();
  EXPECT_EQ(writeBundle(*bundle), text);
  ASSERT_EQ(bundle->calls.size(), 2u);
  const ProgramCall &call = bundle->calls[1];
  EXPECT_EQ(call.within, (std::vector<std::string>{"scf.for", "scf.if"}));
  EXPECT_EQ(call.inputs.at("key").call, 0);
  EXPECT_EQ(call.inputs.at("key").operand, "output");
  EXPECT_EQ(call.results.at("output"), 3);
  EXPECT_EQ(bundle->calls[0].inputs.at("query").argument, 0);
}

TEST(Bundle, OfOneProgramIsItsManifest) {
  Result<Bundle> bundle = readBundle(testManifestText);
  ASSERT_TRUE(bool(bundle)) << bundle.error();
  Manifest manifest = *readManifest(testManifestText);
  EXPECT_EQ(writeBundle(*bundle), writeManifest(manifest));
  EXPECT_EQ(selectProgram(*bundle, "")->name, manifest.name);
}

TEST(Bundle, ProgramsHaveNames) {
  Bundle bundle = makeBundle();
  EXPECT_EQ(selectProgram(bundle, "second")->name, "second");
  EXPECT_EQ(selectProgram(bundle, "third").error(),
            "expected the name of a program (first, second), got 'third'");
  EXPECT_EQ(readManifest(writeBundle(bundle)).error(),
            "expected the name of a program (first, second), got none");
}

TEST(Bundle, ErrorsNameThePath) {
  EXPECT_EQ(errorAfter("\"role\": \"input\"", "\"role\": \"in\""),
            "programs[0].operands[0].role: expected one of input, output, "
            "inout, got 'in'");
  EXPECT_EQ(errorAfter("\"name\": \"second\"", "\"name\": \"first\""),
            "programs[1].name: 'first' is already used");
  EXPECT_EQ(errorAfter("\"program\": \"second\"", "\"program\": \"third\""),
            "calls[1].program: no program 'third'");
  EXPECT_EQ(errorAfter("\"query\": {", "\"quary\": {"),
            "calls[0].inputs: no operand 'quary'");
  EXPECT_EQ(errorAfter("\"call\": 0", "\"call\": 1"),
            "calls[1].inputs.key: expected an earlier call");
  EXPECT_EQ(errorAfter("\"operand\": \"output\"\n        }\n      },",
                       "\"operand\": \"out\"\n        }\n      },"),
            "calls[1].inputs.key: no operand 'out' of call 0");
  EXPECT_EQ(errorAfter("\"output\": 3", "\"o\": 3"),
            "calls[1].results: no operand 'o'");
  EXPECT_EQ(errorAfter("\"calls\"", "\"call\""),
            "manifest: unknown field 'call'");
}

} // namespace
