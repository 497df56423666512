//===- BarrierProof.cpp - All interleavings of a protocol -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BarrierProof.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>
#include <set>

using namespace attn::tile;

namespace {

/// How many events of each process, and phases of each barrier, are known to be
/// over.
using Clock = std::vector<uint32_t>;

/// An event that was run: what its process knew then, itself included.
struct Stamp {
  unsigned process;
  uint32_t time;
  mlir::Operation *op;
  Clock clock;
};

/// The clock of `later` has `earlier`.
bool isBefore(const Stamp &earlier, const Stamp &later) {
  return later.clock[earlier.process] >= earlier.time;
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
  bool isWrite;
};

/// What is done with one range of shared memory.
struct MemoryUse {
  SharedRange memory;
  std::vector<CopyRecord> copies;
  std::vector<AccessRecord> accesses;
};

class Prover {
public:
  explicit Prover(const Protocol &protocol)
      : protocol(protocol), states(protocol.barriers.size()),
        positions(protocol.processes.size()),
        arrived(protocol.processes.size()) {
    size_t size = protocol.processes.size() + protocol.barriers.size();
    clocks.assign(protocol.processes.size(), Clock(size));
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
  Stamp contribute(unsigned barrier, unsigned process,
                   const ProtocolEvent &event, int64_t arrivals, int64_t bytes);
  void join(unsigned process, unsigned barrier, uint32_t phases);
  Stamp stamp(unsigned process, const ProtocolEvent &event) const;
  bool isComplete(unsigned barrier, uint32_t phase, const Stamp &at) const;
  void fail(mlir::Operation *op, std::string message) {
    if (!failure)
      failure = ProofFailure{op, std::move(message)};
  }
  void checkEnd();
  void checkPhases(unsigned barrier);
  void checkWait(unsigned barrier, uint32_t k, const Stamp &wait);
  void checkPeers(unsigned barrier);
  size_t findUse(const SharedRange &memory);
  void checkWrites(const MemoryUse &written, const MemoryUse &used);
  void checkOverlap(const MemoryUse &copied, const MemoryUse &used);
  void checkMemory();

  const Protocol &protocol;
  std::vector<BarrierState> states;
  std::vector<size_t> positions;
  std::vector<std::optional<uint32_t>> arrived; ///< at what is met: its phase
  std::vector<Clock> clocks;
  std::vector<MemoryUse> uses;
  /// By process and number, where in `uses` an access is that is not over.
  std::map<std::pair<unsigned, unsigned>,
           std::vector<std::pair<size_t, size_t>>>
      open;
  std::optional<ProofFailure> failure;
};

} // namespace

//===----------------------------------------------------------------------===//
// One interleaving
//===----------------------------------------------------------------------===//

Stamp Prover::stamp(unsigned process, const ProtocolEvent &event) const {
  return {process, clocks[process][process], event.op, clocks[process]};
}

/// The process knows that so many phases of the barrier are complete.
void Prover::join(unsigned process, unsigned barrier, uint32_t phases) {
  Clock &clock = clocks[process];
  if (phases == 0)
    return;
  const Clock &other = states[barrier].completed[phases - 1];
  for (size_t k = 0; k < clock.size(); ++k)
    clock[k] = std::max(clock[k], other[k]);
}

Stamp Prover::contribute(unsigned barrier, unsigned process,
                         const ProtocolEvent &event, int64_t arrivals,
                         int64_t bytes) {
  BarrierState &state = states[barrier];
  Stamp at = stamp(process, event);
  Phase &phase = state.phases.back();
  phase.contributions.push_back(at);
  phase.hasBytes |= event.kind == ProtocolEvent::Kind::Copy;
  state.arrivals += arrivals;
  state.bytes += bytes;
  for (size_t k = 0; k < state.joined.size(); ++k)
    state.joined[k] = std::max(state.joined[k], at.clock[k]);
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
  auto parts = static_cast<int64_t>(event.barriers.size());
  for (size_t k = 0; k < event.barriers.size(); ++k) {
    uint32_t phase = states[event.barriers[k]].getPhase();
    Stamp at = contribute(event.barriers[k], process, event, k == 0,
                          (k == 0 ? parts : 0) - 1);
    uses[findUse(event.memory[k])].copies.push_back(
        {at, event.barriers[k], phase});
  }
}

size_t Prover::findUse(const SharedRange &memory) {
  for (size_t k = 0; k < uses.size(); ++k)
    if (uses[k].memory == memory)
      return k;
  uses.push_back({memory, {}, {}});
  return uses.size() - 1;
}

void Prover::access(unsigned process, const ProtocolEvent &event) {
  for (const SharedRange &memory : event.memory) {
    size_t use = findUse(memory);
    open[{process, event.number}].push_back({use, uses[use].accesses.size()});
    uses[use].accesses.push_back({stamp(process, event), {}, event.isWrite});
  }
}

void Prover::endAccess(unsigned process, const ProtocolEvent &event) {
  auto it = open.find({process, event.number});
  if (it == open.end())
    return;
  for (auto [use, access] : it->second)
    uses[use].accesses[access].end = stamp(process, event);
  open.erase(it);
}

/// Runs an event of the process; false if it has to wait.
bool Prover::step(unsigned process) {
  const auto &events = protocol.processes[process].events;
  if (positions[process] == events.size())
    return false;
  const ProtocolEvent &event = events[positions[process]];
  bool isNew = !arrived[process];
  clocks[process][process] += isNew;
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
  }
  if (!goesOn && !arrived[process])
    --clocks[process][process]; // tried again later
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
    first = first ? first : event.op;
    waiting.insert(process.name + " waits for " +
                   protocol.barriers[event.barriers.front()].name);
  }
  std::string all = llvm::join(waiting, "; ");
  if (first)
    fail(first, "deadlock: " + all);
}

//===----------------------------------------------------------------------===//
// All interleavings
//===----------------------------------------------------------------------===//

/// Whether `at` comes after the end of the phase in every interleaving.
bool Prover::isComplete(unsigned barrier, uint32_t phase,
                        const Stamp &at) const {
  const BarrierState &state = states[barrier];
  if (at.clock[protocol.processes.size() + barrier] > phase)
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
      if (!isKnown([&](unsigned k) { return from.clock[k] > 0; }))
        fail(from.op, "the CTA may not have begun: " + at.name);
      if (!isKnown(
              [&](unsigned k) { return clocks[k][from.process] >= from.time; }))
        fail(from.op, "the CTA may have ended: " + at.name);
    }
}

/// What warps write beside what others read there: several may write parts of
/// one tile.
void Prover::checkWrites(const MemoryUse &written, const MemoryUse &used) {
  for (const AccessRecord &write : written.accesses) {
    if (!write.isWrite)
      continue; // The many reads are not compared with each other.
    for (const AccessRecord &read : used.accesses) {
      if (read.isWrite)
        continue;
      bool isOrdered = (read.end && isBefore(*read.end, write.begin)) ||
                       (write.end && isBefore(*write.end, read.begin));
      if (!isOrdered)
        fail(write.begin.op, "a warp may write what " +
                                 protocol.processes[read.begin.process].name +
                                 " still uses, or uses before it is there");
    }
  }
}

/// Copies to one range beside what is done with one that overlaps it.
void Prover::checkOverlap(const MemoryUse &copied, const MemoryUse &used) {
  size_t processes = protocol.processes.size();
  auto isThere = [&](const CopyRecord &copy, const Stamp &at) {
    return at.clock[processes + copy.barrier] > copy.phase;
  };
  for (const CopyRecord &copy : copied.copies) {
    for (const AccessRecord &access : used.accesses) {
      bool isOver = access.end && isBefore(*access.end, copy.issue);
      if (!isOver && !isThere(copy, access.begin))
        fail(copy.issue.op, "the copy may write what " +
                                protocol.processes[access.begin.process].name +
                                " still uses, or uses before it is there");
    }
    for (const CopyRecord &other : used.copies)
      if ((copy.barrier != other.barrier || copy.phase != other.phase) &&
          !isThere(copy, other.issue) && !isThere(other, copy.issue))
        fail(copy.issue.op, "two copies may write the same place at once");
  }
}

void Prover::checkMemory() {
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
  for (unsigned barrier = 0; barrier < states.size() && !failure; ++barrier)
    checkPeers(barrier);
  if (!failure)
    checkMemory();
  return failure;
}

std::optional<ProofFailure> attn::tile::findFailure(const Protocol &protocol) {
  return Prover(protocol).run();
}

std::vector<int64_t> attn::tile::getNumbers(const Protocol &protocol) {
  std::vector<int64_t> numbers;
  for (const Protocol::Barrier &barrier : protocol.barriers)
    numbers.insert(numbers.end(), {barrier.arrivals, barrier.cta.value_or(-1)});
  for (const Protocol::Process &process : protocol.processes) {
    numbers.push_back(-2);
    for (const ProtocolEvent &event : process.events) {
      numbers.insert(numbers.end(), {static_cast<int64_t>(event.kind),
                                     event.parity, event.number, -3});
      numbers.insert(numbers.end(), event.barriers.begin(),
                     event.barriers.end());
      for (const SharedRange &memory : event.memory)
        numbers.insert(numbers.end(), {memory.cta, memory.begin, memory.end});
    }
  }
  return numbers;
}
