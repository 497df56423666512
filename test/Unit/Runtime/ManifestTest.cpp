//===- ManifestTest.cpp - Reading and writing manifests -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Manifest.h"
#include "TestManifest.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::runtime;

namespace {

/// The message for the test manifest with `from` replaced by `to`.
std::string errorAfter(const std::string &from, const std::string &to) {
  std::string text = testManifestText;
  size_t position = text.find(from);
  EXPECT_NE(position, std::string::npos) << from;
  text.replace(position, from.size(), to);
  Result<Manifest> manifest = readManifest(text);
  EXPECT_FALSE(bool(manifest)) << to;
  return manifest ? "" : manifest.error();
}

TEST(Manifest, ReadsEveryField) {
  Result<Manifest> manifest = readManifest(testManifestText);
  ASSERT_TRUE(bool(manifest)) << manifest.error();
  EXPECT_EQ(manifest->target, "sm_90a");
  ASSERT_EQ(manifest->operands.size(), 3u);
  const Operand &query = manifest->operands[0];
  EXPECT_EQ(query.dtype, DType::BF16);
  EXPECT_EQ(query.role, OperandRole::Input);
  ASSERT_EQ(query.shape.size(), 4u);
  EXPECT_EQ(query.shape[2].symbol, "M");
  EXPECT_EQ(query.shape[3].size, 128);
  EXPECT_EQ(query.strides.multipleOf, 8);
  EXPECT_EQ(manifest->workspaces[0].fill, WorkspaceFill::Zero);
  const Kernel &kernel = manifest->kernels[0];
  EXPECT_EQ(kernel.grid[0], "ceildiv(M, 128)");
  EXPECT_EQ(kernel.block[0], 384);
  EXPECT_EQ(kernel.sharedBytes, "65536");
  ASSERT_EQ(kernel.parameters.size(), 7u);
  const TensorMap &map = kernel.parameters[0].tensorMap;
  EXPECT_EQ(map.dims[0], "128");
  EXPECT_EQ(map.box[1], 128);
  EXPECT_EQ(map.swizzleBytes, 128);
  EXPECT_EQ(kernel.parameters[2].byteOffset, "M * 4");
  EXPECT_EQ(manifest->predictedBytes[0].write, "0");
}

TEST(Manifest, WritingIsAFixedPoint) {
  Result<Manifest> manifest = readManifest(testManifestText);
  ASSERT_TRUE(bool(manifest));
  std::string once = writeManifest(*manifest);
  Result<Manifest> again = readManifest(once);
  ASSERT_TRUE(bool(again)) << again.error();
  EXPECT_EQ(writeManifest(*again), once);
  EXPECT_EQ(once.back(), '\n');
  EXPECT_LT(once.find("\"operands\""), once.find("\"kernels\""));
}

TEST(Manifest, ErrorsNameThePath) {
  EXPECT_EQ(errorAfter("manifest/1", "manifest/9"),
            "manifest: expected schema 'attn-mlir/manifest/1', got "
            "'attn-mlir/manifest/9'");
  EXPECT_EQ(errorAfter("\"target\"", "\"tarhet\""),
            "manifest: unknown field 'tarhet'");
  EXPECT_EQ(errorAfter("\"role\": \"input\"", "\"role\": \"in\""),
            "operands[0].role: expected one of input, output, inout, got "
            "'in'");
  EXPECT_EQ(errorAfter("\"block\": [384, 1, 1]", "\"block\": [2048]"),
            "kernels[0].block[0]: expected 1 to 1024 threads, got 2048");
  EXPECT_EQ(errorAfter("\"block\": [384, 1, 1]", "\"block\": 384"),
            "kernels[0].block: expected an array");
  EXPECT_EQ(errorAfter("\"swizzle\": 128", "\"swizzle\": 96"),
            "kernels[0].parameters[0].swizzle: expected 0, 32, 64 or 128, "
            "got 96");
  EXPECT_EQ(errorAfter("\"box\": [64, 128, 1]", "\"box\": [64, 128]"),
            "kernels[0].parameters[0].box: expected 3 values, got 2");
  EXPECT_EQ(errorAfter("\"pointer\", \"operand\": \"query\"",
                       "\"pointer\", \"operand\": \"quary\""),
            "kernels[0].parameters[1].operand: no operand 'quary'");
  EXPECT_EQ(errorAfter("\"name\": \"key\"", "\"name\": \"query\""),
            "operands[1].name: 'query' is already used");
  EXPECT_EQ(errorAfter("\"entry\": \"attention_kernel\",", ""),
            "kernels[0]: missing field 'entry'");
  EXPECT_EQ(errorAfter("\"alignment_bytes\": 16", "\"alignment_bytes\": 12"),
            "operands[0].alignment_bytes: expected a power of two, got 12");
}

TEST(Manifest, OrderOfLaunches) {
  Result<Manifest> manifest = readManifest(testManifestText);
  ASSERT_TRUE(bool(manifest));
  EXPECT_EQ(manifest->kernels[0].after, LaunchOrder::Previous);
  EXPECT_EQ(writeManifest(*manifest).find("\"after\""), std::string::npos);
  manifest->kernels.push_back(manifest->kernels[0]);
  manifest->kernels[1].after = LaunchOrder::Programmatic;
  Result<Manifest> again = readManifest(writeManifest(*manifest));
  ASSERT_TRUE(bool(again)) << again.error();
  EXPECT_EQ(again->kernels[0].after, LaunchOrder::Previous);
  EXPECT_EQ(again->kernels[1].after, LaunchOrder::Programmatic);

  manifest->target = "sm_80";
  EXPECT_EQ(validate(*manifest)->message,
            "kernels[1].after: expected 'previous' before sm_90, got "
            "'programmatic' for sm_80");
  EXPECT_EQ(errorAfter("\"block\": [384, 1, 1]",
                       "\"after\": \"programmatic\", \"block\": [384]"),
            "kernels[0].after: expected 'previous' of the first kernel, got "
            "'programmatic'");
  EXPECT_EQ(errorAfter("\"block\": [384, 1, 1]",
                       "\"after\": \"now\", \"block\": [384]"),
            "kernels[0].after: expected one of previous, programmatic, got "
            "'now'");
}

TEST(Manifest, ExpressionsAreChecked) {
  EXPECT_EQ(errorAfter("ceildiv(M, 128)", "ceildiv(M 128)"),
            "kernels[0].grid[0]: column 11: expected ',' in "
            "'ceildiv(M 128)'");
  EXPECT_EQ(errorAfter("ceildiv(M, 128)", "ceildiv(Q, 128)"),
            "kernels[0].grid[0]: unknown name 'Q' in 'ceildiv(Q, 128)'");
  EXPECT_EQ(errorAfter("stride(key, 2) * 2", "stride(key, 5) * 2"),
            "kernels[0].parameters[0].strides_bytes[0]: unknown name 'key, "
            "5' in 'stride(key, 5) * 2'");
}

TEST(Manifest, NotJson) {
  Result<Manifest> manifest = readManifest("{\"schema\": ");
  ASSERT_FALSE(bool(manifest));
  EXPECT_EQ(manifest.error().find("manifest is not JSON: "), 0u);
  EXPECT_NE(manifest.error().find("line 1"), std::string::npos);
}

} // namespace
