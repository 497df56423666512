//===- PlanExchange.cpp - Blocks of arrays between ranks ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanExchange.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace attn {

struct PlanExchange::Pending {
  std::vector<Message> receive;
  Arrival arrival;
  std::vector<std::shared_ptr<void>> sent, received; ///< by rank
};

static size_t getBytes(const Message &message) {
  size_t bytes = 0;
  for (const Block &block : message)
    bytes += block.getBytes();
  return bytes;
}

/// Calls visit(block, packed) with the array that a block is in a message.
template <typename Visit>
static void forEachBlock(const Message &message, void *buffer, Visit visit) {
  char *at = static_cast<char *>(buffer);
  for (const Block &block : message) {
    const TokenArray &array = block.array;
    visit(block, TokenArray{array.batch, block.heads, block.tokens,
                            array.rowBytes, at});
    at += block.getBytes();
  }
}

std::vector<SentBytes> PlanExchange::pack(const std::vector<Message> &send,
                                          Pending &pending) {
  std::vector<SentBytes> sent;
  for (int64_t peer = 0; peer < getSize(); ++peer) {
    size_t bytes = getBytes(send[peer]);
    std::shared_ptr<void> buffer = memory.allocate(bytes);
    if (memory.getStatus())
      forEachBlock(send[peer], buffer.get(),
                   [&](const Block &block, const TokenArray &packed) {
                     memory.copy(packed, block.array, block.heads,
                                 block.tokens);
                   });
    if (peer != getRank())
      sentBytes += bytes;
    sent.push_back({static_cast<const char *>(buffer.get()), bytes});
    pending.sent.push_back(std::move(buffer));
  }
  return sent;
}

void PlanExchange::unpack(const Pending &pending) {
  for (int64_t peer = 0; peer < getSize(); ++peer)
    forEachBlock(pending.receive[peer], pending.received[peer].get(),
                 [&](const Block &block, const TokenArray &packed) {
                   if (pending.arrival == Arrival::Add)
                     memory.add(block.array, packed, block.heads, block.tokens);
                   else
                     memory.copy(block.array, packed, block.heads,
                                 block.tokens);
                 });
}

Wait PlanExchange::begin(const std::vector<Message> &send,
                         const std::vector<Message> &receive, Arrival arrival) {
  auto pending = std::make_shared<Pending>();
  pending->receive = receive;
  pending->arrival = arrival;
  std::vector<SentBytes> sent = pack(send, *pending);
  std::vector<ReceivedBytes> received;
  for (const Message &message : receive) {
    pending->received.push_back(memory.allocate(getBytes(message)));
    received.push_back({static_cast<char *>(pending->received.back().get()),
                        getBytes(message)});
  }
  if (Status status = memory.getStatus(); !status)
    return [status] { return status; };
  Wait arrive = communicator.exchange(sent, received);
  return [this, pending, arrive]() -> Status {
    if (Status status = arrive(); !status) {
      failed.push_back(pending);
      return status;
    }
    unpack(*pending);
    return memory.getStatus();
  };
}

//===----------------------------------------------------------------------===//
// Agreement
//===----------------------------------------------------------------------===//

/// Bytes of what ranks compare; longer texts are cut.
static constexpr size_t kAgreementBytes = 512;
static const std::string kFault = "error: ";

static Status compareFacts(const std::vector<std::string> &facts) {
  for (size_t rank = 0; rank < facts.size(); ++rank) {
    const std::string &other = facts[rank];
    if (other.compare(0, kFault.size(), kFault) == 0)
      return Error{"rank " + std::to_string(rank) + ": " +
                   other.substr(kFault.size())};
    if (other != facts[0])
      return Error{"rank " + std::to_string(rank) +
                   ": expected what rank 0 has, " + facts[0] + ", got " +
                   other};
  }
  return {};
}

Status PlanExchange::agree(const std::string &facts, const Status &isReady) {
  std::string text = isReady ? facts : kFault + isReady.error();
  text.resize(kAgreementBytes, ' ');
  // A batch of one head of one token for each rank: as arrays, in their memory.
  auto makeText = [&] {
    return memory.allocate(1, {0, 1}, TokenRanges{{0, 1}}, kAgreementBytes);
  };
  TokenArray mine = makeText();
  memory.copy(mine.data, text.data(), kAgreementBytes);
  std::vector<Message> send, receive;
  for (int64_t peer = 0; peer < getSize(); ++peer) {
    send.push_back({{mine, mine.heads, mine.tokens}});
    TokenArray other = makeText();
    receive.push_back({{other, other.heads, other.tokens}});
  }
  int64_t before = sentBytes;
  Status status = begin(send, receive, Arrival::Copy)();
  sentBytes = before;
  if (!isReady)
    return isReady;
  std::vector<std::string> all;
  for (const Message &message : receive) {
    memory.copy(text.data(), message[0].array.data, kAgreementBytes);
    all.push_back(text.substr(0, text.find_last_not_of(' ') + 1));
  }
  if (!status || !memory.getStatus())
    return status ? memory.getStatus() : status;
  return compareFacts(all);
}

std::string printDigest(const Plan &plan) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (unsigned char c : getPlanJson(plan).dump())
    hash = (hash ^ c) * 0x100000001b3;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(hash));
  return text;
}

} // namespace attn
