//===- Launch.cpp - Running a grid ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Checks a launch, spreads its clusters over host threads and sums up what
/// they counted. A cluster that spins on global memory gets company: further
/// clusters start beside it, up to what a GPU would hold.
///
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "LatencyModel.h"
#include "Module.h"
#include "Tracer.h"

#include "attn/Support/Progress.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>

using namespace attn::sim;

namespace {

using Clock = std::chrono::steady_clock;

/// Warp instructions that a cluster runs before another one may.
constexpr u64 clusterQuota = 3000000;
/// PTX ISA 11.7: 8 CTAs, 16 with the non-portable size.
constexpr u32 maxClusterCtas = 16;
constexpr u64 maxThreadsPerCta = 1024;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

class LaunchBuilder {
public:
  LaunchBuilder(LaunchContext &launch) : launch(launch) {}

  void run() {
    setCluster();
    checkBlock();
    setShared();
    checkParameters();
    checkProgrammatic();
  }

private:
  void setCluster() {
    const LaunchConfig &config = *launch.config;
    const u32 *required = launch.program->requiredCluster;
    u32 given[3] = {config.cluster.x, config.cluster.y, config.cluster.z};
    u32 grid[3] = {config.grid.x, config.grid.y, config.grid.z};
    bool differs = !std::equal(given, given + 3, required);
    if (required[0] && config.cluster.count() > 1 && differs)
      fail("cluster shape differs from .reqnctapercluster");
    launch.totalClusters = 1;
    for (u32 axis = 0; axis < 3; ++axis) {
      u32 dim = required[0] ? required[axis] : given[axis];
      if (!dim || grid[axis] % dim)
        fail(format("grid dimension %u (%u) is not a multiple of the cluster "
                    "dimension %u",
                    axis, grid[axis], dim));
      launch.clusterDims[axis] = dim;
      launch.clusterCounts[axis] = grid[axis] / dim;
      launch.totalClusters *= launch.clusterCounts[axis];
    }
    if (launch.ctasPerCluster() > maxClusterCtas)
      fail(format("cluster of %u CTAs, at most %u", launch.ctasPerCluster(),
                  maxClusterCtas));
  }

  void checkBlock() {
    u64 threads = launch.config->block.count();
    const Program &program = *launch.program;
    const u32 *required = program.requiredThreads;
    if (threads == 0 || threads > maxThreadsPerCta)
      fail(format("block of %llu threads, expected 1 to 1024",
                  (unsigned long long)threads));
    if (program.maxThreads && threads > program.maxThreads)
      fail(format("block of %llu threads exceeds .maxntid %u",
                  (unsigned long long)threads, program.maxThreads));
    if (required[0] && threads != u64(required[0]) * required[1] * required[2])
      fail(format("block of %llu threads differs from .reqntid %u, %u, %u",
                  (unsigned long long)threads, required[0], required[1],
                  required[2]));
  }

  void setShared() {
    const Program &program = *launch.program;
    u32 dynamic = launch.config->dynamicSharedBytes;
    launch.sharedBytes = program.usesDynamicShared || dynamic
                             ? program.dynamicSharedOffset + dynamic
                             : program.staticSharedBytes;
    u32 limit =
        std::min(launch.options->maxSharedBytes, sharedOffsetMask - sharedBase);
    if (launch.sharedBytes > limit)
      fail(format("%u bytes of shared memory per CTA exceed %u",
                  launch.sharedBytes, limit));
  }

  void checkParameters() {
    size_t given = launch.config->parameters.size();
    if (given < launch.program->parameterBytes)
      fail(format("parameter block has %zu bytes, the kernel declares %u",
                  given, launch.program->parameterBytes));
  }

  void checkProgrammatic() {
    // PTX ISA 9.7.13, griddepcontrol.
    const Module &module = *launch.program->module;
    if (launch.config->isProgrammatic && module.chip() < 90)
      fail("expected a target of sm_90 or later for a programmatic launch, "
           "got " +
           module.target());
  }

  [[noreturn]] void fail(const std::string &message) {
    failPtx(launch.program->module->fileName(), 0,
            "kernel " + launch.program->name + ": " + message);
  }

  LaunchContext &launch;
};

//===----------------------------------------------------------------------===//
// Host threads
//===----------------------------------------------------------------------===//

class ClusterQueue {
public:
  ClusterQueue(LaunchContext &launch, Worker &worker)
      : launch(launch), worker(worker) {}

  void run() {
    while (!launch.stop) {
      if (active.empty() && !startCluster())
        return;
      std::unique_ptr<Cluster> cluster = std::move(active.front());
      active.pop_front();
      u64 events = cluster->events;
      if (runCluster(launch, *cluster, worker, quota())) {
        ++launch.finishedClusters;
        continue;
      }
      bool spins = cluster->events == events;
      active.push_back(std::move(cluster));
      if (spins && active.size() < launch.smCount)
        startCluster();
    }
  }

private:
  /// A limit of instructions is looked at between two quotas.
  u64 quota() const {
    u64 limit = launch.options->maxWarpInstructions;
    return limit ? std::min(limit, clusterQuota) : clusterQuota;
  }

  /// Takes the next cluster of the grid; false when there is none.
  bool startCluster() {
    u64 index = launch.nextCluster++;
    if (index >= launch.totalClusters)
      return false;
    active.push_front(makeCluster(launch, worker, index));
    return true;
  }

  LaunchContext &launch;
  Worker &worker;
  std::deque<std::unique_ptr<Cluster>> active;
};

void workerMain(LaunchContext &launch, Worker &worker) {
  Diagnostic diagnostic;
  try {
    ClusterQueue(launch, worker).run();
    return;
  } catch (SimulationError &error) {
    diagnostic = std::move(error.diagnostic);
  } catch (std::exception &error) { // out of host memory
    diagnostic.message = error.what();
  }
  launch.stop = true;
  std::lock_guard<std::mutex> lock(launch.mutex);
  if (!launch.failed)
    launch.findings.push_back(std::move(diagnostic));
  launch.failed = true;
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

void sumInstructions(const LaunchContext &launch,
                     const std::vector<Worker> &workers, Counters &sum) {
  const std::vector<Instruction> &code = launch.program->code;
  sum.perWarp.resize(launch.warpsPerCta());
  for (size_t pc = 0; pc < code.size(); ++pc) {
    size_t kind = size_t(code[pc].instructionClass);
    u64 warpTotal = 0, laneTotal = 0;
    for (const Worker &worker : workers) {
      laneTotal += worker.laneCounts[pc];
      for (size_t warp = 0; warp < sum.perWarp.size(); ++warp) {
        u64 count = worker.warpCounts[warp * code.size() + pc];
        sum.perWarp[warp][kind] += count;
        warpTotal += count;
      }
    }
    sum.warpInstructions[kind] += warpTotal;
    sum.laneInstructions[kind] += laneTotal;
    sum.mmaFlops += warpTotal * code[pc].flops;
    sum.wgmmaSharedBytes += warpTotal * code[pc].wgmmaSharedBytes;
    if (launch.options->profileLines && warpTotal)
      sum.lines.push_back({code[pc].line, warpTotal, laneTotal});
  }
}

void sumTraffic(const std::vector<Worker> &workers, Counters &sum) {
  std::map<u64, BufferTraffic> byAddress;
  for (const Worker &worker : workers)
    for (const GlobalWindow &window : worker.knownWindows) {
      BufferTraffic &buffer = byAddress[window.begin];
      buffer.address = window.begin;
      std::optional<Allocation> allocation =
          worker.memory->findAtOrBelow(window.begin);
      buffer.name = allocation ? allocation->name : "";
      for (size_t path = 0; path < numGlobalPaths; ++path) {
        buffer.paths[path].read += worker.traffic[window.id][path].read;
        buffer.paths[path].write += worker.traffic[window.id][path].write;
      }
      buffer.requests.add(worker.requests[window.id]);
    }
  for (auto &[address, buffer] : byAddress)
    if (buffer.read() || buffer.write())
      sum.buffers.push_back(buffer);
}

Counters sumCounters(const LaunchContext &launch,
                     const std::vector<Worker> &workers) {
  Counters sum;
  for (const Worker &worker : workers)
    sum.add(worker.counters);
  sumInstructions(launch, workers, sum);
  sumTraffic(workers, sum);
  return sum;
}

Timeline collectTimeline(LaunchContext &launch) {
  Timeline timeline;
  for (const std::unique_ptr<Tracer> &tracer : launch.tracers) {
    std::vector<TraceEvent> events = tracer->takeEvents();
    timeline.events.insert(timeline.events.end(), events.begin(), events.end());
    timeline.byteCycles += tracer->getByteCycles();
  }
  for (const TraceEvent &event : timeline.events)
    timeline.cycles = std::max(timeline.cycles, event.end);
  return timeline;
}

/// Kernel parameters, and cooperative groups' workspace when it is used.
class LaunchMemory {
public:
  explicit LaunchMemory(LaunchContext &launch) : launch(launch) {
    DeviceMemory &memory = *launch.memory;
    const Program &program = *launch.program;
    launch.parameterAddress =
        memory.allocate(std::max<u64>(program.parameterBytes, 16),
                        "kernel parameters", /*readOnly=*/true);
    std::copy_n(launch.config->parameters.begin(), program.parameterBytes,
                reinterpret_cast<u8 *>(launch.parameterAddress));
    if (!program.hasSpecial("%envreg1") && !program.hasSpecial("%envreg2"))
      return;
    constexpr u32 workspaceBytes = 256;
    launch.gridWorkspace =
        memory.allocate(workspaceBytes, "grid workspace", /*readOnly=*/false);
    std::memset(reinterpret_cast<void *>(launch.gridWorkspace), 0,
                workspaceBytes);
    *reinterpret_cast<u32 *>(launch.gridWorkspace) = workspaceBytes;
  }
  ~LaunchMemory() {
    launch.memory->release(launch.parameterAddress);
    if (launch.gridWorkspace)
      launch.memory->release(launch.gridWorkspace);
  }

private:
  LaunchContext &launch;
};

/// Where launches may overlap, the chain that this one belongs to.
LaunchChain *joinChain(LaunchContext &launch) {
  const LaunchConfig &config = *launch.config;
  LaunchChain &chain = launch.memory->chain;
  bool isKept = config.mayBeFollowed && launch.program->module->chip() >= 90;
  if (!launch.options->checks.gridWait || !(config.isProgrammatic || isKept)) {
    chain.clear();
    return nullptr;
  }
  chain.begin(launch.program->name, config.isProgrammatic);
  return &chain;
}

/// Unless somebody waits, the end of the grid is not that of all before it.
void checkWaited(LaunchContext &launch) {
  if (!launch.config->isProgrammatic || !launch.options->checks.gridWait ||
      launch.hasWaited || launch.failed)
    return;
  Diagnostic diagnostic;
  diagnostic.finding = Finding::Race;
  diagnostic.file = launch.program->module->fileName();
  diagnostic.kernel = launch.program->name;
  diagnostic.message =
      "no thread of kernel " + launch.program->name +
      ", launched programmatically, executes griddepcontrol.wait: what is "
      "launched behind it may overlap with what is before it";
  diagnostic.remedy = "execute griddepcontrol.wait, or launch the kernel after "
                      "the end of the one before";
  launch.findings.push_back(std::move(diagnostic));
  launch.failed = !launch.options->keepGoing;
}

std::vector<Worker> makeWorkers(LaunchContext &launch) {
  unsigned threads = launch.options->threads
                         ? launch.options->threads
                         : std::max(1u, std::thread::hardware_concurrency());
  u64 count = std::max<u64>(1, std::min<u64>(threads, launch.totalClusters));
  size_t codeSize = launch.program->code.size() + 1;
  std::vector<Worker> workers(count);
  LaunchChain *chain = joinChain(launch);
  for (Worker &worker : workers) {
    worker.launch = &launch;
    worker.memory = launch.memory;
    worker.chain = chain;
    worker.traffic.resize(launch.memory->numIds());
    worker.requests.resize(launch.memory->numIds());
    worker.warpCounts.assign(codeSize * launch.warpsPerCta(), 0);
    worker.laneCounts.assign(codeSize, 0);
  }
  return workers;
}

} // namespace

LaunchReport attn::sim::runLaunch(DeviceMemory &memory, u32 smCount,
                                  Module &module, const std::string &entry,
                                  const LaunchConfig &config,
                                  const Options &options) {
  bool keepRegisters = options.checks.uninitializedRegister;
  LaunchContext launch;
  launch.program = &module.program(entry, keepRegisters);
  launch.config = &config;
  launch.options = &options;
  launch.memory = &memory;
  launch.smCount = smCount;
  LaunchBuilder(launch).run();
  Clock::time_point start = Clock::now(); // decoding is not simulation
  LaunchMemory launchMemory(launch);
  for (u64 k = 0;
       k < std::min<u64>(options.traceClusters, launch.totalClusters); ++k)
    launch.tracers.push_back(std::make_unique<Tracer>(
        options.ctasPerSm, getCopyBytesPerCycle(module.chip())));
  std::vector<Worker> workers = makeWorkers(launch);
  {
    Progress progress(options.progressSeconds, [&launch] {
      return launch.program->name + ": " +
             std::to_string(launch.finishedClusters.load()) + " of " +
             std::to_string(launch.totalClusters) + " clusters";
    });
    std::vector<std::thread> threads;
    for (size_t k = 1; k < workers.size(); ++k)
      threads.emplace_back([&, k] { workerMain(launch, workers[k]); });
    workerMain(launch, workers[0]);
    for (std::thread &thread : threads)
      thread.join();
  }
  checkWaited(launch);
  LaunchReport report;
  report.completed = !launch.failed;
  report.diagnostics = std::move(launch.findings);
  report.counters = sumCounters(launch, workers);
  report.timeline = collectTimeline(launch);
  report.timeline.copyBytesPerCycle = getCopyBytesPerCycle(module.chip());
  report.seconds = secondsSince(start);
  return report;
}
