//===- attn-schedule.cpp - Ranked schedules of a problem ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints what the cost model thinks of an attention problem: the ranked
// schedules with what they move and why they lost, and what was rejected; for
// several GPUs the ranked plans. No IR is involved.
//
//===----------------------------------------------------------------------===//

#include "Ranks.h"
#include "Sweep.h"

#include "attn/Schedule/BackwardReport.h"
#include "attn/Schedule/LinearReport.h"
#include "attn/Support/Format.h"
#include "attn/Support/KeyValue.h"
#include "attn/Support/Progress.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

#include <new>

using namespace attn;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

static cl::OptionCategory inputOptions("Problem and target");
static cl::OptionCategory choiceOptions("Choice");
static cl::OptionCategory ranksOptions("Several GPUs");
static cl::OptionCategory outputOptions("Output");

static cl::opt<std::string> problemText(
    "problem", cl::cat(inputOptions), cl::value_desc("fields"),
    cl::desc("What to compute, e.g. 'B=4 Hq=32 Hkv=8 M=8192 N=8192 D=128 "
             "dtype=bf16 mask=causal'.\nFields: B, H (or Hq, Hkv), M, N, D, "
             "Dv, dtype, cache, key_page, value_page, out, d_query, d_key, "
             "d_value, mask, "
             "pass, "
             "normalization, lse, amax, bias, "
             "score_mod, "
             "dropout, shared_kv, tf32.\nMasks: "
             "full, causal, window:SIZE, local:LEFT,RIGHT; then *DENSITY, "
             "@top_left.\nOf a linear attention: 'algorithm=linear B=1 Hq=32 "
             "N=8192 D=128 decay=head', with decay\nnone, position or head, "
             "state, final_state, states, full and pass; with the length from "
             "which\non it is faster than softmax"));
static cl::opt<std::string>
    targetName("target", cl::cat(inputOptions), cl::value_desc("name"),
               cl::init("sm_90a"),
               cl::desc("Known target (see --list-targets); default sm_90a"));
static cl::opt<std::string> targetFile(
    "target-file", cl::cat(inputOptions), cl::value_desc("file"),
    cl::desc("Read the target from a file of 'name = value' lines, the first "
             "'base = KNOWN TARGET'; - is standard input"));
static cl::opt<std::string>
    sharedMemoryBytes("smem-bytes", cl::cat(inputOptions), cl::value_desc("N"),
                      cl::desc("Shared memory that a CTA can get"));
static cl::list<std::string> targetFields(
    "set-target", cl::cat(inputOptions), cl::value_desc("field=value"),
    cl::desc("Set a number of the target, e.g. dram-gbps=3000; repeatable"));

static cl::opt<std::string>
    scheduleText("schedule", cl::cat(choiceOptions), cl::value_desc("fields"),
                 cl::desc("Fields of the schedule that are given, e.g. "
                          "'kind=large_cache tile_m=128 stages=2' (see "
                          "--list-fields)"));

static cl::opt<bool> deterministic(
    "deterministic", cl::cat(choiceOptions),
    cl::desc("Backward: only kernels whose gradients are the same bits in "
             "every run"));
static cl::opt<int64_t> ranks(
    "ranks", cl::cat(ranksOptions), cl::value_desc("N"),
    cl::desc("Plan a self-attention (M = N) for so many GPUs: who has which "
             "tokens, who sends what to whom, what is computed when"));
static cl::opt<std::string> linkText(
    "link", cl::cat(ranksOptions), cl::value_desc("fields"),
    cl::desc("How ranks reach each other, in one direction of a rank; default "
             "'node=8 gbps=360 latency-us=3\nnic-gbps=45 nic-latency-us=8' "
             "(assumed: NVLink 4 in nodes of 8, a 400 Gb/s NIC each)"));
static cl::opt<std::string> documentsText(
    "documents", cl::cat(ranksOptions), cl::value_desc("lengths"),
    cl::desc("Sequences packed into the N tokens, e.g. 4096,1024,3072; the "
             "problem's mask holds in each"));
static cl::opt<std::string> blocksFile(
    "blocks", cl::cat(ranksOptions), cl::value_desc("file"),
    cl::desc("Who sees whom, as a picture: a line for each chunk of rows, in "
             "it a character for each chunk of keys, '.' for none\nof its "
             "pairs, '+' for some, '#' for all"));
static cl::opt<int64_t> chunkTokens(
    "chunk", cl::cat(ranksOptions), cl::value_desc("tokens"), cl::init(0),
    cl::desc("Tokens that a rank has at least in a row; default 256, or less "
             "for short sequences without --deterministic"));
static cl::opt<std::string> schemeText(
    "scheme", cl::cat(ranksOptions), cl::value_desc("name"),
    cl::desc("Only plans that move tokens so: group-cast, 'group-cast, own "
             "first', all-gather, ring, all-to-all, ..."));
static cl::opt<std::string> placementText(
    "placement", cl::cat(ranksOptions), cl::value_desc("name"),
    cl::desc(
        "Only plans that share out tokens so: contiguous, zigzag, striped, "
        "documents, heap"));
static cl::opt<int64_t> headShards(
    "head-shards", cl::cat(ranksOptions), cl::value_desc("N"), cl::init(0),
    cl::desc("Only plans in which N ranks exchange rows for heads; 1: only "
             "plans that move\nkeys"));
static cl::opt<bool> json("json", cl::cat(outputOptions),
                          cl::desc("Print JSON instead of tables"));
static cl::opt<int> top("top", cl::cat(outputOptions), cl::value_desc("N"),
                        cl::init(10),
                        cl::desc("Ranked schedules to print; default 10"));
static cl::opt<std::string> sweepText(
    "sweep", cl::cat(outputOptions),
    cl::value_desc("field=first:last[:factor]"),
    cl::desc("Print one line for each value of a problem or target field, or "
             "of several at once, e.g. D=64:4096, M,N=1024:65536:4, "
             "smem-bytes=16384:262144"));
static cl::opt<bool> listTargets("list-targets", cl::cat(outputOptions),
                                 cl::desc("List targets and their fields"));
static cl::opt<bool>
    listFields("list-fields", cl::cat(outputOptions),
               cl::desc("List the fields of a schedule, and of which kinds and "
                        "matrix instructions they are"));

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static int reportError(const std::string &message) {
  llvm::errs() << "attn-schedule: error: " << message << "\n";
  return 1;
}

static void printTargets() {
  Table table({"target", "chip", "SMs", "smem/CTA", "L2", "L2 GB/s",
               "DRAM GB/s", "f16 TFLOP/s"},
              {Table::Left, Table::Left, Table::Right, Table::Right,
               Table::Right, Table::Right, Table::Right, Table::Right});
  for (const std::string &name : getKnownTargetNames()) {
    TargetInfo target = *lookupTarget(name);
    table.addRow({name, target.product, std::to_string(target.smCount),
                  std::to_string(target.sharedMemoryPerCtaBytes),
                  formatBytes(target.l2Bytes), formatFixed(target.l2GBps, 0),
                  formatFixed(target.dramGBps, 0),
                  formatFixed(target.f16TFlops, 0)});
  }
  llvm::outs() << table.print() << "\n";
  Table fields({"field", "meaning"}, {Table::Left, Table::Left});
  for (const TargetField &field : getTargetFields())
    fields.addRow({field.name, field.description});
  llvm::outs() << fields.print();
}

static void printFields() {
  Table table(
      {"field", "values", "default", "of", "meaning"},
      {Table::Left, Table::Left, Table::Left, Table::Left, Table::Left});
  for (const ScheduleField &field : getScheduleFields())
    table.addRow({std::string(field.name), field.values, field.defaultValue,
                  field.owners.empty() ? "all" : field.owners,
                  std::string(field.description)});
  llvm::outs() << table.print();
}

static Result<TargetInfo> readTarget() {
  if (targetFile.empty())
    return lookupTarget(targetName);
  if (targetName.getNumOccurrences())
    return Error{"expected --target or --target-file, got both"};
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(targetFile, /*IsText=*/true);
  if (!buffer)
    return Error{"cannot read target file '" + targetFile +
                 "': " + buffer.getError().message()};
  Result<TargetInfo> target = parseTarget((*buffer)->getBuffer().str());
  if (!target)
    return Error{"target file '" + targetFile + "': " + target.error()};
  return target;
}

/// The target with what the command line changes.
static Result<TargetInfo> getTarget() {
  Result<TargetInfo> target = readTarget();
  if (!target)
    return target;
  std::vector<std::string> settings(targetFields.begin(), targetFields.end());
  if (!sharedMemoryBytes.empty())
    settings.push_back("smem-bytes=" + sharedMemoryBytes);
  if (Status status = setTargetFields(*target, join(settings, " ")); !status)
    return Error{status.error()};
  return target;
}

static int runSweep(const TargetInfo &target,
                    const ScheduleOverrides &overrides) {
  Result<SweepRange> range = SweepRange::parse(sweepText);
  if (!range)
    return reportError(range.error());
  std::vector<SweepPoint> points;
  {
    Progress progress("ranking the schedules of each point");
    for (int64_t value : range->getValues()) {
      Result<SweepPoint> point =
          runSweepPoint(*range, value, problemText, target, overrides);
      if (!point)
        return reportError(point.error());
      points.push_back(std::move(*point));
    }
  }
  if (json)
    llvm::outs() << getSweepJson(*range, points).dump(2) << "\n";
  else
    llvm::outs() << printSweep(*range, points);
  return 0;
}

static int runBackward(const AttentionProblem &problem,
                       const TargetInfo &target,
                       const ScheduleOverrides &overrides) {
  if (std::string unused = printUnusedFields(overrides, problem);
      !unused.empty())
    return reportError("expected fields that the kernels of a backward have, "
                       "got " +
                       unused);
  Result<BackwardSelection> selection = selectBackwardSchedules(
      problem, target, {overrides, overrides, deterministic});
  if (!selection)
    return reportError(selection.error());
  if (json)
    llvm::outs() << getBackwardReportJson(problem, target, *selection).dump(2)
                 << "\n";
  else
    llvm::outs() << printBackwardReport(problem, target, *selection);
  return 0;
}

/// Whether the problem is one of linear attention; other algorithms have no
/// name.
static Result<bool> isLinear() {
  Result<std::vector<KeyValue>> fields = parseKeyValues(problemText);
  if (!fields)
    return Error{fields.error()};
  for (const KeyValue &field : *fields)
    if (field.key == "algorithm") {
      if (field.value == "linear")
        return true;
      return Error{"expected algorithm=linear, got '" + field.value + "'"};
    }
  return false;
}

static int runLinearBackward(const LinearProblem &problem,
                             const TargetInfo &target,
                             const ScheduleOverrides &overrides) {
  Result<LinearBackward> selections =
      selectLinearBackward(problem, target, overrides);
  if (!selections)
    return reportError(selections.error());
  if (json)
    llvm::outs() << getLinearBackwardJson(problem, target, *selections).dump(2)
                 << "\n";
  else
    llvm::outs() << printLinearBackward(problem, target, *selections);
  return 0;
}

static int runLinear(const TargetInfo &target,
                     const ScheduleOverrides &overrides) {
  if (!sweepText.empty())
    return reportError("expected --sweep without algorithm=linear");
  Result<LinearProblem> problem = LinearProblem::parse(problemText);
  if (!problem)
    return reportError(problem.error());
  if (problem->pass == AttentionPass::Backward)
    return runLinearBackward(*problem, target, overrides);
  Result<LinearSelection> selection =
      selectLinearSchedule(*problem, target, overrides);
  if (!selection)
    return reportError(selection.error());
  Result<std::optional<int64_t>> crossover =
      findCrossover(*problem, target, overrides);
  if (!crossover)
    return reportError(crossover.error());
  if (json)
    llvm::outs()
        << getLinearReportJson(*problem, target, *selection, *crossover).dump(2)
        << "\n";
  else
    llvm::outs() << printLinearReport(*problem, target, *selection, *crossover);
  return 0;
}

static int runSelection(const TargetInfo &target,
                        const ScheduleOverrides &overrides) {
  Result<AttentionProblem> problem = AttentionProblem::parse(problemText);
  if (!problem)
    return reportError(problem.error());
  if (problem->pass == AttentionPass::Backward)
    return runBackward(*problem, target, overrides);
  SelectorOptions emitted;
  emitted.features = getGeneratorFeatures(*problem, target);
  Result<Selection> selection =
      selectSchedule(*problem, target, overrides, emitted);
  if (!selection)
    return reportError(selection.error());
  ReportOptions options = {top};
  if (json)
    llvm::outs() << getReportJson(*problem, target, *selection, options).dump(2)
                 << "\n";
  else
    llvm::outs() << printReport(*problem, target, *selection, options);
  return 0;
}

static int runRanks(const TargetInfo &target) {
  if (!scheduleText.empty() || !sweepText.empty())
    return reportError("expected --ranks without --schedule and --sweep");
  RanksOptions options = {
      ranks,
      linkText,
      documentsText,
      blocksFile,
      {chunkTokens, deterministic, schemeText, placementText, headShards}};
  Result<RanksResult> result = [&] {
    Progress progress("ranking plans for the ranks");
    return planRanks(problemText, target, options);
  }();
  if (!result)
    return reportError(result.error());
  const auto &[problem, topology, selection] = *result;
  if (json)
    llvm::outs() << getPlanReportJson(problem, topology, selection, top).dump(2)
                 << "\n";
  else
    llvm::outs() << printPlanReport(problem, topology, selection, top);
  return 0;
}

/// --ranks, which the others of its kind need.
static Result<bool> hasRanks() {
  if (ranks.getNumOccurrences())
    return true;
  for (cl::Option *option :
       {(cl::Option *)&linkText, (cl::Option *)&documentsText,
        (cl::Option *)&blocksFile, (cl::Option *)&chunkTokens,
        (cl::Option *)&schemeText, (cl::Option *)&placementText,
        (cl::Option *)&headShards})
    if (option->getNumOccurrences())
      return Error{"--" + option->ArgStr.str() +
                   ": expected --ranks, for which it is, got none"};
  return false;
}

static int runTool(int argc, char **argv) {
  cl::HideUnrelatedOptions(
      {&inputOptions, &choiceOptions, &ranksOptions, &outputOptions});
  cl::ParseCommandLineOptions(
      argc, argv,
      "attn-schedule: the schedules of an attention problem, ranked\n\n"
      "  attn-schedule --problem 'B=4 Hq=32 Hkv=8 M=8192 N=8192 D=128 "
      "mask=causal' --target=sm_90a\n"
      "  attn-schedule --problem 'Hq=32 Hkv=8 M=65536 N=65536 D=128 "
      "mask=causal' --ranks=8\n");
  if (listTargets) {
    printTargets();
    return 0;
  }
  if (listFields) {
    printFields();
    return 0;
  }
  if (problemText.empty())
    return reportError("expected --problem, e.g. --problem 'M=4096 N=4096 "
                       "D=128'");
  if (top < 1)
    return reportError("expected --top of at least 1, got " +
                       std::to_string(top));
  Result<TargetInfo> target = getTarget();
  if (!target)
    return reportError(target.error());
  Result<bool> isForRanks = hasRanks();
  if (!isForRanks)
    return reportError(isForRanks.error());
  if (*isForRanks)
    return runRanks(*target);
  Result<ScheduleOverrides> overrides = ScheduleOverrides::parse(scheduleText);
  if (!overrides)
    return reportError(overrides.error());
  Result<bool> linear = isLinear();
  if (!linear)
    return reportError(linear.error());
  if (*linear)
    return runLinear(*target, *overrides);
  return sweepText.empty() ? runSelection(*target, *overrides)
                           : runSweep(*target, *overrides);
}

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  std::set_new_handler(nullptr); // LLVM's own ends the process.
  try {
    return runTool(argc, argv);
  } catch (const std::bad_alloc &) {
    return reportError("expected plans that fit into memory, got larger ones");
  }
}
