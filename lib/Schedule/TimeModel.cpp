//===- TimeModel.cpp - Time that a schedule takes -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule runs in phases: one for large cache, scores and outputs for small
// cache. A phase takes as long as its slowest resource (a roofline), a part of
// what the others need, and what nothing hides. Work is spread over the SMs in
// whole CTAs. docs/CostModel.md describes each term.
//
//===----------------------------------------------------------------------===//

#include "CostDetail.h"

#include "Machine.h"
#include "attn/Schedule/Family.h"

#include <cmath>

namespace attn {

//===----------------------------------------------------------------------===//
// Assumed constants, to be calibrated on devices
//===----------------------------------------------------------------------===//

/// Clocks for which a barrier stops a whole CTA, and what the skew of each of
/// its warps adds; a warp-specialised CTA waits on mbarriers instead.
static constexpr double kBarrierClocks = 45;
static constexpr double kBarrierClocksPerWarp = 8;
static constexpr double kMbarrierClocks = 25;
/// Instructions for each score besides MMA and exponential: scale, maximum,
/// sum, half a conversion, half a copy. To this comes the rescaling of the
/// accumulator, dv / tileN for each score.
static constexpr double kInstructionsPerScore = 4;
/// Of these, what a maximum costs with the rescaling, what a sum, and what the
/// warps that compute copy where nobody else does.
static constexpr double kInstructionsPerMaximum = 1;
static constexpr double kInstructionsPerSum = 1;
static constexpr double kInstructionsPerCopy = 0.5;
/// Instructions of each thread for each key tile: reductions across lanes,
/// loop, addresses.
static constexpr double kInstructionsPerTile = 80;
/// Clocks of a row tile whose key tiles are not all whole: those that a mask or
/// the end of the keys cuts have a loop of their own, before which the pipeline
/// of products and softmax drains (fitted: docs/benchmarks).
static constexpr double kCutLoopClocks = 1250;
/// Clocks in which the producer's thread finds a page and starts a copy of it.
static constexpr double kPageClocks = 24;
/// Instructions for each 8-bit number that the producer makes one of 16 bits.
static constexpr double kInstructionsPerWidened = 2;
/// Instructions of an exponential on the FMA units.
static constexpr double kInstructionsPerExp2 = 11;
/// Instructions for each element of a row that changes: to read and write it,
/// with its address and its conversions, to turn it, to normalise it.
static constexpr double kInstructionsPerElement = 8;
static constexpr double kInstructionsPerTurn = 5;
static constexpr double kInstructionsPerNorm = 3;
/// Clocks of a sum over the lanes of a warp, and rows that a warp has at once
/// (lib/Conversion/AttnToTile/Forward/QueryRows.cpp).
static constexpr double kReductionClocks = 130;
static constexpr double kRowsAtOnce = 4;

//===----------------------------------------------------------------------===//
// TimeModel
//===----------------------------------------------------------------------===//

namespace {
/// What one phase needs of each resource.
struct PhaseWork {
  double ctas = 1; ///< of all launches
  double launches = 1;
  double flops = 0;
  double products = 0; ///< the same, by the time that they take
  double exponentials = 0;
  double instructions = 0;      ///< lanes, besides exponentials
  double sharedMemoryBytes = 0; ///< in and out, all SMs
  double tensorMemoryBytes = 0; ///< to registers and back, all SMs
  double l2Bytes = 0;
  double dramBytes = 0;
  double dsmemBytes = 0;
  double chainClocks = 0;   ///< of the longest chain of dependent steps
  double exposedClocks = 0; ///< barriers, prologues; of one CTA at a time
};

class TimeModel {
public:
  TimeModel(Cost &cost, const AttentionProblem &problem,
            const Schedule &schedule, const TargetInfo &target,
            const detail::Work &work);

  void run();

private:
  PhaseWork getOnePass() const;
  PhaseWork getQueryPass() const;
  void changeQuery(PhaseWork &phase) const;
  /// Whether a mask or the end of the keys cuts key tiles.
  bool hasCutTiles() const {
    return problem.mask.isBand() || problem.kvLength % schedule.tileN != 0;
  }
  bool hasQueryPass() const {
    return problem.changesQuery() && target.kind == TargetKind::Gpu &&
           schedule.queryPrologue == QueryPrologue::Kernel;
  }
  /// Of the attention's own kernels.
  double getDramBytes() const {
    return static_cast<double>(cost.dramBytes) -
           (hasQueryPass() ? getQueryPass().dramBytes : 0);
  }
  /// Of each element of the query, and clocks for which a row waits.
  double getRowInstructions() const {
    return kInstructionsPerElement +
           kInstructionsPerTurn * static_cast<double>(problem.queryRotations) +
           kInstructionsPerNorm * static_cast<double>(problem.queryNorms);
  }
  double getRowClocks() const {
    return target.loadClocks +
           kReductionClocks * static_cast<double>(problem.queryNorms);
  }
  PhaseWork getScorePhase() const;
  PhaseWork getOutputPhase() const;
  double getBusiestCtas(const PhaseWork &phase, double units) const;
  double getProductClocks(double depth) const;
  double getPageClocks() const;
  double getWideningInstructions() const;
  double getScoreInstructions() const {
    double instructions =
        kInstructionsPerScore + exp2OnFma * kInstructionsPerExp2;
    if (!problem.hasSoftmax())
      instructions -= kInstructionsPerMaximum;
    if (problem.normalization == Normalization::None)
      instructions -= kInstructionsPerSum;
    // Of families with roles the number of all of them was fitted.
    if (!family.hasRoles() && family.loadsByTma(schedule))
      instructions -= kInstructionsPerCopy;
    return instructions;
  }
  /// Exponentials of the softmax on their own units, for each score. What a
  /// score_mod computes is not counted.
  double getExponentials() const {
    return problem.hasSoftmax() ? 1 - exp2OnFma : 0;
  }
  double getSoftmaxClocks() const;
  double getBarrierClocks() const;
  double hideLoads(double chain, double bytes) const;
  double getBytes(Operand operand, bool reads, bool writes) const;
  void addPhase(const PhaseWork &phase);
  void addTerm(const char *name, double seconds);

  Cost &cost;
  const AttentionProblem &problem;
  const Schedule &schedule;
  const TargetInfo &target;
  const detail::Work &work;

  const Family &family;
  double sms, clocksPerSecond, residentCtas;
  double tileM, tileN, headDim, valueDim, dvSlices, keyTiles;
  double chunks = 1; ///< launches of each small-cache phase
  double elementBytes, keyBytes, valueBytes, scoreBytes;
  /// Of products with V; those with K take `keyShare` of their time.
  double mmaRate, keyShare;
  /// Warps (warpgroups) that read a B operand from shared memory on their own,
  /// the rows of each, and its share of the SM's units.
  double readers, readerRows, unitShare;
  /// Warps that compute the same scores, each for its columns of O.
  double sharing;
  double exp2OnFma;       ///< share of the exponentials
  double smBytesPerClock; ///< L2 bandwidth of one SM
  /// Producer warps rewrite each tile of V, 8-bit numbers of which shared
  /// memory must hold transposed.
  bool transposesV;
  /// They make 8-bit keys and values tiles of the query's type.
  bool widensTiles;
};
} // namespace

TimeModel::TimeModel(Cost &cost, const AttentionProblem &problem,
                     const Schedule &schedule, const TargetInfo &target,
                     const detail::Work &work)
    : cost(cost), problem(problem), schedule(schedule), target(target),
      work(work), family(getFamily(schedule.mma)),
      sms(static_cast<double>(target.smCount)),
      clocksPerSecond(target.clockGHz * 1e9),
      residentCtas(static_cast<double>(std::max<int64_t>(cost.ctasPerSm, 1))),
      tileM(static_cast<double>(schedule.tileM)),
      tileN(static_cast<double>(schedule.tileN)),
      headDim(static_cast<double>(getPaddedHeadDim(problem))),
      valueDim(static_cast<double>(getPaddedValueDim(problem))),
      dvSlices(static_cast<double>(work.dvSlices)),
      keyTiles(static_cast<double>(work.keyTiles)),
      elementBytes(static_cast<double>(getSizeBytes(problem.elementType))),
      keyBytes(static_cast<double>(getSizeBytes(problem.getKeyType()))),
      valueBytes(static_cast<double>(getSizeBytes(problem.getValueType()))),
      scoreBytes(static_cast<double>(
          getElementBytes(problem, schedule, Operand::Scores))),
      mmaRate(family.getRate(problem.getWeightType(), target)),
      keyShare(mmaRate / family.getRate(problem.elementType, target)) {
  readers = static_cast<double>(schedule.warps / family.facts.unitWarps);
  // A warp alone takes as many rows as there are.
  readerRows = static_cast<double>(
      family.hasRoles() ? family.facts.unitRows : schedule.getRowsPerWarp());
  sharing = static_cast<double>(schedule.getSharing());
  unitShare = family.facts.unitShare;
  if (schedule.kind == ScheduleKind::SmallCache)
    chunks = static_cast<double>(
        ceilDiv(work.rowTiles * schedule.tileM, schedule.chunkRows));
  exp2OnFma = static_cast<double>(schedule.exp2OnFma) / 16;
  smBytesPerClock = target.l2GBps * 1e9 / clocksPerSecond / sms;
  transposesV = family.transposesValue(problem.getWeightType());
  widensTiles = family.hasRoles() && problem.cacheType.has_value();
}

//===----------------------------------------------------------------------===//
// Pieces of a chain, in clocks
//===----------------------------------------------------------------------===//

/// A warp's (warpgroup's) product with readerRows x tileN results if its units
/// do nothing else.
double TimeModel::getProductClocks(double depth) const {
  double flopsPerClock = mmaRate / clocksPerSecond / sms * unitShare;
  return 2 * readerRows * tileN * depth / flopsPerClock;
}

/// In which a producer starts the boxes of a tile in pages: of each of them,
/// one of each panel of 128 bytes.
double TimeModel::getPageClocks() const {
  auto count = [&](int64_t page, int64_t columns, double bytes) {
    double boxes = page ? std::max(tileN / static_cast<double>(page), 1.0) : 0;
    return boxes * std::ceil(static_cast<double>(columns) * bytes / 128);
  };
  return family.loadsByTma(schedule)
             ? kPageClocks *
                   (count(problem.keyPage, schedule.tileD, keyBytes) +
                    count(problem.valuePage, schedule.tileDv, valueBytes))
             : 0;
}

/// Of a tile of K and one of V.
double TimeModel::getWideningInstructions() const {
  return tileN * static_cast<double>(schedule.tileD + schedule.tileDv) *
         kInstructionsPerWidened;
}

/// Exponentials and instructions of readerRows x tileN scores.
double TimeModel::getSoftmaxClocks() const {
  double scores = readerRows * tileN;
  return scores * getExponentials() / (target.ex2PerClockPerSm * unitShare) +
         scores * getScoreInstructions() / (target.lanesPerClock * unitShare);
}

double TimeModel::getBarrierClocks() const {
  return kBarrierClocks +
         kBarrierClocksPerWarp * static_cast<double>(schedule.warps);
}

/// The time of an iteration that loads `bytes` while others are computed:
/// stages beyond the first hide one iteration each.
double TimeModel::hideLoads(double chain, double bytes) const {
  // The bandwidth that all SMs share is a term of its own.
  double load = target.loadClocks + bytes / target.fillBytesPerClock;
  return std::max(chain, (chain + load) / static_cast<double>(schedule.stages));
}

/// Bytes of one operand between L2 and the SMs.
double TimeModel::getBytes(Operand operand, bool reads, bool writes) const {
  for (const OperandBytes &moved : cost.operands)
    if (moved.operand == operand)
      return static_cast<double>((reads ? moved.read : 0) +
                                 (writes ? moved.written : 0));
  return 0;
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

/// Large cache and split-KV: products and softmax in one loop over key tiles.
PhaseWork TimeModel::getOnePass() const {
  double keyColumns = static_cast<double>(schedule.tileD), // of a CTA
      valueColumns = static_cast<double>(schedule.tileDv);
  double ctaTiles =
      keyTiles * dvSlices * static_cast<double>(schedule.clusterD);
  // As products read them.
  double tileBytes =
      tileN * (keyColumns * keyBytes + valueColumns * valueBytes);
  double loadedBytes = tileBytes;
  if (widensTiles)
    tileBytes = tileN * (keyColumns + valueColumns) * elementBytes;
  if (problem.sharedKV)
    loadedBytes = tileN * keyColumns * keyBytes;
  double queryBytes =
      schedule.queryInRegisters
          ? 0
          : tileM * static_cast<double>(schedule.tileD) * elementBytes;
  PhaseWork phase;
  phase.ctas = static_cast<double>(cost.ctas);
  double copies = dvSlices * sharing; // of the scores
  phase.flops = 2 * work.scores * (copies * headDim + valueDim);
  phase.products = 2 * work.scores * (copies * headDim * keyShare + valueDim);
  phase.exponentials = work.scores * copies * getExponentials();
  bool keepsOutput = family.keepsOutput(problem, schedule);
  double rescaling =
      problem.hasSoftmax() && !keepsOutput ? valueDim / tileN : 0;
  phase.instructions =
      work.scores * (copies * getScoreInstructions() + rescaling) +
      ctaTiles * static_cast<double>(32 * schedule.warps) *
          kInstructionsPerTile;
  double unreadBytes = // columns of V that other warps read
      readers * (1 - 1 / sharing) * tileN * valueColumns * valueBytes;
  phase.sharedMemoryBytes =
      ctaTiles * (loadedBytes + readers * tileBytes - unreadBytes + queryBytes);
  if (transposesV)
    phase.sharedMemoryBytes += ctaTiles * 2 * tileN * valueColumns * valueBytes;
  if (widensTiles) {
    phase.sharedMemoryBytes += ctaTiles * (loadedBytes + tileBytes);
    phase.instructions += ctaTiles * getWideningInstructions();
  }
  // S in f32, P in the type of V, and what V adds to the output in f32: O once,
  // or in registers the product of each tile.
  if (family.facts.tensorColumns)
    phase.tensorMemoryBytes =
        ctaTiles * tileM * tileN * (4 + valueBytes) +
        (keepsOutput ? phase.ctas : ctaTiles) * tileM * valueColumns * 4;
  phase.l2Bytes = static_cast<double>(cost.getL2Bytes());
  if (hasQueryPass())
    phase.l2Bytes -= getQueryPass().l2Bytes;
  phase.dramBytes = getDramBytes();
  // f32 partial scores are reduced and 16-bit P is gathered.
  phase.dsmemBytes =
      work.scores * 6 * static_cast<double>(schedule.clusterD - 1);

  // Where warps have roles, products run beside the softmax of another tile.
  double products =
             getProductClocks(keyColumns * keyShare + valueColumns / sharing),
         softmax = getSoftmaxClocks();
  double chain =
      family.hasRoles() ? std::max(products, softmax) : products + softmax;
  chain = std::max(chain, getPageClocks());
  // By one warp for each scheduler.
  if (widensTiles)
    chain = std::max(chain, getWideningInstructions() / target.lanesPerClock);
  // CTAs of average length after each other, or the longest one.
  double average = ctaTiles / phase.ctas;
  double iterations =
      std::max(getBusiestCtas(phase, sms * residentCtas) * average,
               static_cast<double>(work.iterations));
  phase.chainClocks =
      iterations * hideLoads(chain + target.iterationClocks, loadedBytes);
  double outputBytes = tileM * static_cast<double>(schedule.tileDv) *
                       static_cast<double>(getSizeBytes(problem.outputType));
  double barriers =
      family.loadsByTma(schedule) ? kMbarrierClocks : 2 * getBarrierClocks();
  phase.exposedClocks =
      ctaTiles * barriers +
      static_cast<double>(cost.ctas) *
          (2 * target.loadClocks + outputBytes / smBytesPerClock);
  if (family.hasRoles() && hasCutTiles())
    phase.exposedClocks += static_cast<double>(cost.ctas) * kCutLoopClocks;
  if (schedule.queryPrologue == QueryPrologue::Fused)
    changeQuery(phase);
  return phase;
}

/// The kernel in front that changes the query: a warp for each row.
PhaseWork TimeModel::getQueryPass() const {
  constexpr int64_t warps = 4; // of a CTA
  double rows =
      static_cast<double>(problem.getKvHeadCount() * problem.getPackedRows());
  PhaseWork phase;
  phase.ctas = std::ceil(rows / warps);
  phase.instructions =
      rows * static_cast<double>(problem.headDim) * getRowInstructions();
  phase.l2Bytes = getBytes(Operand::Query, true, false) +
                  getBytes(Operand::QueryRows, false, true);
  phase.dramBytes = getBytes(Operand::Query, true, false);
  phase.chainClocks = 2 * getRowClocks();
  return phase;
}

/// What a fused query adds to a CTA before its first product, which only the
/// other CTAs of the SM hide.
void TimeModel::changeQuery(PhaseWork &phase) const {
  double elements = tileM * headDim;
  double turns = tileM / static_cast<double>(schedule.warps) / kRowsAtOnce;
  phase.sharedMemoryBytes += phase.ctas * 2 * elements * elementBytes;
  phase.instructions += phase.ctas * elements * getRowInstructions();
  phase.exposedClocks += phase.ctas * turns * getRowClocks();
}

/// Small cache, phase 1: a CTA for each visible tile of Q K^T, which takes
/// slices of tileD; softmax of the tile, spill.
PhaseWork TimeModel::getScorePhase() const {
  double slices = std::ceil(headDim / static_cast<double>(schedule.tileD));
  PhaseWork phase;
  phase.ctas = static_cast<double>(cost.ctas);
  phase.launches = chunks;
  phase.flops = 2 * work.scores * headDim;
  phase.products = phase.flops * keyShare;
  phase.exponentials = work.scores * getExponentials();
  phase.instructions = work.scores * getScoreInstructions();
  phase.sharedMemoryBytes =
      keyTiles * elementBytes * headDim * (2 * tileM + (1 + readers) * tileN);
  Operand query = hasQueryPass() ? Operand::QueryRows : Operand::Query;
  phase.l2Bytes = getBytes(query, true, false) +
                  getBytes(Operand::Key, true, false) +
                  getBytes(Operand::Bias, true, false) +
                  getBytes(Operand::Scores, false, true) +
                  getBytes(Operand::Statistics, false, true);
  phase.dramBytes = getDramBytes() / 2;
  double chain = getProductClocks(headDim) + getSoftmaxClocks() +
                 target.iterationClocks + target.loadClocks;
  phase.chainClocks = getBusiestCtas(phase, sms * residentCtas) * chain;
  phase.exposedClocks =
      phase.ctas * (slices * getBarrierClocks() + target.loadClocks);
  return phase;
}

/// Small cache, phase 2: a CTA for each row tile and slice of V, which takes
/// slices of tileD keys.
PhaseWork TimeModel::getOutputPhase() const {
  double slices = std::ceil(tileN / static_cast<double>(schedule.tileD));
  double columns = static_cast<double>(schedule.tileDv);
  bool takesExponentials = schedule.spill == SpillFormat::Scores;
  PhaseWork phase;
  phase.ctas = static_cast<double>(work.rowTiles) * dvSlices;
  phase.launches = chunks;
  phase.flops = phase.products = 2 * work.scores * valueDim;
  phase.exponentials = takesExponentials ? work.scores * dvSlices : 0;
  // Rescaling of P by its tile's maximum, or the exponentials' arguments.
  phase.instructions = work.scores * dvSlices * (takesExponentials ? 2 : 0.5);
  phase.sharedMemoryBytes =
      keyTiles * (2 * tileM * tileN * dvSlices * scoreBytes +
                  (1 + readers) * tileN * valueDim * elementBytes);
  phase.l2Bytes = static_cast<double>(cost.getL2Bytes()) -
                  getScorePhase().l2Bytes -
                  (hasQueryPass() ? getQueryPass().l2Bytes : 0);
  phase.dramBytes = getDramBytes() / 2;
  double average = keyTiles * dvSlices / phase.ctas;
  double iterations =
      std::max(getBusiestCtas(phase, sms * residentCtas) * average,
               static_cast<double>(work.iterations));
  double chain = getProductClocks(columns) + target.iterationClocks;
  double bytes = tileN * (tileM * scoreBytes + columns * elementBytes);
  phase.chainClocks = iterations * hideLoads(chain, bytes);
  phase.exposedClocks = keyTiles * dvSlices * slices * getBarrierClocks() +
                        phase.ctas * 2 * target.loadClocks;
  return phase;
}

//===----------------------------------------------------------------------===//
// Total
//===----------------------------------------------------------------------===//

void TimeModel::addTerm(const char *name, double seconds) {
  for (CostTerm &term : cost.terms)
    if (term.name == name) {
      term.seconds += seconds;
      return;
    }
  cost.terms.push_back({name, seconds});
}

/// CTAs of the busiest of `units` places, all launches together: whole CTAs in
/// each.
double TimeModel::getBusiestCtas(const PhaseWork &phase, double units) const {
  return phase.launches * std::ceil(phase.ctas / phase.launches / units);
}

/// Terms overlap, but not perfectly: a phase takes (sum of term^4)^(1/4), which
/// is the longest term where the others are short, and more where they are not.
void TimeModel::addPhase(const PhaseWork &phase) {
  double perSm = getBusiestCtas(phase, sms) / phase.ctas;
  double smSeconds = perSm / clocksPerSecond;
  const std::pair<const char *, double> terms[] = {
      {"mma", phase.products / mmaRate * perSm * sms},
      {"exp", phase.exponentials / target.ex2PerClockPerSm * smSeconds},
      {"issue", phase.instructions / target.lanesPerClock * smSeconds},
      {"shared_memory",
       phase.sharedMemoryBytes / target.sharedMemoryBytesPerClock * smSeconds},
      {"tensor_memory", phase.tensorMemoryBytes > 0
                            ? phase.tensorMemoryBytes /
                                  target.tensorMemoryBytesPerClock * smSeconds
                            : 0},
      {"l2", phase.l2Bytes / (target.l2GBps * 1e9)},
      {"dram", phase.dramBytes / (target.dramGBps * 1e9)},
      {"dsmem",
       phase.dsmemBytes > 0 ? phase.dsmemBytes / (target.dsmemGBps * 1e9) : 0},
      {"latency", phase.chainClocks / clocksPerSecond}};
  double powers = 0;
  for (const auto &[name, seconds] : terms) {
    addTerm(name, seconds);
    powers += seconds * seconds * seconds * seconds;
  }
  // Other CTAs of the SM go on while one waits.
  double exposed = phase.exposedClocks * smSeconds / residentCtas;
  addTerm("exposed", exposed);
  cost.seconds += std::sqrt(std::sqrt(powers)) + exposed;
  cost.flops += phase.flops;
}

void TimeModel::run() {
  cost.terms.reserve(11);
  double kernels = schedule.kind == ScheduleKind::SplitKV ? 2 : 1;
  if (schedule.kind == ScheduleKind::SmallCache) {
    addPhase(getScorePhase());
    addPhase(getOutputPhase());
    cost.computedScores = static_cast<int64_t>(work.scores);
    kernels = 2 * chunks;
  } else {
    addPhase(getOnePass());
    cost.computedScores =
        static_cast<int64_t>(work.scores * dvSlices * sharing);
  }
  if (schedule.isPlanned())
    kernels += 1;
  if (hasQueryPass()) {
    addPhase(getQueryPass());
    kernels += 1;
  }
  if (target.kind == TargetKind::Gpu) {
    addTerm("launch", kernels * detail::getLaunchSeconds(target));
    cost.seconds += kernels * detail::getLaunchSeconds(target);
  }
  cost.limiter = detail::getLargestTerm(cost.terms);
}

const std::string &detail::getLargestTerm(const std::vector<CostTerm> &terms) {
  return std::max_element(terms.begin(), terms.end(),
                          [](const CostTerm &a, const CostTerm &b) {
                            return a.seconds < b.seconds;
                          })
      ->name;
}

void detail::setTime(Cost &cost, const AttentionProblem &problem,
                     const Schedule &schedule, const TargetInfo &target,
                     const Work &work) {
  TimeModel(cost, problem, schedule, target, work).run();
}

} // namespace attn
