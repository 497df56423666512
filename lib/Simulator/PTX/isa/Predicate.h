//===- Predicate.h - Operations on predicates -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_PREDICATE_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_PREDICATE_H

#include "../Decoder.h"

namespace attn::sim {

/// and, or, xor, not, mov and selp of type .pred.
enum class PredicateOp : u32 { And, Or, Xor, Not, Move, Select };

/// Decodes the operands and sets the handler.
void decodePredicateOp(Decoder &decoder, PredicateOp op);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_PREDICATE_H
