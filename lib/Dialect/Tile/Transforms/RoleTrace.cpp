//===- RoleTrace.cpp - What roles do to barriers ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleTrace.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <deque>
#include <map>

using namespace mlir;
using namespace attn::tile;

using Kind = ProtocolEvent::Kind;

static constexpr unsigned kWarpsPerGroup = 4;
static constexpr int64_t kLanes = 32;

namespace {

class RoleTracer {
public:
  RoleTracer(KernelOp kernel, const TracedLaunch &launch)
      : kernel(kernel), launch(launch),
        ctas(kernel.getClusterCtas().value_or(1)),
        warpgroups(llvm::divideCeil(kernel.getWarps(), kWarpsPerGroup)) {}

  FailureOr<Protocol> run();

private:
  LogicalResult traceCta();
  LogicalResult traceProducer(RolesOp roles);
  LogicalResult traceRole(Region &role, const std::string &name,
                          unsigned warps);
  LogicalResult visit(Block &block);
  LogicalResult visit(Operation &op);
  LogicalResult visitFor(scf::ForOp loop);
  LogicalResult visitIf(scf::IfOp op);
  LogicalResult addWait(MbarrierWaitOp op);
  LogicalResult addArrive(MbarrierArriveOp op);
  LogicalResult addCopy(Operation *op, Value tile, Value barrier, Value stage,
                        int64_t parts);
  void addMeet(Operation *op, const std::string &name, int64_t arrivals);
  void addPassTurn(PassTurnOp op);
  void addUses(Operation *op, bool isOver);
  void addAccess(Operation *op, Value tile, bool isWrite);
  LogicalResult addClearRows(ClearRowsOp op);
  void endUses(Operation *op, std::deque<unsigned> &numbers, size_t left);

  std::optional<int64_t> lookUp(Value value) const;
  void set(Value value, int64_t number);
  void evaluate(Operation *op);
  void evaluateRead(Operation *op);
  int64_t getSize(DimOp op) const;
  std::optional<SharedRange> getRange(Value tile) const;
  /// Where all warps of the cluster meet.
  unsigned getCluster(const std::string &when) {
    return getBarrier("the cluster at " + when, ctas * (kernel.getWarps() + 1));
  }
  std::string inCta() const { return " of CTA " + std::to_string(cta); }
  unsigned getBarrier(const std::string &name, int64_t arrivals,
                      std::optional<unsigned> ofCta = {});
  FailureOr<unsigned> getMbarrier(Operation *op, Value barrier, Value stage,
                                  unsigned ofCta);
  void add(ProtocolEvent event) { events.push_back(std::move(event)); }

  KernelOp kernel;
  const TracedLaunch &launch;
  int64_t ctas;
  int64_t warpgroups;

  Protocol protocol;
  std::map<std::string, unsigned> barriers;
  DenseMap<Value, Attribute> values;
  std::vector<ProtocolEvent> events;    ///< of the role
  std::vector<ProtocolEvent> beginning; ///< of all roles
  /// Of warps of which one starts copies; none where it does not matter.
  std::optional<int64_t> thread;
  unsigned cta = 0, nextUse = 0;
  std::deque<unsigned> products, stores; ///< uses that are not over
};

} // namespace

/// The op depends on what is not known before the kernel runs.
static LogicalResult refuse(Operation *op, StringRef what) {
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
// Shared memory and barriers
//===----------------------------------------------------------------------===//

/// The bytes of a tile; none if they are not known, or of fragments that
/// consumers share.
std::optional<SharedRange> RoleTracer::getRange(Value tile) const {
  int64_t stage = 0;
  // Some columns are taken for all.
  if (auto op = tile.getDefiningOp<ColumnsOp>())
    tile = op.getSource();
  if (auto op = tile.getDefiningOp<StageOp>()) {
    auto index = lookUp(op.getIndex());
    if (!index)
      return std::nullopt;
    stage = *index;
    tile = op.getRing();
  }
  auto alloc = tile.getDefiningOp<AllocOp>();
  if (!alloc || !alloc.getOffset())
    return std::nullopt;
  int64_t bytes = cast<SharedType>(alloc.getType()).getTileBytes();
  int64_t begin = *alloc.getOffset() + stage * bytes;
  return SharedRange{cta, begin, begin + bytes};
}

unsigned RoleTracer::getBarrier(const std::string &name, int64_t arrivals,
                                std::optional<unsigned> ofCta) {
  auto [it, isNew] = barriers.try_emplace(name, protocol.barriers.size());
  if (isNew)
    protocol.barriers.push_back({name, arrivals, ofCta});
  return it->second;
}

FailureOr<unsigned> RoleTracer::getMbarrier(Operation *op, Value barrier,
                                            Value stage, unsigned ofCta) {
  auto alloc = barrier.getDefiningOp<AllocMbarrierOp>();
  auto number = lookUp(stage);
  auto type = cast<MbarrierType>(barrier.getType());
  if (!alloc || !alloc.getOffset())
    return op->emitError("expected an mbarrier with an offset");
  if (!number || *number < 0 || *number >= type.getStages())
    return refuse(op, "a stage of the ring");
  return getBarrier("stage " + std::to_string(*number) +
                        " of the mbarriers at " +
                        std::to_string(*alloc.getOffset()) + " of CTA " +
                        std::to_string(ofCta),
                    type.getArrivals(), ofCta);
}

LogicalResult RoleTracer::addWait(MbarrierWaitOp op) {
  auto barrier = getMbarrier(op, op.getBarrier(), op.getStage(), cta);
  auto parity = lookUp(op.getParity());
  if (failed(barrier))
    return failure();
  if (!parity)
    return refuse(op, "a parity");
  add({Kind::Wait, op, {*barrier}, *parity & 1, {}, 0});
  return success();
}

LogicalResult RoleTracer::addArrive(MbarrierArriveOp op) {
  ProtocolEvent event{Kind::Arrive, op, {}, 0, {}, 0};
  int64_t count = static_cast<int64_t>(op.getCtas());
  for (int64_t peer = 0; peer < count; ++peer) {
    unsigned ofCta = count > 1 ? peer : cta;
    auto barrier = getMbarrier(op, op.getBarrier(), op.getStage(), ofCta);
    if (failed(barrier))
      return failure();
    event.barriers.push_back(*barrier);
  }
  add(event);
  return success();
}

/// A copy, of which each of `parts` CTAs brings a part to all of them.
LogicalResult RoleTracer::addCopy(Operation *op, Value tile, Value barrier,
                                  Value stage, int64_t parts) {
  auto range = getRange(tile);
  if (!range)
    return refuse(op, "a tile");
  ProtocolEvent event{Kind::Copy, op, {}, 0, {}, 0};
  for (int64_t k = 0; k < parts; ++k) {
    unsigned ofCta = parts > 1 ? (cta + k) % parts : cta;
    auto of = getMbarrier(op, barrier, stage, ofCta);
    if (failed(of))
      return failure();
    event.barriers.push_back(*of);
    event.memory.push_back({ofCta, range->begin, range->end});
  }
  add(event);
  return success();
}

void RoleTracer::addMeet(Operation *op, const std::string &name,
                         int64_t arrivals) {
  add({Kind::Meet, op, {getBarrier(name, arrivals)}, 0, {}, 0});
}

static std::string getTurn(int64_t warpgroup) {
  return "the turn of warpgroup " + std::to_string(warpgroup);
}

void RoleTracer::addPassTurn(PassTurnOp op) {
  int64_t next = (lookUp(op.getWarpgroup()).value_or(0) + 1) % warpgroups;
  add({Kind::Arrive,
       op,
       {getBarrier(getTurn(next) + inCta(), 2 * kWarpsPerGroup)},
       0,
       {},
       0});
}

/// The op uses its shared operands, and has used them if it `isOver`.
void RoleTracer::addUses(Operation *op, bool isOver) {
  ProtocolEvent event{Kind::Access, op, {}, 0, {}, nextUse++};
  for (Value operand : op->getOperands())
    if (isa<SharedType>(operand.getType()))
      if (auto range = getRange(operand))
        event.memory.push_back(*range);
  add(event);
  if (isOver)
    add({Kind::Done, op, {}, 0, {}, event.number});
}

/// The op reads or writes a tile, and is done.
void RoleTracer::addAccess(Operation *op, Value tile, bool isWrite) {
  ProtocolEvent event{Kind::Access, op, {}, 0, {}, nextUse++, isWrite};
  if (auto range = getRange(tile))
    event.memory.push_back(*range);
  add(event);
  add({Kind::Done, op, {}, 0, {}, event.number});
}

/// All but the last `left` uses are over: they end in order.
void RoleTracer::endUses(Operation *op, std::deque<unsigned> &numbers,
                         size_t left) {
  for (; numbers.size() > left; numbers.pop_front())
    add({Kind::Done, op, {}, 0, {}, numbers.front()});
}

/// Where rows are missing the consumers write a tile, and meet: to copies that
/// is a read.
LogicalResult RoleTracer::addClearRows(ClearRowsOp op) {
  auto rows = lookUp(op.getRows());
  std::optional<int64_t> first = 0;
  if (op.getFirst())
    first = lookUp(op.getFirst());
  if (!rows || !first)
    return refuse(op, "a number of rows");
  if (*rows >= op.getTile().getType().getRows() && *first <= 0)
    return success();
  addUses(op, /*isOver=*/true);
  addMeet(op, "the consumers" + inCta(), kernel.getWarps());
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Operations that make events, or may hide some.
static bool hasEvents(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        bool isEvent =
            isa<MbarrierWaitOp, MbarrierTestOp, MbarrierArriveOp, CopyTmaOp,
                CopyBulkOp, MmaAsyncOp, MmaWaitOp, TakeTurnOp, PassTurnOp,
                SyncConsumersOp, ClusterBarrierOp, StoreTmaOp, StoreSharedOp,
                StoreTransposedOp, StoreWidenedOp, WaitStoresOp, ClearRowsOp>(
                inner);
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

LogicalResult RoleTracer::visit(Operation &op) {
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](scf::ForOp op) { return visitFor(op); })
      .Case([&](scf::IfOp op) { return visitIf(op); })
      .Case([&](MbarrierWaitOp op) { return addWait(op); })
      .Case([&](MbarrierArriveOp op) { return addArrive(op); })
      .Case([&](CopyTmaOp op) {
        return addCopy(op, op.getTile(), op.getBarrier(), op.getStage(),
                       static_cast<int64_t>(op.getCtas()));
      })
      .Case([&](CopyBulkOp op) {
        return addCopy(op, op.getTile(), op.getBarrier(), op.getStage(), 1);
      })
      .Case([&](TakeTurnOp op) {
        addMeet(op, getTurn(lookUp(op.getWarpgroup()).value_or(0)) + inCta(),
                2 * kWarpsPerGroup);
        return success();
      })
      .Case([&](PassTurnOp op) { return addPassTurn(op), success(); })
      .Case([&](SyncConsumersOp op) {
        addMeet(op, "the consumers" + inCta(), kernel.getWarps());
        return success();
      })
      .Case([&](ClusterBarrierOp op) {
        add({Kind::Meet, op, {getCluster("the end")}, 0, {}, 0});
        return success();
      })
      .Case<StoreTransposedOp, StoreWidenedOp>([&](auto op) {
        addAccess(op, op.getSource(), /*isWrite=*/false);
        addAccess(op, op.getTile(), /*isWrite=*/true);
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
      .Case([&](StoreTmaOp op) {
        if (op.getAsync())
          stores.push_back(nextUse);
        addUses(op, /*isOver=*/!op.getAsync());
        return success();
      })
      .Case([&](WaitStoresOp op) { return endUses(op, stores, 0), success(); })
      .Case([&](MmaTensorOp op) {
        return op.emitError()
               << "expected products that end in registers, got one in tensor "
                  "memory, whose commit is not followed";
      })
      .Default([&](Operation *op) -> LogicalResult {
        if (op->getNumRegions() && hasEvents(op))
          return refuse(op, "control flow around barriers");
        evaluate(op);
        bool isPlace = isa<AllocOp, StageOp, AllocMbarrierOp>(op);
        if (!isPlace &&
            llvm::any_of(op->getOperandTypes(), llvm::IsaPred<SharedType>))
          addUses(op, /*isOver=*/true);
        return success();
      });
}

/// Follows a role, and gives its events to each of its warps.
LogicalResult RoleTracer::traceRole(Region &role, const std::string &name,
                                    unsigned warps) {
  events = beginning;
  products.clear();
  stores.clear();
  if (failed(visit(role.front())))
    return failure();
  for (unsigned warp = 0; warp < warps; ++warp)
    protocol.processes.push_back({name + inCta(), cta, events});
  return success();
}

/// The producer, which has arrived at the last cluster barrier when it ends; or
/// each of its warps by its first thread.
LogicalResult RoleTracer::traceProducer(RolesOp roles) {
  if (roles.getAll()) {
    DenseMap<Value, Attribute> before = values;
    int64_t warps = kernel.getProducerWarps().value_or(0);
    for (int64_t warp = 0; warp < warps; ++warp) {
      values = before;
      thread = kLanes * (kernel.getWarps() + warp);
      if (failed(traceRole(roles.getProducer(),
                           "producer warp " + std::to_string(warp), 1)))
        return failure();
    }
    thread.reset();
    return success();
  }
  for (auto [number, role] : llvm::enumerate(roles.getProducers()))
    if (failed(traceRole(role, "the " + roles.getRoleName(number), 1)))
      return failure();
  if (!roles.getConsumer().getOps<ClusterBarrierOp>().empty())
    protocol.processes.back().events.push_back(
        {Kind::Arrive, roles, {getCluster("the end")}, 0, {}, 0});
  return success();
}

LogicalResult RoleTracer::traceCta() {
  values.clear();
  beginning.clear();
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto roles = dyn_cast<RolesOp>(op);
    if (isa<ClusterBarrierOp>(op))
      beginning.push_back(
          {Kind::Meet, &op, {getCluster("the beginning")}, 0, {}, 0});
    else if (!roles && failed(visit(op)))
      return failure();
    if (!roles)
      continue;
    DenseMap<Value, Attribute> before = values;
    if (failed(traceProducer(roles)))
      return failure();
    for (int64_t group = 0; group < warpgroups; ++group) {
      values = before;
      set(roles.getWarpgroup(), group);
      // The last one may have fewer warps, where each multiplies by itself.
      int64_t left = kernel.getWarps() - group * kWarpsPerGroup;
      if (failed(traceRole(roles.getConsumer(),
                           "warpgroup " + std::to_string(group),
                           std::min<int64_t>(left, kWarpsPerGroup))))
        return failure();
    }
    beginning.clear();
  }
  return success();
}

FailureOr<Protocol> RoleTracer::run() {
  for (cta = 0; cta < ctas; ++cta)
    if (failed(traceCta()))
      return failure();
  return std::move(protocol);
}

FailureOr<Protocol> attn::tile::traceRoles(KernelOp kernel,
                                           const TracedLaunch &launch) {
  return RoleTracer(kernel, launch).run();
}
