//===- BarrierProof.h - All interleavings of a protocol ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Processes with fixed sequences of barrier operations, and a proof that no
/// interleaving of them deadlocks or uses memory too early.
///
/// One interleaving is run, with vector clocks. It stands for all of them if
/// every wait and every arrival is bound to one phase of its barrier by what
/// must have happened before it (Lamport's order), which is checked:
///
/// * a contribution to phase k comes after phase k - 1 is complete;
/// * a wait for phase k comes after phase k - 1 is complete, so that it does
///   not pass on an older phase of the same parity, and before a contribution
///   to phase k + 1, so that the phase is not over when it looks.
///
/// Then, by induction over the events, each interleaving completes the same
/// phases, has the same order, and ends.
///
/// What a process starts and does not wait for, such as products in tensor
/// memory, is a process of its own: it knows what its starter knew.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_TILE_TRANSFORMS_BARRIERPROOF_H
#define ATTN_LIB_DIALECT_TILE_TRANSFORMS_BARRIERPROOF_H

#include "mlir/IR/Operation.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn::tile {

/// Bytes of the shared memory of one CTA, or cells of its tensor memory.
struct MemoryRange {
  unsigned cta;
  int64_t begin, end;
  bool isTensor = false;

  bool isWith(const MemoryRange &other) const {
    return cta == other.cta && isTensor == other.isTensor;
  }
  bool operator==(const MemoryRange &other) const {
    return isWith(other) && begin == other.begin && end == other.end;
  }
  bool overlaps(const MemoryRange &other) const {
    return isWith(other) && begin < other.end && other.begin < end;
  }
};

struct ProtocolEvent {
  enum class Kind {
    Wait,   ///< for the phase of a parity
    Arrive, ///< at `barriers`
    Meet,   ///< arrive, and wait for the phase
    Copy,   ///< arrive at the first of `barriers`, and say how many parts that
            ///< waits for; then a part of `memory` to each of the others
    Access, ///< of memory, until Done of the same number
    Done,
    Start, ///< what the process of the queue `number` does next
    Follow ///< do it when it is started
  };
  Kind kind;
  mlir::Operation *op = nullptr;
  std::vector<unsigned> barriers = {};
  int64_t parity = 0;
  std::vector<MemoryRange> memory = {}; ///< of a copy: its parts
  unsigned number = 0;  ///< of a copy: the parts that it announces
  bool isWrite = false; ///< an access that writes its memory
};

struct Protocol {
  struct Barrier {
    std::string name; ///< "stage 1 of the barrier at 196608 in CTA 0"
    int64_t arrivals; ///< for each phase
    /// In whose shared memory it is, which is there from the first event of
    /// that CTA to its last; none of what is no memory.
    std::optional<unsigned> cta;
  };
  struct Process {
    std::string name; ///< "the producer of CTA 0"
    unsigned cta;
    std::vector<ProtocolEvent> events;
  };
  std::vector<Barrier> barriers;
  std::vector<Process> processes;
  unsigned queues = 0;
};

/// SHA-256 of the numbers of all events: equal ones are of protocols that are
/// alike.
using ProtocolDigest = std::array<uint8_t, 32>;
ProtocolDigest getDigest(const Protocol &protocol);

struct ProofFailure {
  mlir::Operation *op;
  std::string message;
};

/// Why the protocol is not proven; none if it is.
std::optional<ProofFailure> findFailure(const Protocol &protocol);

} // namespace attn::tile

#endif // ATTN_LIB_DIALECT_TILE_TRANSFORMS_BARRIERPROOF_H
