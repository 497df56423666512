//===- Traffic.h - Bytes that programs move ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_PIPELINES_TRAFFIC_H
#define ATTN_LIB_PIPELINES_TRAFFIC_H

#include "attn/Runtime/Manifest.h"
#include "attn/TargetInfo/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <vector>

namespace attn {

/// By the name of the function that holds the attention.
using TrafficOfPrograms =
    std::map<std::string, std::vector<runtime::PredictedBytes>>;

/// What the kernels of a module in the scheduled form move of query, key,
/// value, output and LSE between L2 and the SMs, to the byte. Said of forwards
/// with a large-cache schedule, distinct tensors of static sizes and a mask
/// that is a band: where sizes or masks are data, so is the count. And of
/// linear attentions of static sizes, with their states.
TrafficOfPrograms predictTraffic(mlir::ModuleOp module,
                                 const TargetInfo &target);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_TRAFFIC_H
