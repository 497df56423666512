//===- ElementReader.h - What a dialect's ops compute ------------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The capture of attention reads what one element of a tensor is, op by op. It
// knows constants and the tensor dialect by itself, and asks the dialect of any
// other op for this interface. Linalg and TOSA have one; a framework attaches
// one to its own dialect (DialectRegistry::addExtension,
// Dialect::addInterfaces), and its graphs are captured like theirs.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_ELEMENTS_ELEMENTREADER_H
#define ATTN_ANALYSIS_ELEMENTS_ELEMENTREADER_H

#include "attn/Analysis/Elements/ElementWalker.h"

#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/DialectRegistry.h"

namespace attn::raise {

class ElementReader : public mlir::DialectInterface::Base<ElementReader> {
public:
  explicit ElementReader(mlir::Dialect *dialect) : Base(dialect) {}

  /// The element of `result` at `indices`, made of elements of the op's
  /// operands
  /// (`walker.element`); null if it is not known how the op computes it.
  virtual ScalarRef getElement(ElementWalker &walker, mlir::OpResult result,
                               Indices indices) const = 0;

  /// `op` as a contraction of two tensors of floats, if it is one: a product
  /// that attention may consist of.
  virtual std::optional<Contraction> getContraction(ElementWalker &walker,
                                                    mlir::Operation *op) const {
    return std::nullopt;
  }
};

/// Gives `DialectT`, when it is loaded, a reader that calls these two
/// functions.
template <typename DialectT,
          ScalarRef (*getElementOf)(ElementWalker &, mlir::OpResult, Indices),
          std::optional<Contraction> (*getContractionOf)(ElementWalker &,
                                                         mlir::Operation *)>
void registerElementReader(mlir::DialectRegistry &registry) {
  struct Reader final : ElementReader {
    using ElementReader::ElementReader;

    ScalarRef getElement(ElementWalker &walker, mlir::OpResult result,
                         Indices indices) const override {
      return getElementOf(walker, result, indices);
    }
    std::optional<Contraction>
    getContraction(ElementWalker &walker, mlir::Operation *op) const override {
      return getContractionOf(walker, op);
    }
  };
  registry.addExtension(+[](mlir::MLIRContext *, DialectT *dialect) {
    dialect->template addInterfaces<Reader>();
  });
}

} // namespace attn::raise

#endif // ATTN_ANALYSIS_ELEMENTS_ELEMENTREADER_H
