//===- ThreadRanks.h - Ranks that are threads -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_DISTRIBUTED_THREADRANKS_H
#define TEST_UNIT_DISTRIBUTED_THREADRANKS_H

#include "attn/Distributed/PlanExecutor.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <tuple>

namespace attn {

/// Addresses of getHiddenMemory are these bytes behind those that they are for.
constexpr uintptr_t kHidden = uintptr_t(1) << 60;

template <typename T>
T *reveal(T *address) {
  auto bits = reinterpret_cast<uintptr_t>(address);
  return reinterpret_cast<T *>(bits >= kHidden ? bits - kHidden : bits);
}

/// Memory that only the functions of the table reach.
inline PlanMemory getHiddenMemory() {
  PlanMemory host = getHostMemory();
  PlanMemory hidden;
  hidden.allocate = [host](size_t bytes) {
    std::shared_ptr<void> memory = host.allocate(bytes);
    auto bits = reinterpret_cast<uintptr_t>(memory.get()) + kHidden;
    return std::shared_ptr<void>(memory, reinterpret_cast<void *>(bits));
  };
  hidden.copy = [host](void *to, size_t toPitch, const void *from,
                       size_t fromPitch, size_t width, size_t height) {
    return host.copy(reveal(to), toPitch, reveal(from), fromPitch, width,
                     height);
  };
  hidden.add = [host](float *to, size_t toPitch, const float *from,
                      size_t fromPitch, size_t width, size_t height) {
    return host.add(reveal(to), toPitch, reveal(from), fromPitch, width,
                    height);
  };
  hidden.fill = [host](float *to, float value, size_t count) {
    return host.fill(reveal(to), value, count);
  };
  hidden.merge = [host](const CallResults &into, const CallResults &part,
                        int64_t rows, int64_t dim) {
    return host.merge({reveal(into.output), reveal(into.lse)},
                      {reveal(part.output), reveal(part.lse)}, rows, dim);
  };
  return hidden;
}

/// What threads have sent and others have not received.
class Mailboxes {
public:
  /// The number of the exchange, who sends, who receives.
  using Key = std::tuple<int64_t, int64_t, int64_t>;

  explicit Mailboxes(double limit) : limit(limit) {}

  void put(Key key, std::vector<char> message) {
    std::lock_guard<std::mutex> lock(mutex);
    messages[key] = std::move(message);
    changed.notify_all();
  }

  Status take(Key key, ReceivedBytes into) {
    std::unique_lock<std::mutex> lock(mutex);
    auto [number, from, to] = key;
    std::ostringstream who;
    who << "rank " << to << ": expected rank " << from << " to send ";
    if (!changed.wait_for(lock, std::chrono::duration<double>(limit),
                          [&] { return messages.count(key); })) {
      who << "within " << limit << " s, got nothing";
      return Error{who.str()};
    }
    std::vector<char> message = std::move(messages[key]);
    messages.erase(key);
    if (message.size() != into.size) {
      who << into.size << " bytes, got " << message.size();
      return Error{who.str()};
    }
    if (into.size)
      std::memcpy(reveal(into.data), message.data(), into.size);
    return {};
  }

private:
  double limit;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<Key, std::vector<char>> messages;
};

inline PlanCommunicator makeThreadRank(Mailboxes &mailboxes, int64_t rank,
                                       int64_t size) {
  PlanCommunicator communicator{rank, size, {}};
  auto exchanges = std::make_shared<int64_t>(0);
  communicator.exchange = [=, &mailboxes](
                              const std::vector<SentBytes> &send,
                              const std::vector<ReceivedBytes> &receive) {
    int64_t number = (*exchanges)++;
    for (int64_t peer = 0; peer < size; ++peer) {
      const char *data = reveal(send[peer].data);
      mailboxes.put({number, rank, peer}, {data, data + send[peer].size});
    }
    return [=, &mailboxes]() -> Status {
      for (int64_t peer = 0; peer < size; ++peer)
        if (Status status = mailboxes.take({number, peer, rank}, receive[peer]);
            !status)
          return status;
      return {};
    };
  };
  return communicator;
}

} // namespace attn

#endif // TEST_UNIT_DISTRIBUTED_THREADRANKS_H
