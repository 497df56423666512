//===- AttnOpBase.td - What ops of the attn dialect have in common -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTNOPBASE_TD
#define ATTN_DIALECT_ATTN_IR_ATTNOPBASE_TD

include "attn/Dialect/Attn/IR/AttnAttrs.td"
include "attn/Dialect/Attn/IR/AttnDialect.td"
include "attn/Dialect/Attn/IR/AttnEnums.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

class Attn_Op<string mnemonic, list<Trait> traits = []> :
    Op<Attn_Dialect, mnemonic, traits>;

// Element types of query, key and value. f64 exists for reference runs.
def Attn_Float : AnyTypeOf<[F16, BF16, F32, F64], "f16, bf16, f32 or f64">;
// What attention takes: 8-bit types are multiplied, and nothing is computed of
// them.
def Attn_Input : AnyTypeOf<[F8E4M3FN, F8E5M2, F16, BF16, F32, F64],
    "f8E4M3FN, f8E5M2, f16, bf16, f32 or f64">;
// What keys may be, and beside a query of more bits a cache: also integers,
// which stand for their product with a descale.
def Attn_Stored : AnyTypeOf<[F8E4M3FN, F8E5M2, F16, BF16, F32, F64, I8],
    "f8E4M3FN, f8E5M2, f16, bf16, f32, f64 or i8">;
// Running statistics, scores and LSE.
def Attn_Acc : AnyTypeOf<[F32, F64], "f32 or f64">;
// Lengths of sequences, entries of tables.
def Attn_Int : AnyTypeOf<[I32, I64], "i32 or i64">;

class Attn_Tensor<Type element, int rank> :
    TensorRankOf<[element], [rank]>;

// What stored numbers are multiplied by: of a whole tensor, [1], or of each
// batch and key head, [B, Hkv].
def Attn_Descale : AnyTypeOf<[Attn_Tensor<F32, 1>, Attn_Tensor<F32, 2>],
    "tensor of f32 of rank 1 or 2">;

#endif // ATTN_DIALECT_ATTN_IR_ATTNOPBASE_TD
