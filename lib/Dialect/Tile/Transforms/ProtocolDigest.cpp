//===- ProtocolDigest.cpp - Protocols that are alike ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BarrierProof.h"

#include "llvm/Support/SHA256.h"

using namespace attn::tile;

/// The numbers of an event, and how many there are of each kind.
static void append(std::vector<int64_t> &numbers, const ProtocolEvent &event) {
  numbers.insert(numbers.end(),
                 {static_cast<int64_t>(event.kind), event.parity, event.number,
                  event.isWrite, static_cast<int64_t>(event.barriers.size()),
                  static_cast<int64_t>(event.memory.size())});
  numbers.insert(numbers.end(), event.barriers.begin(), event.barriers.end());
  for (const MemoryRange &memory : event.memory)
    numbers.insert(numbers.end(),
                   {memory.cta, memory.isTensor, memory.begin, memory.end});
}

ProtocolDigest attn::tile::getDigest(const Protocol &protocol) {
  llvm::SHA256 hash;
  auto add = [&](const std::vector<int64_t> &numbers) {
    hash.update({reinterpret_cast<const uint8_t *>(numbers.data()),
                 numbers.size() * sizeof(int64_t)});
  };
  std::vector<int64_t> numbers;
  for (const Protocol::Barrier &barrier : protocol.barriers)
    numbers.insert(numbers.end(), {barrier.arrivals, barrier.cta.value_or(-1)});
  add(numbers);
  for (const Protocol::Process &process : protocol.processes) {
    numbers = {process.cta, static_cast<int64_t>(process.events.size())};
    for (const ProtocolEvent &event : process.events)
      append(numbers, event);
    add(numbers);
  }
  return hash.final();
}
