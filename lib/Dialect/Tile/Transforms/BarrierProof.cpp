//===- BarrierProof.cpp - All interleavings of a protocol -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BarrierProof.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <tuple>

using namespace attn::tile;

namespace {

/// How many events of each process, and phases of each barrier, are known to be
/// over.
using Clock = std::vector<uint32_t>;

/// An event that was run: what its process knew then of others, with all of its
/// events since it last heard of them, and how many it had run, this included.
struct Stamp {
  unsigned process;
  uint32_t time;
  mlir::Operation *op;
  std::shared_ptr<const Clock> clock;

  uint32_t knows(size_t other) const {
    return other == process ? time : (*clock)[other];
  }
};

bool isBefore(const Stamp &earlier, const Stamp &later) {
  return later.knows(earlier.process) >= earlier.time;
}

struct Phase {
  std::vector<Stamp> contributions;
  bool hasBytes = false;
  std::vector<Stamp> waits; ///< for the phase before, passed during this one
};

struct BarrierState {
  int64_t arrivals = 0, bytes = 0; ///< of the phase under way
  Clock joined;
  std::vector<Phase> phases = std::vector<Phase>(1);
  std::vector<Clock> completed;

  uint32_t getPhase() const { return static_cast<uint32_t>(completed.size()); }
};

struct CopyRecord {
  Stamp issue;
  unsigned barrier;
  uint32_t phase;
};

struct AccessRecord {
  Stamp begin;
  std::optional<Stamp> end;
};

/// Those of a process, in order.
struct AccessList {
  std::vector<AccessRecord> records;
  std::vector<uint32_t> ends; ///< when each, and all before it, are over

  /// The first one `but` another that is not over at `time`; null if all are.
  const AccessRecord *findOpen(uint32_t time, const AccessRecord *but) const {
    auto it = std::upper_bound(ends.begin(), ends.end(), time);
    if (it != ends.end() && &records[it - ends.begin()] == but)
      ++it;
    return it == ends.end() ? nullptr : &records[it - ends.begin()];
  }
};

using AccessLists = std::map<unsigned, AccessList>; ///< by process

/// What is done with one range of memory.
struct MemoryUse {
  MemoryRange memory;
  std::vector<CopyRecord> copies;
  AccessLists reads, writes;
};

class Prover {
public:
  explicit Prover(const Protocol &protocol)
      : protocol(protocol), states(protocol.barriers.size()),
        positions(protocol.processes.size()),
        arrived(protocol.processes.size()), queues(protocol.queues) {
    size_t size = protocol.processes.size() + protocol.barriers.size();
    clocks.assign(protocol.processes.size(), std::make_shared<Clock>(size));
    times.assign(protocol.processes.size(), 0);
    for (BarrierState &state : states)
      state.joined.assign(size, 0);
  }

  std::optional<ProofFailure> run();

private:
  bool step(unsigned process);
  bool wait(unsigned process, const ProtocolEvent &event);
  bool meet(unsigned process, const ProtocolEvent &event);
  void copy(unsigned process, const ProtocolEvent &event);
  void access(unsigned process, const ProtocolEvent &event);
  void endAccess(unsigned process, const ProtocolEvent &event);
  bool follow(unsigned process, const ProtocolEvent &event);
  Stamp contribute(unsigned barrier, unsigned process,
                   const ProtocolEvent &event, int64_t arrivals, int64_t bytes);
  void join(unsigned process, unsigned barrier, uint32_t phases);
  void join(unsigned process, const Clock &other);
  Stamp stamp(unsigned process, const ProtocolEvent &event) const;
  bool isComplete(unsigned barrier, uint32_t phase, const Stamp &at) const;
  void fail(mlir::Operation *op, std::string message) {
    if (!failure)
      failure = ProofFailure{op, std::move(message)};
  }
  void checkEnd();
  void checkOpen();
  void checkPhases(unsigned barrier);
  void checkWait(unsigned barrier, uint32_t k, const Stamp &wait);
  void checkPeers(unsigned barrier);
  size_t findUse(const MemoryRange &memory);
  void checkWrite(const AccessRecord &write, const AccessLists &lists);
  void checkWrites(const MemoryUse &written, const MemoryUse &used);
  void checkOverlap(const MemoryUse &copied, const MemoryUse &used);
  void checkMemory();

  const Protocol &protocol;
  std::vector<BarrierState> states;
  std::vector<size_t> positions;
  std::vector<std::optional<uint32_t>> arrived; ///< at what is met: its phase
  std::vector<std::shared_ptr<const Clock>> clocks;
  std::vector<uint32_t> times; ///< events of each process that are run
  std::vector<std::deque<Clock>> queues; ///< of starters, not followed yet
  std::vector<MemoryUse> uses;
  /// By process and number, the ends of an access that is not over: of which of
  /// `uses`, whether a write, and the number among the process's.
  std::map<std::pair<unsigned, unsigned>,
           std::vector<std::tuple<size_t, bool, size_t>>>
      open;
  std::optional<ProofFailure> failure;
};

} // namespace

//===----------------------------------------------------------------------===//
// One interleaving
//===----------------------------------------------------------------------===//

Stamp Prover::stamp(unsigned process, const ProtocolEvent &event) const {
  return {process, times[process], event.op, clocks[process]};
}

static void raise(Clock &clock, const Clock &other) {
  for (size_t k = 0; k < clock.size(); ++k)
    clock[k] = std::max(clock[k], other[k]);
}

/// The process knows what another one did.
void Prover::join(unsigned process, const Clock &other) {
  auto clock = std::make_shared<Clock>(*clocks[process]);
  raise(*clock, other);
  clocks[process] = std::move(clock);
}

/// The process knows that so many phases of the barrier are complete.
void Prover::join(unsigned process, unsigned barrier, uint32_t phases) {
  if (phases > 0)
    join(process, states[barrier].completed[phases - 1]);
}

Stamp Prover::contribute(unsigned barrier, unsigned process,
                         const ProtocolEvent &event, int64_t arrivals,
                         int64_t bytes) {
  BarrierState &state = states[barrier];
  Stamp at = stamp(process, event);
  Phase &phase = state.phases.back();
  phase.contributions.push_back(at);
  phase.hasBytes |= bytes != 0;
  state.arrivals += arrivals;
  state.bytes += bytes;
  raise(state.joined, *at.clock);
  state.joined[process] = std::max(state.joined[process], at.time);
  int64_t expected = protocol.barriers[barrier].arrivals;
  if (state.arrivals > expected)
    fail(event.op, "more than " + std::to_string(expected) +
                       " arrivals in a phase of " +
                       protocol.barriers[barrier].name);
  if (state.arrivals == expected && state.bytes == 0) {
    state.arrivals = 0;
    state.joined[protocol.processes.size() + barrier] = state.getPhase() + 1;
    state.completed.push_back(state.joined);
    state.phases.emplace_back();
  }
  return at;
}

bool Prover::wait(unsigned process, const ProtocolEvent &event) {
  unsigned barrier = event.barriers.front();
  BarrierState &state = states[barrier];
  // The parity of the phase under way is not that of the one that is over.
  if (state.getPhase() % 2 == event.parity)
    return false;
  Stamp before = stamp(process, event);
  join(process, barrier, state.getPhase());
  state.phases.back().waits.push_back(before);
  return true;
}

bool Prover::meet(unsigned process, const ProtocolEvent &event) {
  unsigned barrier = event.barriers.front();
  BarrierState &state = states[barrier];
  if (!arrived[process]) {
    arrived[process] = state.getPhase();
    contribute(barrier, process, event, 1, 0);
  }
  if (state.getPhase() == *arrived[process])
    return false;
  join(process, barrier, *arrived[process] + 1);
  arrived[process].reset();
  return true;
}

void Prover::copy(unsigned process, const ProtocolEvent &event) {
  contribute(event.barriers.front(), process, event, 1, event.number);
  for (size_t k = 0; k < event.memory.size(); ++k) {
    unsigned barrier = event.barriers[k + 1];
    uint32_t phase = states[barrier].getPhase();
    Stamp at = contribute(barrier, process, event, 0, -1);
    uses[findUse(event.memory[k])].copies.push_back({at, barrier, phase});
  }
}

/// False if it is not started yet.
bool Prover::follow(unsigned process, const ProtocolEvent &event) {
  std::deque<Clock> &queue = queues[event.number];
  if (queue.empty())
    return false;
  join(process, queue.front());
  queue.pop_front();
  return true;
}

size_t Prover::findUse(const MemoryRange &memory) {
  for (size_t k = 0; k < uses.size(); ++k)
    if (uses[k].memory == memory)
      return k;
  uses.push_back({memory, {}, {}, {}});
  return uses.size() - 1;
}

void Prover::access(unsigned process, const ProtocolEvent &event) {
  for (const MemoryRange &memory : event.memory) {
    size_t use = findUse(memory);
    AccessLists &lists = event.isWrite ? uses[use].writes : uses[use].reads;
    std::vector<AccessRecord> &records = lists[process].records;
    open[{process, event.number}].push_back(
        {use, event.isWrite, records.size()});
    records.push_back({stamp(process, event), {}});
  }
}

void Prover::endAccess(unsigned process, const ProtocolEvent &event) {
  auto it = open.find({process, event.number});
  if (it == open.end())
    return;
  for (auto [use, isWrite, number] : it->second) {
    AccessLists &lists = isWrite ? uses[use].writes : uses[use].reads;
    lists[process].records[number].end = stamp(process, event);
  }
  open.erase(it);
}

/// Runs an event of the process; false if it has to wait.
bool Prover::step(unsigned process) {
  const auto &events = protocol.processes[process].events;
  if (positions[process] == events.size())
    return false;
  const ProtocolEvent &event = events[positions[process]];
  bool isNew = !arrived[process];
  times[process] += isNew;
  bool goesOn = true;
  switch (event.kind) {
  case ProtocolEvent::Kind::Wait:
    goesOn = wait(process, event);
    break;
  case ProtocolEvent::Kind::Meet:
    goesOn = meet(process, event);
    break;
  case ProtocolEvent::Kind::Arrive:
    for (unsigned barrier : event.barriers)
      contribute(barrier, process, event, 1, 0);
    break;
  case ProtocolEvent::Kind::Copy:
    copy(process, event);
    break;
  case ProtocolEvent::Kind::Access:
    access(process, event);
    break;
  case ProtocolEvent::Kind::Done:
    endAccess(process, event);
    break;
  case ProtocolEvent::Kind::Start:
    queues[event.number].push_back(*clocks[process]);
    queues[event.number].back()[process] = times[process];
    break;
  case ProtocolEvent::Kind::Follow:
    goesOn = follow(process, event);
    break;
  }
  if (!goesOn && !arrived[process])
    --times[process]; // tried again later
  positions[process] += goesOn;
  return goesOn;
}

/// Who waits for what, if somebody does: warps that wait alike once.
void Prover::checkEnd() {
  std::set<std::string> waiting;
  mlir::Operation *first = nullptr;
  for (size_t k = 0; k < positions.size(); ++k) {
    const Protocol::Process &process = protocol.processes[k];
    if (positions[k] == process.events.size())
      continue;
    const ProtocolEvent &event = process.events[positions[k]];
    if (event.kind == ProtocolEvent::Kind::Follow)
      continue; // Who starts it is among the others.
    first = first ? first : event.op;
    waiting.insert(process.name + " waits for " +
                   protocol.barriers[event.barriers.front()].name);
  }
  std::string all = llvm::join(waiting, "; ");
  if (first)
    fail(first, "deadlock: " + all);
}

/// Memory that is used when a role has ended: of shared memory it may be
/// another CTA's then.
void Prover::checkOpen() {
  const auto &[process, number] = open.begin()->first;
  for (const ProtocolEvent &event : protocol.processes[process].events)
    if (event.kind == ProtocolEvent::Kind::Access && event.number == number)
      fail(event.op, "the role may end before this is over: " +
                         protocol.processes[process].name);
}

//===----------------------------------------------------------------------===//
// All interleavings
//===----------------------------------------------------------------------===//

/// Whether `at` comes after the end of the phase in every interleaving.
bool Prover::isComplete(unsigned barrier, uint32_t phase,
                        const Stamp &at) const {
  const BarrierState &state = states[barrier];
  if (at.knows(protocol.processes.size() + barrier) > phase)
    return true;
  const Phase &over = state.phases[phase];
  return !over.hasBytes && phase < state.getPhase() &&
         std::all_of(over.contributions.begin(), over.contributions.end(),
                     [&](const Stamp &c) { return isBefore(c, at); });
}

/// A wait that passed during phase k, for the one before.
void Prover::checkWait(unsigned barrier, uint32_t k, const Stamp &wait) {
  const BarrierState &state = states[barrier];
  const std::string &name = protocol.barriers[barrier].name;
  if (k > 1 && !isComplete(barrier, k - 2, wait))
    fail(wait.op, "the wait may pass on an older phase of its parity: " + name);
  const std::vector<Stamp> &during = state.phases[k].contributions;
  bool isHeldUp =
      k >= state.getPhase() ||
      std::any_of(during.begin(), during.end(),
                  [&](const Stamp &c) { return isBefore(wait, c); });
  if (!isHeldUp)
    fail(wait.op,
         "the next phase may be over, too, when the wait looks: " + name);
}

void Prover::checkPhases(unsigned barrier) {
  const BarrierState &state = states[barrier];
  for (uint32_t k = 0; k < state.phases.size(); ++k) {
    for (const Stamp &contribution : state.phases[k].contributions)
      if (k > 0 && !isComplete(barrier, k - 1, contribution))
        fail(contribution.op, "the arrival may count for the phase before: " +
                                  protocol.barriers[barrier].name);
    for (const Stamp &wait : state.phases[k].waits)
      checkWait(barrier, k, wait);
  }
}

/// What another CTA does to a barrier comes after its initialisation, and
/// before the end of its CTA.
void Prover::checkPeers(unsigned barrier) {
  const Protocol::Barrier &at = protocol.barriers[barrier];
  auto isKnown = [&](auto knows) {
    for (unsigned k = 0; k < positions.size(); ++k)
      if (protocol.processes[k].cta == *at.cta && knows(k))
        return true;
    return false;
  };
  for (const Phase &phase : states[barrier].phases)
    for (const Stamp &from : phase.contributions) {
      if (!at.cta || protocol.processes[from.process].cta == *at.cta)
        continue;
      if (!isKnown([&](unsigned k) { return from.knows(k) > 0; }))
        fail(from.op, "the CTA may not have begun: " + at.name);
      if (!isKnown([&](unsigned k) {
            return (*clocks[k])[from.process] >= from.time;
          }))
        fail(from.op, "the CTA may have ended: " + at.name);
    }
}

/// A process's accesses that are not over when another one's begins must come
/// after that one: what its first knows then, the later ones know, too.
void Prover::checkWrite(const AccessRecord &write, const AccessLists &lists) {
  for (const auto &[process, list] : lists) {
    const AccessRecord *other =
        list.findOpen(write.begin.knows(process), &write);
    if (other && !(write.end && isBefore(*write.end, other->begin)))
      fail(write.begin.op, "a warp may write what " +
                               protocol.processes[process].name +
                               " still uses, or uses before it is there");
  }
}

/// What is written beside what others read there: several warps may write parts
/// of one tile of shared memory.
void Prover::checkWrites(const MemoryUse &written, const MemoryUse &used) {
  for (const auto &[process, list] : written.writes)
    for (const AccessRecord &write : list.records) {
      checkWrite(write, used.reads);
      if (used.memory.isTensor)
        checkWrite(write, used.writes);
    }
}

/// Copies to one range beside what is done with one that overlaps it.
void Prover::checkOverlap(const MemoryUse &copied, const MemoryUse &used) {
  size_t processes = protocol.processes.size();
  auto isThere = [&](const CopyRecord &copy, const Stamp &at) {
    return at.knows(processes + copy.barrier) > copy.phase;
  };
  for (const CopyRecord &copy : copied.copies) {
    for (const AccessLists *lists : {&used.reads, &used.writes})
      for (const auto &[process, list] : *lists)
        if (const AccessRecord *access =
                list.findOpen(copy.issue.knows(process), nullptr);
            access && !isThere(copy, access->begin))
          fail(copy.issue.op, "the copy may write what " +
                                  protocol.processes[process].name +
                                  " still uses, or uses before it is there");
    for (const CopyRecord &other : used.copies)
      if ((copy.barrier != other.barrier || copy.phase != other.phase) &&
          !isThere(copy, other.issue) && !isThere(other, copy.issue))
        fail(copy.issue.op, "two copies may write the same place at once");
  }
}

/// When the accesses up to each one are over.
static void setEnds(AccessLists &lists) {
  for (auto &[process, list] : lists) {
    uint32_t last = 0;
    for (const AccessRecord &access : list.records) {
      last = std::max(last, access.end ? access.end->time
                                       : std::numeric_limits<uint32_t>::max());
      list.ends.push_back(last);
    }
  }
}

void Prover::checkMemory() {
  for (MemoryUse &use : uses) {
    setEnds(use.reads);
    setEnds(use.writes);
  }
  for (const MemoryUse &copied : uses)
    for (const MemoryUse &used : uses)
      if (!failure && copied.memory.overlaps(used.memory)) {
        checkOverlap(copied, used);
        checkWrites(copied, used);
      }
}

std::optional<ProofFailure> Prover::run() {
  for (bool goesOn = true; goesOn && !failure;) {
    goesOn = false;
    for (unsigned process = 0; process < positions.size(); ++process)
      while (step(process))
        goesOn = true;
  }
  // What counts for another phase is the cause of a deadlock, if there is both.
  for (unsigned barrier = 0; barrier < states.size() && !failure; ++barrier)
    checkPhases(barrier);
  checkEnd();
  if (!failure && !open.empty())
    checkOpen();
  for (unsigned barrier = 0; barrier < states.size() && !failure; ++barrier)
    checkPeers(barrier);
  if (!failure)
    checkMemory();
  return failure;
}

std::optional<ProofFailure> attn::tile::findFailure(const Protocol &protocol) {
  return Prover(protocol).run();
}
