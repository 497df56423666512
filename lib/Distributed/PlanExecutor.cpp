//===- PlanExecutor.cpp - One rank's part of a plan -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanExecutorImpl.h"

namespace attn {

//===----------------------------------------------------------------------===//
// What ranks agree on
//===----------------------------------------------------------------------===//

/// Whether this rank can begin.
Status PlanExecutor::Impl::checkStart(const PlanInputs &inputs) const {
  if (exchanger.getSize() != size())
    return Error{"expected a plan for " + std::to_string(exchanger.getSize()) +
                 " ranks, as there are, got one for " + std::to_string(size())};
  for (int64_t value : {sizes.batch, sizes.heads, sizes.keyHeads, sizes.headDim,
                        sizes.valueDim, sizes.elementBytes})
    if (value < 1)
      return Error{"expected sizes of at least 1, got " +
                   std::to_string(value)};
  if (sizes.heads % sizes.keyHeads)
    return Error{"expected key heads that divide the " +
                 std::to_string(sizes.heads) + " query heads, got " +
                 std::to_string(sizes.keyHeads)};
  int64_t shards = plan.headShards;
  if (sizes.heads % shards ||
      (sizes.keyHeads % shards && shards % sizes.keyHeads))
    return Error{"expected heads that " + std::to_string(shards) +
                 " ranks share out, got " + std::to_string(sizes.heads) +
                 " query heads and " + std::to_string(sizes.keyHeads) +
                 " key heads"};
  if (inputs.bias && (shards > 1 || plan.movesQueries()))
    return Error{"expected a plan that moves keys, with head_shards 1, for a "
                 "bias, whose rows do not travel, got " +
                 plan.printScheme()};
  return {};
}

std::string PlanExecutor::Impl::printFacts(const PlanInputs &inputs) const {
  std::string more = inputs.sink ? " sink" : "";
  more += inputs.bias ? " bias" : "";
  for (int64_t b = 0; inputs.lengths && b < sizes.batch; ++b)
    more += (b ? "," : " lengths ") + std::to_string(inputs.lengths[b]);
  return "plan " + printDigest(plan) + " [" + std::to_string(sizes.batch) +
         ", " + std::to_string(sizes.heads) + ", " +
         std::to_string(sizes.keyHeads) + ", " + std::to_string(sizes.headDim) +
         ", " + std::to_string(sizes.valueDim) + "] " +
         std::to_string(sizes.elementBytes) + " bytes an element " +
         kernels.description + more;
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// Those that a rank computes, of queries or of keys.
HeadRange PlanExecutor::Impl::getHeads(int64_t rank, bool isOfKeys) const {
  int64_t shards = plan.headShards, member = rank % shards;
  int64_t heads = isOfKeys ? sizes.keyHeads : sizes.heads;
  int64_t begin = member * heads / shards;
  // With fewer key heads than ranks, several have the same one.
  return {begin, std::max(begin + 1, (member + 1) * heads / shards)};
}

/// The rank's own array, and the one of its heads: the same where ranks do not
/// exchange heads.
PlanExecutor::Impl::Shared
PlanExecutor::Impl::share(const void *data, size_t rowBytes, bool isOfKeys) {
  HeadRange all = {0, isOfKeys ? sizes.keyHeads : sizes.heads};
  char *address = static_cast<char *>(const_cast<void *>(data));
  TokenArray own{sizes.batch, all, mine().rows, rowBytes, address};
  if (plan.headShards == 1 && data)
    return {own, own, isOfKeys};
  return {own,
          memory.allocate(sizes.batch, getHeads(rank(), isOfKeys),
                          plan.getHeld(rank()), rowBytes),
          isOfKeys};
}

/// Rows of all heads for all rows of some heads.
Status PlanExecutor::Impl::spread(const std::vector<Shared> &arrays) {
  if (plan.headShards == 1)
    return {};
  std::vector<Message> send(size()), receive(size());
  for (int64_t peer = 0; peer < size(); ++peer)
    for (const auto &[own, held, isOfKeys] : arrays)
      if (isInGroup(peer)) {
        send[peer].push_back({own, getHeads(peer, isOfKeys), mine().rows});
        receive[peer].push_back({held, held.heads, plan.ranks[peer].rows});
      }
  return exchanger.begin(send, receive, Arrival::Copy)();
}

/// The way back. Added, where ranks have computed parts of a key head.
Status PlanExecutor::Impl::gather(const std::vector<Shared> &arrays,
                                  Arrival arrival) {
  if (plan.headShards == 1)
    return {};
  std::vector<Message> send(size()), receive(size());
  for (int64_t peer = 0; peer < size(); ++peer)
    for (const auto &[own, held, isOfKeys] : arrays)
      if (isInGroup(peer)) {
        send[peer].push_back({held, held.heads, plan.ranks[peer].rows});
        receive[peer].push_back({own, getHeads(peer, isOfKeys), mine().rows});
      }
  return exchanger.begin(send, receive, arrival)();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Nobody sends anything in the stage, or there is none.
bool PlanExecutor::Impl::isQuiet(size_t number) const {
  bool isQuiet = true;
  if (number < mine().stages.size())
    for (const RankPlan &other : plan.ranks)
      isQuiet &= other.stages[number].send.empty();
  return isQuiet;
}

/// These tokens of an array, which it has.
TokenArray PlanExecutor::Impl::take(const TokenArray &array,
                                    const TokenRanges &tokens) {
  if (tokens == array.tokens)
    return array;
  TokenArray part = allocate(array, tokens);
  memory.copy(part, array, array.heads, tokens);
  return part;
}

CallInputs PlanExecutor::Impl::makeInputs(const SavedAttention &saved,
                                          const Call &call, const void *query,
                                          const TokenArray &keys,
                                          const TokenArray &values) const {
  return {call,      saved.query.heads, saved.key.heads, query,
          keys.data, values.data,       nullptr,         saved.lengths};
}

/// Begins a stage's transfers into arrays of all keys that the rank ever has.
Wait PlanExecutor::Impl::sendKeys(size_t number, const TokenArray &key,
                                  const TokenArray &value) {
  if (isQuiet(number))
    return [] { return Status(); };
  const Stage &stage = mine().stages[number];
  std::vector<Message> send(size()), receive(size());
  for (const Transfer &transfer : stage.send)
    for (const TokenArray &array : {key, value})
      send[transfer.peer].push_back({array, array.heads, transfer.tokens});
  for (const Transfer &transfer : stage.receive)
    for (const TokenArray &array : {key, value})
      receive[transfer.peer].push_back({array, array.heads, transfer.tokens});
  return exchanger.begin(send, receive, Arrival::Copy);
}

/// The rank's calls in their order, with keys and values.
Status PlanExecutor::Impl::visitCalls(const SavedAttention &saved,
                                      const Visit &visit) {
  size_t first = plan.headShards > 1 ? 1 : 0;
  TokenRanges seen = saved.key.tokens;
  for (size_t i = first; i < mine().stages.size(); ++i)
    for (const Transfer &transfer : mine().stages[i].receive)
      seen = seen.unite(transfer.tokens);
  TokenArray key = allocate(saved.key, seen);
  TokenArray value = allocate(saved.value, seen);
  memory.copy(key, saved.key, key.heads, saved.key.tokens);
  memory.copy(value, saved.value, value.heads, saved.value.tokens);
  Wait wait = sendKeys(first, key, value);
  for (size_t i = first; i < mine().stages.size(); ++i) {
    if (Status status = wait(); !status)
      return status;
    wait = sendKeys(i + 1, key, value);
    for (const Call &call : mine().stages[i].calls) {
      TokenArray keys = take(key, call.keys), values = take(value, call.keys);
      TokenArray bias = takeBias(saved, call.keys);
      CallInputs inputs =
          makeInputs(saved, call, saved.query.data, keys, values);
      inputs.bias = bias.getFloats();
      Status status = memory.getStatus();
      if (status)
        status = visit(inputs);
      if (!status) {
        // The memory of what is under way is let go only when it has come.
        (void)wait();
        return status;
      }
    }
  }
  return memory.getStatus();
}

/// Output and LSE of the rank's heads, merged in the order of stages.
Status PlanExecutor::Impl::computeCalls(const SavedAttention &saved) {
  fillWithoutKeys(saved);
  // A sink is a part of its own.
  bool isFirst = !saved.sink;
  CallResults results{saved.output.getFloats(), saved.lse.getFloats()};
  int64_t rows = saved.lse.getBytes() / sizeof(float);
  return visitCalls(saved, [&](const CallInputs &inputs) {
    if (isFirst) {
      isFirst = false;
      return kernels.forward(inputs, results);
    }
    TokenArray output = allocate(saved.output, saved.output.tokens);
    TokenArray lse = allocate(saved.lse, saved.lse.tokens);
    CallResults part{output.getFloats(), lse.getFloats()};
    if (!memory.getStatus())
      return memory.getStatus();
    if (Status status = kernels.forward(inputs, part); !status)
      return status;
    memory.merge(results, part, rows, sizes.valueDim);
    return memory.getStatus();
  });
}

/// Of the rank's heads: dQuery, and dKey and dValue of the keys of its calls.
Status PlanExecutor::Impl::differentiateCalls(const SavedAttention &saved,
                                              const TokenArray &dOutput,
                                              const TokenArray &dQuery,
                                              const TokenArray &dKey,
                                              const TokenArray &dValue,
                                              float *dBias) {
  memory.fill(dQuery, 0);
  CallResults results{saved.output.getFloats(), saved.lse.getFloats()};
  return visitCalls(saved, [&](const CallInputs &inputs) {
    const TokenRanges &keys = inputs.call.keys;
    TokenArray queryPart = allocate(dQuery, dQuery.tokens);
    TokenArray keyPart = allocate(dKey, keys);
    TokenArray valuePart = allocate(dValue, keys);
    if (!memory.getStatus())
      return memory.getStatus();
    TokenArray biasPart;
    if (dBias && saved.bias)
      biasPart =
          memory.allocate(sizes.batch, saved.query.heads, saved.query.tokens,
                          keys.count() * sizeof(float));
    CallGradients part{queryPart.getFloats(), keyPart.getFloats(),
                       valuePart.getFloats(), biasPart.getFloats()};
    if (Status status = kernels.backward(inputs, results, dOutput.data, part);
        !status)
      return status;
    memory.add(dQuery, queryPart, dQuery.heads, dQuery.tokens);
    memory.copy(dKey, keyPart, dKey.heads, keys);
    memory.copy(dValue, valuePart, dValue.heads, keys);
    if (biasPart.data)
      putBias(dBias, biasPart, keys);
    return memory.getStatus();
  });
}

/// Sums of the keys of this rank's calls go to those who hold them, of the same
/// heads, and are added there.
Status PlanExecutor::Impl::returnSums(const std::vector<TokenArray> &held,
                                      const std::vector<TokenArray> &sums) {
  std::vector<Message> send(size()), receive(size());
  for (int64_t peer = 0; peer < size(); ++peer) {
    if (peer % plan.headShards != rank() % plan.headShards)
      continue;
    TokenRanges sent = mine().getKeys().intersect(plan.getHeld(peer));
    TokenRanges received =
        plan.ranks[peer].getKeys().intersect(plan.getHeld(rank()));
    for (size_t i = 0; i < held.size(); ++i) {
      send[peer].push_back({sums[i], sums[i].heads, sent});
      receive[peer].push_back({held[i], held[i].heads, received});
    }
  }
  return exchanger.begin(send, receive, Arrival::Add)();
}

//===----------------------------------------------------------------------===//
// Forward and backward
//===----------------------------------------------------------------------===//

Result<std::shared_ptr<const SavedAttention>>
PlanExecutor::Impl::forward(const PlanInputs &inputs,
                            const CallResults &results) {
  if (Status status = exchanger.agree(printFacts(inputs), checkStart(inputs));
      !status)
    return Error{status.error()};
  size_t element = sizes.elementBytes;
  Shared query = share(inputs.query, sizes.headDim * element);
  Shared key = share(inputs.key, sizes.headDim * element, true);
  Shared value = share(inputs.value, sizes.valueDim * element, true);
  Shared output = share(results.output, sizes.valueDim * sizeof(float));
  Shared lse = share(results.lse, sizeof(float));
  std::vector<Shared> computed = {output};
  if (results.lse)
    computed.push_back(lse);
  auto saved = std::make_shared<SavedAttention>(
      SavedAttention{query.held, key.held, value.held, output.held, lse.held,
                     inputs.sink, inputs.bias, inputs.lengths});
  Status status = spread({query, key, value});
  if (status)
    status =
        plan.movesQueries() ? computeQueryCalls(*saved) : computeCalls(*saved);
  if (status)
    status = gather(computed, Arrival::Copy);
  if (!status)
    return Error{status.error()};
  return std::shared_ptr<const SavedAttention>(saved);
}

Status PlanExecutor::Impl::backward(const SavedAttention &saved,
                                    const void *dOutput,
                                    const CallGradients &gradients) {
  if (!kernels.backward)
    return Error{"expected a backward among the kernels, got none"};
  Shared rows = share(dOutput, saved.value.rowBytes);
  size_t keyBytes = sizes.headDim * sizeof(float);
  size_t valueBytes = sizes.valueDim * sizeof(float);
  Shared query = share(gradients.query, keyBytes);
  Shared key = share(gradients.key, keyBytes, true);
  Shared value = share(gradients.value, valueBytes, true);
  for (const Shared &shared : {query, key, value}) {
    memory.fill(shared.own, 0);
    memory.fill(shared.held, 0);
  }
  if (plan.movesQueries())
    return memory.getStatus()
               ? differentiateQueryCalls(saved, rows.held, query.held, key.held,
                                         value.held)
               : memory.getStatus();
  if (gradients.bias && saved.bias)
    memory.fill({sizes.batch, saved.query.heads, saved.query.tokens,
                 plan.tokens * sizeof(float),
                 reinterpret_cast<char *>(gradients.bias)},
                0);
  TokenArray keySums = allocate(key.held, mine().getKeys());
  TokenArray valueSums = allocate(value.held, mine().getKeys());
  Status status = spread({rows});
  if (status)
    status = differentiateCalls(saved, rows.held, query.held, keySums,
                                valueSums, gradients.bias);
  if (status)
    status = returnSums({key.held, value.held}, {keySums, valueSums});
  if (status)
    status = gather({query, key, value}, Arrival::Add);
  return status;
}

PlanExecutor::PlanExecutor(Plan plan, PlanSizes sizes,
                           PlanCommunicator communicator, PlanKernels kernels,
                           PlanMemory memory)
    : impl(std::make_unique<Impl>(std::move(plan), sizes,
                                  std::move(communicator), std::move(kernels),
                                  std::move(memory))) {}

PlanExecutor::~PlanExecutor() = default;

Result<std::shared_ptr<const SavedAttention>>
PlanExecutor::forward(const PlanInputs &inputs, const CallResults &results) {
  return impl->forward(inputs, results);
}

Status PlanExecutor::backward(const SavedAttention &saved, const void *dOutput,
                              const CallGradients &gradients) {
  return impl->backward(saved, dOutput, gradients);
}

int64_t PlanExecutor::getSentBytes() const { return impl->getSentBytes(); }

} // namespace attn
