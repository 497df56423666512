//===- RoleTracer.h - Follows the roles of a kernel -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The state of traceRoles. RoleTrace.cpp follows control flow and numbers,
/// RoleEvents.cpp says what operations do to barriers and memory.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_TILE_TRANSFORMS_ROLETRACER_H
#define ATTN_LIB_DIALECT_TILE_TRANSFORMS_ROLETRACER_H

#include "RoleTrace.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <deque>
#include <map>

namespace attn::tile {

/// An event of all warps of a role, or of the first one alone, for each of
/// which its memory begins `warpStride` behind that of the one before.
struct RoleEvent {
  ProtocolEvent event;
  bool isOfFirst = false;
  int64_t warpStride = 0;
};

/// The op depends on what is not known before the kernel runs.
mlir::LogicalResult refuse(mlir::Operation *op, llvm::StringRef what);

/// Operations that make events, or may hide some.
bool hasEvents(mlir::Operation *op);

class RoleTracer {
public:
  RoleTracer(KernelOp kernel, const TracedLaunch &launch)
      : kernel(kernel), launch(launch),
        ctas(kernel.getClusterCtas().value_or(1)),
        warpgroups(
            llvm::divideCeil(kernel.getWarps(), RolesOp::kWarpgroupWarps)) {}

  mlir::FailureOr<Protocol> run();

private:
  /// Of a warpgroup; of tensor memory.
  static constexpr int64_t kWarps = RolesOp::kWarpgroupWarps,
                           kColumns = TensorTileType::kMostColumns;

  mlir::LogicalResult traceCta();
  mlir::LogicalResult traceRoles(RolesOp roles);
  mlir::LogicalResult traceProducers(RolesOp roles);
  mlir::LogicalResult traceConsumers(RolesOp roles);
  mlir::LogicalResult traceRole(mlir::Region &role, const std::string &name,
                                int64_t warps);
  void arriveWhenEnded(RolesOp roles, size_t first);
  mlir::LogicalResult visit(mlir::Block &block);
  mlir::LogicalResult visit(mlir::Operation &op);
  mlir::LogicalResult visitFor(mlir::scf::ForOp loop);
  mlir::LogicalResult visitIf(mlir::scf::IfOp op);
  mlir::LogicalResult visitAs(AsWarpgroupOp op);
  mlir::LogicalResult visitTensors(mlir::Operation *op);
  mlir::LogicalResult visitOther(mlir::Operation *op);

  std::optional<int64_t> lookUp(mlir::Value value) const;
  void set(mlir::Value value, int64_t number);
  void evaluate(mlir::Operation *op);
  void evaluateRead(mlir::Operation *op);
  int64_t getSize(DimOp op) const;

  // Barriers.
  mlir::LogicalResult addWait(MbarrierWaitOp op);
  mlir::LogicalResult addArrive(MbarrierArriveOp op);
  mlir::LogicalResult addCopy(mlir::Operation *op, MemoryRange memory,
                              mlir::Value barrier, mlir::Value stage,
                              int64_t parts);
  mlir::LogicalResult addCopy(CopyTmaOp op);
  mlir::LogicalResult addCopy(CopyBulkOp op);
  mlir::LogicalResult addCopyOfPair(CopyTmaOp op, MemoryRange memory);
  void addMeet(mlir::Operation *op, const std::string &name, int64_t arrivals);
  void addMeetOfWarpgroup(mlir::Operation *op) {
    addMeet(op, "the barrier of warpgroup " + std::to_string(group) + inCta(),
            roleWarps);
  }
  void addPassTurn(PassTurnOp op);
  void addClusterBarrier(mlir::Operation *op);
  /// Where all warps of the cluster meet, for the time that comes after
  /// `before` others.
  unsigned getCluster(const std::string &when, size_t before) {
    std::string times = before ? " (" + std::to_string(before + 1) + ")" : "";
    return getBarrier("the cluster at " + when + times,
                      ctas * (kernel.getWarps() + otherWarps));
  }
  std::string getTurn(int64_t warpgroup) const {
    return "the turn of warpgroup " + std::to_string(warpgroup) + inCta();
  }
  unsigned getBarrier(const std::string &name, int64_t arrivals,
                      std::optional<unsigned> ofCta = {});
  mlir::FailureOr<unsigned> getMbarrier(mlir::Operation *op,
                                        mlir::Value barrier, mlir::Value stage,
                                        unsigned ofCta);

  // Memory.
  void addUses(mlir::Operation *op, bool isOver);
  void addAccess(mlir::Operation *op, std::optional<MemoryRange> memory,
                 bool isWrite, int64_t warpStride = 0);
  void addOwnRows(mlir::Operation *op, mlir::Value tile, bool isWrite);
  mlir::LogicalResult addCells(mlir::Operation *op, mlir::Value tile,
                               mlir::Value warpgroup, int64_t first,
                               int64_t columns, bool isWrite);
  mlir::LogicalResult addClearRows(ClearRowsOp op);
  void addStore(StoreSharedOp op);
  void addStore(StoreTmaOp op);
  mlir::LogicalResult addStore(StoreTensorOp op);
  void addFree(FreeTensorsOp op);
  void endUses(mlir::Operation *op, std::deque<unsigned> &numbers, size_t left);
  std::optional<MemoryRange> getRange(mlir::Value tile) const;
  std::optional<MemoryRange> getRows(mlir::Value tile, int64_t first,
                                     int64_t rows) const;
  std::optional<MemoryRange> getRowsOfGroup(mlir::Value tile,
                                            int64_t ofGroup) const;
  std::optional<MemoryRange> getRowsOfProduct(mlir::Value tile,
                                              int64_t ofGroup) const;
  std::optional<int64_t> getColumn(mlir::Value tile, int64_t ofGroup) const;
  std::optional<MemoryRange> getCells(mlir::Value tile, int64_t ofGroup,
                                      int64_t first, int64_t columns) const;

  // Products in tensor memory, a process beside the role's.
  mlir::LogicalResult addProduct(MmaTensorOp op);
  mlir::LogicalResult addCommit(mlir::Operation *op, mlir::Value barrier,
                                mlir::Value stage, int64_t ofCtas);
  void start(mlir::Operation *op);
  mlir::LogicalResult addLeftOperand(MmaTensorOp op, int64_t ofGroup);
  mlir::LogicalResult addProductAccess(MmaTensorOp op,
                                       std::optional<MemoryRange> memory,
                                       bool isWrite);
  mlir::LogicalResult addProductCells(MmaTensorOp op, mlir::Value tile,
                                      int64_t first, int64_t columns,
                                      bool isWrite);

  std::string inCta() const { return " of CTA " + std::to_string(cta); }
  void add(ProtocolEvent event, bool isOfFirst = false,
           int64_t warpStride = 0) {
    events.push_back({std::move(event), isOfFirst, warpStride});
  }

  KernelOp kernel;
  const TracedLaunch &launch;
  int64_t ctas;
  int64_t warpgroups;
  int64_t otherWarps = 1; ///< that run a role beside the consumers
  bool hasTensors = false;

  Protocol protocol;
  /// Cluster barriers of each process; none if it is no warp.
  std::vector<std::optional<size_t>> endsOfProcesses;
  std::map<std::string, unsigned> barriers;
  llvm::DenseMap<mlir::Value, mlir::Attribute> values;
  std::vector<RoleEvent> events;      ///< of the role
  std::vector<RoleEvent> beginning;   ///< of all roles
  std::vector<ProtocolEvent> started; ///< products of the role, and commits
  /// Of warps of which one starts copies; none where it does not matter.
  std::optional<int64_t> thread;
  unsigned cta = 0, nextUse = 0;
  int64_t group = 0; ///< whose rows the role's warps have
  int64_t roleWarps = 1;
  size_t ends = 0; ///< cluster barriers of the role
  std::deque<unsigned> products, stores, pending; ///< uses that are not over
};

} // namespace attn::tile

#endif // ATTN_LIB_DIALECT_TILE_TRANSFORMS_ROLETRACER_H
