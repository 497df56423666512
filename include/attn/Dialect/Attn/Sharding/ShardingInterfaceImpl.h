//===- ShardingInterfaceImpl.h - Attention on a grid of devices -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's shard::ShardingInterface of attention ops, for --sharding-propagation
// and --shard-partition (docs/Distributed.md, "In MLIR").
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_SHARDING_SHARDINGINTERFACEIMPL_H
#define ATTN_DIALECT_ATTN_SHARDING_SHARDINGINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attn {

/// Implements the interface for attn.attention, attn.attention_backward and
/// attn.linear_attention in contexts that load MLIR's shard dialect, too.
void registerShardingInterfaceExternalModels(mlir::DialectRegistry &registry);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_SHARDING_SHARDINGINTERFACEIMPL_H
