//===- PlanExchange.h - Blocks of arrays between ranks ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs heads and tokens of arrays into one message for each rank, and unpacks
// what comes.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DISTRIBUTED_PLANEXCHANGE_H
#define LIB_DISTRIBUTED_PLANEXCHANGE_H

#include "TokenArray.h"

namespace attn {

/// These heads and tokens of an array.
struct Block {
  TokenArray array;
  HeadRange heads;
  TokenRanges tokens;

  size_t getBytes() const {
    return array.batch * heads.size() * tokens.count() * array.rowBytes;
  }
};

/// One behind the other.
using Message = std::vector<Block>;

/// What becomes of what arrives. Sums are taken in ascending order of ranks.
enum class Arrival { Copy, Add };

class PlanExchange {
public:
  PlanExchange(PlanCommunicator communicator, ArrayMemory &memory)
      : communicator(std::move(communicator)), memory(memory) {}

  int64_t getRank() const { return communicator.rank; }
  int64_t getSize() const { return communicator.size; }
  int64_t getSentBytes() const { return sentBytes; }

  /// Begins to send a message to each rank, and to receive one from each: as
  /// many blocks of the same sizes as that rank sends.
  Wait begin(const std::vector<Message> &send,
             const std::vector<Message> &receive, Arrival arrival);

  /// Fails on all ranks where `facts` differ, or a rank is not ready.
  Status agree(const std::string &facts, const Status &isReady);

private:
  /// An exchange under way.
  struct Pending;

  std::vector<SentBytes> pack(const std::vector<Message> &send,
                              Pending &pending);
  void unpack(const Pending &pending);

  PlanCommunicator communicator;
  ArrayMemory &memory;
  int64_t sentBytes = 0;
  /// Those that failed: their bytes may yet come.
  std::vector<std::shared_ptr<Pending>> failed;
};

/// The same where plans are.
std::string printDigest(const Plan &plan);

} // namespace attn

#endif // LIB_DISTRIBUTED_PLANEXCHANGE_H
