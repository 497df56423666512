//===- AttnInterfaces.td - Interfaces of the attn dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTNINTERFACES_TD
#define ATTN_DIALECT_ATTN_IR_ATTNINTERFACES_TD

include "mlir/IR/Interfaces.td"

def Attn_RowReduction : AttrInterface<"RowReductionInterface"> {
  let cppNamespace = "::attn";
  // A default is an attribute class without parameters.
  let constBuilderCall = "$0::get($_builder.getContext())";
  let description = [{
    How the scores of a row become weights of the values, and what the sums of a
    row end in. A step over a tile of keys takes a state, the accumulator and the
    row values, to the next one, by the roles of the row values
    (docs/AddingAnAlgorithm.md):

    ```
    max' = max(max, rowmax S)     if one has the role of a maximum
    w    = exp(S - max')          S itself without a maximum
    a    = exp(max - max')        1 without a maximum
    sum' = a * sum + rowsum w     if one has the role of a sum
    acc' = a * acc + w V
    ```

    The end divides the accumulator. Passes find a row value by its role, and
    nothing by its position.
  }];
  let methods = [
    InterfaceMethod<
      "The row values of the state, in the order in which ops carry them.",
      "::llvm::ArrayRef<::attn::RowValue>", "getRowValues">,
    InterfaceMethod<
      "The score of a key that takes no part: its weight is 0.",
      "double", "getHiddenScore">,
    InterfaceMethod<
      "True if a row ends in an LSE; a sink is one more term of it.",
      "bool", "hasLse">,
    InterfaceMethod<[{
        What the accumulator of a row is divided by at the end, given its row
        values, which are scalars; null for nothing. Where it is 0, the output is.
      }],
      "::mlir::Value", "buildDivisor", (ins "::mlir::OpBuilder &":$builder,
        "::mlir::Location":$loc, "::mlir::ValueRange":$rows)>,
    InterfaceMethod<[{
        The row values of a row over two sets of keys, from those over each.
      }],
      "::attn::CombinedRows", "buildCombination", (ins
        "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
        "::mlir::ValueRange":$first, "::mlir::ValueRange":$second)>
  ];
}

#endif // ATTN_DIALECT_ATTN_IR_ATTNINTERFACES_TD
