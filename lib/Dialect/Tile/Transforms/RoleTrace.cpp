//===- RoleTrace.cpp - What roles do to barriers ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleTracer.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::tile;

using Kind = ProtocolEvent::Kind;

static constexpr int64_t kLanes = 32;

LogicalResult attn::tile::refuse(Operation *op, StringRef what) {
  return op->emitError("expected ") << what << " that follows from sizes";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<int64_t> RoleTracer::lookUp(Value value) const {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  auto known = dyn_cast_or_null<IntegerAttr>(values.lookup(value));
  if (!known)
    return std::nullopt;
  // A truth is 1, not -1.
  return known.getType().isInteger(1) ? known.getValue().getZExtValue()
                                      : known.getValue().getSExtValue();
}

void RoleTracer::set(Value value, int64_t number) {
  values[value] = IntegerAttr::get(value.getType(), number);
}

int64_t RoleTracer::getSize(DimOp op) const {
  auto argument = dyn_cast<BlockArgument>(op.getSource());
  unsigned number = argument ? argument.getArgNumber() : 0;
  bool isKey = number == 1 || number == 2;
  switch (op.getDim()) {
  case 0:
    return 1;
  case 1:
    return isKey ? 1 : launch.heads;
  default:
    return isKey ? launch.keys : launch.rows;
  }
}

/// What is read: the same wherever it is read. Memory has ascending numbers, as
/// lists and offsets are: each its last index, unless the launch says what
/// vectors have.
void RoleTracer::evaluateRead(Operation *op) {
  if (auto lookup = dyn_cast<LookupOp>(op)) {
    auto table = dyn_cast<DenseIntElementsAttr>(lookup.getTable());
    auto index = lookUp(lookup.getPosition());
    if (table && index && *index >= 0)
      values[lookup.getEntry()] =
          table.getValues<Attribute>()[*index % table.getNumElements()];
    return;
  }
  auto extract = cast<ExtractOp>(op);
  OperandRange indices = extract.getIndices();
  std::optional<int64_t> last = 0;
  if (!indices.empty())
    last = lookUp(indices.back());
  if (launch.length && indices.size() == 1)
    last = launch.length;
  if (last && extract.getElement().getType().isIntOrIndex())
    set(extract.getElement(), *last);
}

/// What an operation computes from numbers that are known.
void RoleTracer::evaluate(Operation *op) {
  if (auto dim = dyn_cast<DimOp>(op))
    return set(dim.getResult(), lookUp(dim.getResult()).value_or(getSize(dim)));
  if (auto id = dyn_cast<gpu::BlockIdOp>(op))
    return set(id,
               id.getDimension() == gpu::Dimension::x ? launch.block + cta : 0);
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op)) {
    if (thread)
      set(id, *thread);
    return;
  }
  if (auto size = dyn_cast<gpu::GridDimOp>(op))
    return set(size, size.getDimension() == gpu::Dimension::x
                         ? launch.grid.value_or(ctas)
                         : 1);
  if (auto uniform = dyn_cast<UniformOp>(op)) {
    if (auto number = lookUp(uniform.getValue()))
      set(uniform.getResult(), *number);
    return;
  }
  if (isa<ExtractOp, LookupOp>(op))
    return evaluateRead(op);
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    auto number = lookUp(operand);
    if (!number || !operand.getType().isIntOrIndex())
      return;
    operands.push_back(IntegerAttr::get(operand.getType(), *number));
  }
  SmallVector<OpFoldResult> results;
  if (op->getNumRegions() || failed(op->fold(operands, results)))
    return;
  for (auto [result, folded] : llvm::zip(op->getResults(), results)) {
    if (auto attribute = dyn_cast<Attribute>(folded))
      values[result] = attribute;
    else if (auto number = lookUp(cast<Value>(folded)))
      set(result, *number);
  }
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

bool attn::tile::hasEvents(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        bool isEvent =
            isa<MbarrierWaitOp, MbarrierTestOp, MbarrierArriveOp, CopyTmaOp,
                CopyBulkOp, MmaAsyncOp, MmaWaitOp, TakeTurnOp, PassTurnOp,
                SyncConsumersOp, ClusterBarrierOp, StoreTmaOp, StoreSharedOp,
                StoreTransposedOp, StoreWidenedOp, WaitStoresOp, ClearRowsOp,
                MmaTensorOp, CommitTensorsOp, FreeTensorsOp>(inner);
        return isEvent ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult RoleTracer::visit(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(visit(op)))
      return failure();
  return success();
}

LogicalResult RoleTracer::visitFor(scf::ForOp loop) {
  auto begin = lookUp(loop.getLowerBound()), end = lookUp(loop.getUpperBound()),
       step = lookUp(loop.getStep());
  if (!begin || !end || !step || *step <= 0) {
    if (hasEvents(loop))
      return refuse(loop, "a number of turns around barriers");
    return success();
  }
  auto assign = [&](ValueRange targets, ValueRange sources) {
    SmallVector<Attribute> numbers;
    for (Value source : sources) {
      auto number = lookUp(source);
      numbers.push_back(number ? IntegerAttr::get(source.getType(), *number)
                               : Attribute());
    }
    for (auto [target, number] : llvm::zip(targets, numbers))
      values[target] = number;
  };
  assign(loop.getRegionIterArgs(), loop.getInitArgs());
  for (int64_t k = *begin; k < *end; k += *step) {
    set(loop.getInductionVar(), k);
    if (failed(visit(*loop.getBody())))
      return failure();
    assign(loop.getRegionIterArgs(),
           loop.getBody()->getTerminator()->getOperands());
  }
  assign(loop.getResults(), loop.getRegionIterArgs());
  return success();
}

LogicalResult RoleTracer::visitIf(scf::IfOp op) {
  auto condition = lookUp(op.getCondition());
  if (!condition) {
    if (hasEvents(op))
      return refuse(op, "a condition around barriers");
    // What may be used is used.
    for (Region *region : {&op.getThenRegion(), &op.getElseRegion()})
      if (!region->empty() && failed(visit(region->front())))
        return failure();
    return success();
  }
  Region &region = *condition ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return success();
  if (failed(visit(region.front())))
    return failure();
  for (auto [result, value] : llvm::zip(
           op.getResults(), region.front().getTerminator()->getOperands()))
    if (auto number = lookUp(value))
      set(result, *number);
  return success();
}

/// In the place of a warpgroup of consumers.
LogicalResult RoleTracer::visitAs(AsWarpgroupOp op) {
  auto number = lookUp(op.getWarpgroup());
  if (!number)
    return refuse(op, "a warpgroup");
  group = *number;
  return visit(op.getBody().front());
}

/// An operation without a case of its own: it may compute a number, and it uses
/// what is in shared memory.
LogicalResult RoleTracer::visitOther(Operation *op) {
  if (op->getNumRegions() && hasEvents(op))
    return refuse(op, "control flow around barriers");
  evaluate(op);
  bool isPlace = isa<AllocOp, StageOp, AllocMbarrierOp>(op);
  if (!isPlace &&
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<SharedType>))
    addUses(op, /*isOver=*/true);
  return success();
}

/// Of what works in tensor memory.
LogicalResult RoleTracer::visitTensors(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](MmaTensorOp op) { return addProduct(op); })
      .Case([&](CommitTensorsOp op) {
        return addCommit(op, op.getBarrier(), op.getStage(),
                         static_cast<int64_t>(op.getCtas()));
      })
      .Case([&](FreeTensorsOp op) { return addFree(op), success(); })
      .Case([&](LoadTensorOp op) {
        return addCells(op, op.getTile(), op.getWarpgroup(), op.getColumn(),
                        op.getResult().getType().getShape()[1],
                        /*isWrite=*/false);
      })
      .Case([&](StoreTensorOp op) { return addStore(op); })
      .Case([&](ScaleTensorOp op) {
        return addCells(op, op.getTile(), op.getWarpgroup(), 0,
                        op.getTile().getType().getCols(), /*isWrite=*/true);
      })
      .Default([&](Operation *op) { return visitOther(op); });
}

LogicalResult RoleTracer::visit(Operation &op) {
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](scf::ForOp op) { return visitFor(op); })
      .Case([&](scf::IfOp op) { return visitIf(op); })
      .Case([&](AsWarpgroupOp op) { return visitAs(op); })
      .Case([&](MbarrierWaitOp op) { return addWait(op); })
      .Case([&](MbarrierArriveOp op) { return addArrive(op); })
      .Case<CopyTmaOp, CopyBulkOp>([&](auto op) { return addCopy(op); })
      .Case([&](TakeTurnOp op) {
        addMeet(op, getTurn(lookUp(op.getWarpgroup()).value_or(0)), 2 * kWarps);
        return success();
      })
      .Case([&](PassTurnOp op) { return addPassTurn(op), success(); })
      .Case([&](SyncConsumersOp op) {
        addMeet(op, "the consumers" + inCta(), kernel.getWarps());
        return success();
      })
      .Case(
          [&](ClusterBarrierOp op) { return addClusterBarrier(op), success(); })
      .Case<StoreTransposedOp, StoreWidenedOp>([&](auto op) {
        addAccess(op, getRange(op.getSource()), /*isWrite=*/false);
        addAccess(op, getRange(op.getTile()), /*isWrite=*/true);
        return success();
      })
      .Case([&](ChangeRowsOp op) {
        // Its warpgroup alone reads and writes the rows, and meets in it: to
        // copies that is a read.
        addUses(op, /*isOver=*/true);
        return success();
      })
      .Case([&](ClearRowsOp op) { return addClearRows(op); })
      .Case([&](MmaAsyncOp op) {
        products.push_back(nextUse);
        addUses(op, /*isOver=*/false);
        return success();
      })
      .Case([&](MmaWaitOp op) {
        endUses(op, products, op.getPending());
        return success();
      })
      .Case([&](StoreSharedRowsOp op) {
        addOwnRows(op, op.getVector(), /*isWrite=*/true);
        return success();
      })
      .Case([&](LoadSharedRowsOp op) {
        addOwnRows(op, op.getVector(), /*isWrite=*/false);
        return success();
      })
      .Case<StoreSharedOp, StoreTmaOp>(
          [&](auto op) { return addStore(op), success(); })
      .Case([&](WaitStoresOp op) { return endUses(op, stores, 0), success(); })
      .Default([&](Operation *op) { return visitTensors(op); });
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// The events of a warp of the role.
static std::vector<ProtocolEvent> getEvents(ArrayRef<RoleEvent> events,
                                            int64_t warp) {
  std::vector<ProtocolEvent> ofWarp;
  for (const RoleEvent &event : events) {
    if (event.isOfFirst && warp > 0)
      continue;
    ofWarp.push_back(event.event);
    for (MemoryRange &memory : ofWarp.back().memory) {
      memory.begin += warp * event.warpStride;
      memory.end += warp * event.warpStride;
    }
  }
  return ofWarp;
}

/// Follows a role, and gives its events to each of its warps; products that
/// its first one starts are a process beside them.
LogicalResult RoleTracer::traceRole(Region &role, const std::string &name,
                                    int64_t warps) {
  events = beginning;
  started.clear();
  products.clear();
  stores.clear();
  pending.clear();
  ends = 0;
  roleWarps = warps;
  if (failed(visit(role.front())))
    return failure();
  for (int64_t warp = 0; warp < warps; ++warp)
    protocol.processes.push_back(
        {name + inCta(), cta, getEvents(events, warp)});
  endsOfProcesses.resize(protocol.processes.size(), ends);
  if (started.empty())
    return success();
  ++protocol.queues;
  protocol.processes.push_back({"products of " + name + inCta(), cta, started});
  endsOfProcesses.push_back(std::nullopt);
  return success();
}

/// Roles beside the consumers: one thread, a warpgroup, or each warp of the
/// only one by its first thread.
LogicalResult RoleTracer::traceProducers(RolesOp roles) {
  if (!roles.getAll()) {
    for (auto [number, role] : llvm::enumerate(roles.getProducers()))
      if (failed(traceRole(role, "the " + roles.getRoleName(number),
                           &role == roles.getWarpgroupRole() ? kWarps : 1)))
        return failure();
    return success();
  }
  DenseMap<Value, Attribute> before = values;
  for (int64_t warp = 0; warp < otherWarps; ++warp) {
    values = before;
    thread = kLanes * (kernel.getWarps() + warp);
    if (failed(traceRole(roles.getProducer(),
                         "producer warp " + std::to_string(warp), 1)))
      return failure();
  }
  thread.reset();
  return success();
}

LogicalResult RoleTracer::traceConsumers(RolesOp roles) {
  DenseMap<Value, Attribute> before = values;
  for (group = 0; group < warpgroups; ++group) {
    values = before;
    set(roles.getWarpgroup(), group);
    // The last one may have fewer warps, where each multiplies by itself.
    int64_t left = kernel.getWarps() - group * kWarps;
    if (failed(traceRole(roles.getConsumer(),
                         "warpgroup " + std::to_string(group),
                         std::min<int64_t>(left, kWarps))))
      return failure();
  }
  return success();
}

/// Warps that have ended count as having arrived where others still meet.
void RoleTracer::arriveWhenEnded(RolesOp roles, size_t first) {
  size_t most = 0;
  for (size_t k = first; k < endsOfProcesses.size(); ++k)
    most = std::max(most, endsOfProcesses[k].value_or(0));
  for (size_t k = first; k < endsOfProcesses.size(); ++k)
    for (size_t end = endsOfProcesses[k].value_or(most); end < most; ++end)
      protocol.processes[k].events.push_back(
          {Kind::Arrive, roles, {getCluster("the end", end)}});
}

/// Of a CTA, beside the consumers'.
static int64_t countOtherWarps(KernelOp kernel, RolesOp roles) {
  if (roles.getAll())
    return kernel.getProducerWarps().value_or(0);
  auto count = static_cast<int64_t>(roles.getProducers().size());
  return roles.getWarpgroupRole() ? count - 1 + RolesOp::kWarpgroupWarps
                                  : count;
}

LogicalResult RoleTracer::traceRoles(RolesOp roles) {
  size_t first = protocol.processes.size();
  DenseMap<Value, Attribute> before = values;
  if (failed(traceProducers(roles)))
    return failure();
  values = before;
  if (failed(traceConsumers(roles)))
    return failure();
  arriveWhenEnded(roles, first);
  beginning.clear();
  return success();
}

LogicalResult RoleTracer::traceCta() {
  values.clear();
  beginning.clear();
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<ClusterBarrierOp>(op))
      beginning.push_back(
          {{Kind::Meet, &op, {getCluster("the beginning", beginning.size())}}});
    else if (auto roles = dyn_cast<RolesOp>(op)) {
      if (failed(traceRoles(roles)))
        return failure();
    } else if (failed(visit(op))) {
      return failure();
    }
  }
  return success();
}

FailureOr<Protocol> RoleTracer::run() {
  Block &body = kernel.getBody().front();
  hasTensors = !body.getOps<AllocTensorsOp>().empty();
  for (auto roles : body.getOps<RolesOp>())
    otherWarps = countOtherWarps(kernel, roles);
  for (cta = 0; cta < ctas; ++cta)
    if (failed(traceCta()))
      return failure();
  return std::move(protocol);
}

FailureOr<Protocol> attn::tile::traceRoles(KernelOp kernel,
                                           const TracedLaunch &launch) {
  return RoleTracer(kernel, launch).run();
}
