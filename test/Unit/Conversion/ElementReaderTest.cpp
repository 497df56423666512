//===- ElementReaderTest.cpp - Graphs of a dialect from outside -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/Elements/ElementReader.h"
#include "attn/Conversion/LinalgToAttn/LinalgToAttn.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace attn::raise;

namespace {
/// The dialect of some framework, whose op `framework.double` doubles.
struct FrameworkDialect : Dialect {
  explicit FrameworkDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context,
                TypeID::get<FrameworkDialect>()) {
    allowUnknownOperations();
  }
  static StringRef getDialectNamespace() { return "framework"; }
};

struct FrameworkReader final : ElementReader {
  using ElementReader::ElementReader;

  ScalarRef getElement(ElementWalker &walker, OpResult result,
                       Indices indices) const override {
    Operation *op = result.getOwner();
    ScalarGraph &graph = walker.getGraph();
    return graph.mul(walker.element(op->getOperand(0), indices),
                     graph.constant(Number::Float, 2), op);
  }
};

/// The scale of the attention that is captured; none if none is.
std::optional<double> captureScale(bool hasReader) {
  DialectRegistry registry;
  registry.insert<FrameworkDialect>();
  attn::registerElementReaders(registry);
  if (hasReader)
    registry.addExtension(+[](MLIRContext *, FrameworkDialect *dialect) {
      dialect->addInterfaces<FrameworkReader>();
    });
  MLIRContext context(registry);
  context.loadDialect<FrameworkDialect, attn::AttnDialect, func::FuncDialect,
                      linalg::LinalgDialect, math::MathDialect,
                      tensor::TensorDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @f(%q: tensor<2x8x16xf32>, %k: tensor<2x16x8xf32>,
                 %v: tensor<2x8x16xf32>) -> tensor<2x8x16xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<2x8x8xf32>
      %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x8xf32>)
          -> tensor<2x8x8xf32>
      %s = linalg.batch_matmul
          ins(%q, %k : tensor<2x8x16xf32>, tensor<2x16x8xf32>)
          outs(%s0 : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
      %t = "framework.double"(%s) : (tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
      %p = linalg.softmax dimension(2) ins(%t : tensor<2x8x8xf32>)
          outs(%e : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
      %oe = tensor.empty() : tensor<2x8x16xf32>
      %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x8x16xf32>)
          -> tensor<2x8x16xf32>
      %o = linalg.batch_matmul
          ins(%p, %v : tensor<2x8x8xf32>, tensor<2x8x16xf32>)
          outs(%o0 : tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
      return %o : tensor<2x8x16xf32>
    })",
                                                             &context);
  EXPECT_TRUE(module);
  IRRewriter rewriter(&context);
  attn::raiseAttention(rewriter, *module);
  std::optional<double> scale;
  module->walk([&](attn::AttentionOp op) {
    scale = op.getScaleAttr().getValueAsDouble();
  });
  return scale;
}
} // namespace

TEST(ElementReaderTest, ReadsTheOpsOfAnotherDialect) {
  EXPECT_EQ(captureScale(/*hasReader=*/true), 2.0);
}

TEST(ElementReaderTest, CapturesNothingBehindAnOpThatNobodyReads) {
  EXPECT_EQ(captureScale(/*hasReader=*/false), std::nullopt);
}
