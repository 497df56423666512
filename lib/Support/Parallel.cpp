//===- Parallel.cpp - Parallel loop over an index range -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop is on its caller's stack. The pool lists those that want helpers; a
// worker joins one under the pool's mutex and leaves it under it, so that after
// its last helper has left nothing touches the loop. Trips are taken by an
// atomic counter, in ranges that become shorter towards the end.
//
//===----------------------------------------------------------------------===//

#include "attn/Support/Parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>

using namespace attn;

/// How long a thread looks for work, or for the end of its helpers, before it
/// sleeps: as long as waking it takes, a few times over.
static constexpr std::chrono::microseconds kSpinTime(50);

/// Of a worker: the buffers of a tile are on it, as they are on a caller's.
static constexpr size_t kStackBytes = 8 << 20;

/// A thread takes a range of this part of what would be its share of the rest.
static constexpr int64_t kRangesPerShare = 4;

/// Of the loops of this thread; 0: as many as there are cores.
static thread_local size_t threadLimit = 0;

/// Whether this thread runs a body.
static thread_local bool isInBody = false;

ThreadLimit::ThreadLimit(size_t limit) : previous(threadLimit) {
  threadLimit = limit;
}
ThreadLimit::~ThreadLimit() { threadLimit = previous; }

static int64_t getNumThreads() {
  static const unsigned numCores =
      std::max(std::thread::hardware_concurrency(), 1u);
  return static_cast<int64_t>(threadLimit ? threadLimit : numCores);
}

/// Waits for a short time; whether `isDone` became true in it.
template <typename Predicate>
static bool spinUntil(Predicate isDone) {
  auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 16; ++i) {
      if (isDone())
        return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

namespace {
struct Loop {
  ParallelBody body;
  void *context;
  int64_t count;
  int64_t numThreads;

  /// The first trip that nobody has taken.
  std::atomic<int64_t> next{0};
  /// Under the mutex of the pool: helpers that may still join; those at work.
  int64_t numWanted = 0;
  std::atomic<int64_t> numHelpers{0};

  /// Takes ranges of trips and runs them until none is left.
  void work() {
    isInBody = true;
    int64_t begin = next.load();
    while (begin < count) {
      int64_t size = std::max<int64_t>(
          (count - begin) / (kRangesPerShare * numThreads), 1);
      if (!next.compare_exchange_weak(begin, begin + size))
        continue;
      body(context, begin, begin + size);
      begin = next.load();
    }
    isInBody = false;
  }
};

class Pool {
public:
  void run(Loop &loop) {
    post(loop);
    loop.work();
    withdraw(loop);
  }

private:
  /// Asks for helpers.
  void post(Loop &loop) {
    {
      std::lock_guard lock(mutex);
      while (numWorkers < loop.numThreads - 1 && startWorker())
        ++numWorkers;
      loop.numWanted = std::min(loop.numThreads - 1, numWorkers);
      if (loop.numWanted == 0)
        return;
      loops.push_back(&loop);
      numLoops = loops.size();
    }
    if (loop.numThreads == 2)
      posted.notify_one();
    else
      posted.notify_all();
  }

  /// Takes no more helpers and waits for those at work.
  void withdraw(Loop &loop) {
    std::unique_lock lock(mutex);
    remove(loop);
    if (loop.numHelpers == 0)
      return;
    lock.unlock();
    spinUntil([&] { return loop.numHelpers == 0; });
    lock.lock();
    left.wait(lock, [&] { return loop.numHelpers == 0; });
  }

  void remove(Loop &loop) {
    loops.erase(std::remove(loops.begin(), loops.end(), &loop), loops.end());
    numLoops = loops.size();
  }

  /// Whether the system has another thread. Signals go to the application's.
  bool startWorker() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    pthread_t thread;
    int status = pthread_create(&thread, &attributes, runWorker, this);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return status == 0;
  }

  static void *runWorker(void *pool) {
    while (true)
      static_cast<Pool *>(pool)->help();
  }

  /// Joins a loop, once there is one, and leaves it.
  void help() {
    spinUntil([&] { return numLoops != 0; });
    std::unique_lock lock(mutex);
    posted.wait(lock, [&] { return !loops.empty(); });
    Loop &loop = *loops.front();
    ++loop.numHelpers;
    if (--loop.numWanted == 0)
      remove(loop);
    lock.unlock();
    loop.work();
    lock.lock();
    if (--loop.numHelpers == 0)
      left.notify_all();
  }

  std::mutex mutex;
  std::condition_variable posted, left;
  /// Those that want helpers, and how many they are, for who looks without the
  /// mutex.
  std::vector<Loop *> loops;
  std::atomic<size_t> numLoops{0};
  int64_t numWorkers = 0;
};
} // namespace

/// Never destroyed: workers wait in it when the process ends.
static std::atomic<Pool *> thePool{nullptr};

static Pool &getPool() {
  static const bool isMade = [] {
    thePool = new Pool();
    // A child has none of its parent's workers, and maybe a locked mutex.
    pthread_atfork(nullptr, nullptr, [] { thePool = new Pool(); });
    return true;
  }();
  (void)isMade;
  return *thePool;
}

void attn::parallelForRanges(ParallelBody body, void *context, int64_t count) {
  int64_t numThreads = isInBody ? 1 : std::min(getNumThreads(), count);
  if (numThreads > 1) {
    Loop loop{body, context, count, numThreads};
    getPool().run(loop);
  } else if (count > 0) {
    body(context, 0, count);
  }
}

void attn::parallelFor(int64_t count, const std::function<void(int64_t)> &body,
                       int64_t maxThreads) {
  int64_t limit = getNumThreads();
  ThreadLimit guard(static_cast<size_t>(
      maxThreads > 0 ? std::min(limit, maxThreads) : limit));
  parallelForRanges(
      [](void *context, int64_t begin, int64_t end) {
        auto &call =
            *static_cast<const std::function<void(int64_t)> *>(context);
        for (int64_t i = begin; i < end; ++i)
          call(i);
      },
      const_cast<void *>(static_cast<const void *>(&body)), count);
}
