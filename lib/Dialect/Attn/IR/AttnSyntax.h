//===- AttnSyntax.h - Custom assembly directives -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Dialect/Attn/IR: the parse and print functions that the ops'
// assembly formats refer to.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_ATTN_IR_ATTNSYNTAX_H
#define LIB_DIALECT_ATTN_IR_ATTNSYNTAX_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// `scale(0.125)`, or nothing.
mlir::OptionalParseResult parseScale(mlir::OpAsmParser &parser,
                                     mlir::FloatAttr &scale);
void printScale(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                mlir::FloatAttr scale);

/// `rate(0.1)`.
mlir::ParseResult parseRate(mlir::OpAsmParser &parser, mlir::FloatAttr &rate);
void printRate(mlir::OpAsmPrinter &printer, mlir::Operation *op,
               mlir::FloatAttr rate);

/// `lengths(key %k : type, query %q : type)`, one or both, or nothing.
mlir::OptionalParseResult
parseLengths(mlir::OpAsmParser &parser,
             std::optional<mlir::OpAsmParser::UnresolvedOperand> &key,
             mlir::Type &keyType,
             std::optional<mlir::OpAsmParser::UnresolvedOperand> &query,
             mlir::Type &queryType);
void printLengths(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::Value key, mlir::Type keyType, mlir::Value query,
                  mlir::Type queryType);

/// `score_mod soft_cap(50.0)`, `score_mod (%s: f32, ...) { ... }`, or nothing.
mlir::OptionalParseResult parseScoreMod(mlir::OpAsmParser &parser,
                                        mlir::Region &region);
void printScoreMod(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                   mlir::Region &region);

/// `mask_mod causal(top_left)`, `mask_mod sliding_window(left, right)`,
/// `mask_mod (%b: index, ...) { ... }`, or nothing.
mlir::OptionalParseResult parseMaskMod(mlir::OpAsmParser &parser,
                                       mlir::Region &region);
void printMaskMod(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::Region &region);

/// `prob_mod (%p: f32, ...) { ... }`, or nothing.
mlir::OptionalParseResult parseProbMod(mlir::OpAsmParser &parser,
                                       mlir::Region &region);
void printProbMod(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::Region &region);

/// `(%x: f32, ...) { ... }`.
mlir::ParseResult parseOutputMod(mlir::OpAsmParser &parser,
                                 mlir::Region &region);
void printOutputMod(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                    mlir::Region &region);

/// `, tensor<...>`, one type for all row values; nothing if there are none.
mlir::ParseResult
parseRowType(mlir::OpAsmParser &parser,
             llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> rows,
             llvm::SmallVectorImpl<mlir::Type> &types);
void printRowType(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::ValueRange rows, mlir::TypeRange types);

/// One type for two values.
/// Types of pools; results are these, and scales where there are some.
mlir::ParseResult parsePoolTypes(mlir::OpAsmParser &parser,
                                 llvm::SmallVectorImpl<mlir::Type> &pools,
                                 llvm::ArrayRef<mlir::Type> scales,
                                 llvm::SmallVectorImpl<mlir::Type> &results);
void printPoolTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                    mlir::TypeRange pools, mlir::TypeRange scales,
                    mlir::TypeRange results);

mlir::ParseResult parseSameType(mlir::OpAsmParser &parser, mlir::Type &first,
                                mlir::Type &second);
void printSameType(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                   mlir::Type first, mlir::Type second);

} // namespace attn

#endif // LIB_DIALECT_ATTN_IR_ATTNSYNTAX_H
