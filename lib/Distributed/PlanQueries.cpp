//===- PlanQueries.cpp - Plans that move queries --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanExecutorImpl.h"

namespace attn {

/// Begins a stage's transfers into arrays of all rows that the rank ever has.
Wait PlanExecutor::Impl::sendRows(size_t number,
                                  const std::vector<TokenArray> &arrays) {
  if (isQuiet(number))
    return [] { return Status(); };
  const Stage &stage = mine().stages[number];
  std::vector<Message> send(size()), receive(size());
  for (const TokenArray &array : arrays) {
    for (const Transfer &transfer : stage.send)
      send[transfer.peer].push_back({array, array.heads, transfer.tokens});
    for (const Transfer &transfer : stage.receive)
      receive[transfer.peer].push_back({array, array.heads, transfer.tokens});
  }
  return exchanger.begin(send, receive, Arrival::Copy);
}

/// The rank's calls in their order, with their rows of `own`, of which the
/// first are the queries, and keys of its own.
Status PlanExecutor::Impl::visitQueryCalls(const SavedAttention &saved,
                                           const std::vector<TokenArray> &own,
                                           const VisitRows &visit) {
  TokenRanges rows = mine().rows;
  for (const Stage &stage : mine().stages)
    for (const Transfer &transfer : stage.receive)
      rows = rows.unite(transfer.tokens);
  std::vector<TokenArray> arrays;
  for (const TokenArray &array : own) {
    arrays.push_back(allocate(array, rows));
    memory.copy(arrays.back(), array, array.heads, array.tokens);
  }
  Wait wait = sendRows(0, arrays);
  for (size_t i = 0; i < mine().stages.size(); ++i) {
    if (Status status = wait(); !status)
      return status;
    wait = sendRows(i + 1, arrays);
    for (const Call &call : mine().stages[i].calls) {
      std::vector<TokenArray> parts;
      for (const TokenArray &array : arrays)
        parts.push_back(take(array, call.rows));
      TokenArray keys = take(saved.key, call.keys);
      TokenArray values = take(saved.value, call.keys);
      Status status = memory.getStatus();
      if (status)
        status = visit(
            makeInputs(saved, call, parts.front().data, keys, values), parts);
      if (!status) {
        // The memory of what is under way is let go only when it has come.
        (void)wait();
        return status;
      }
    }
  }
  return memory.getStatus();
}

/// Output and LSE of rows over the keys of this rank go to their owners.
Status PlanExecutor::Impl::computeQueryCalls(const SavedAttention &saved) {
  TokenArray output = allocate(saved.output, mine().getRows());
  TokenArray lse = allocate(saved.lse, mine().getRows());
  Status status = visitQueryCalls(
      saved, {saved.query},
      [&](const CallInputs &inputs, const std::vector<TokenArray> &) {
        const TokenRanges &rows = inputs.call.rows;
        TokenArray outputPart = allocate(output, rows);
        TokenArray lsePart = allocate(lse, rows);
        if (!memory.getStatus())
          return memory.getStatus();
        if (Status status = kernels.forward(
                inputs, {outputPart.getFloats(), lsePart.getFloats()});
            !status)
          return status;
        memory.copy(output, outputPart, output.heads, rows);
        memory.copy(lse, lsePart, lse.heads, rows);
        return memory.getStatus();
      });
  return status ? mergeAnswers(saved, output, lse) : status;
}

/// Results of the rank's own rows, from those who have computed parts of them,
/// in ascending order of ranks.
Status PlanExecutor::Impl::mergeAnswers(const SavedAttention &saved,
                                        const TokenArray &output,
                                        const TokenArray &lse) {
  std::vector<Message> send(size()), receive(size());
  std::vector<SavedAttention> answers(size());
  for (int64_t peer = 0; peer < size(); ++peer) {
    TokenRanges theirs = mine().getRows().intersect(plan.ranks[peer].rows);
    for (const TokenArray &array : {output, lse})
      send[peer].push_back({array, array.heads, theirs});
    TokenRanges own = plan.ranks[peer].getRows().intersect(mine().rows);
    if (own.empty())
      continue;
    // Rows that the peer has no part of are without keys.
    SavedAttention &answer = answers[peer];
    answer.output = allocate(saved.output, mine().rows);
    answer.lse = allocate(saved.lse, mine().rows);
    fillWithoutKeys(answer);
    for (const TokenArray &array : {answer.output, answer.lse})
      receive[peer].push_back({array, array.heads, own});
  }
  if (Status status = exchanger.begin(send, receive, Arrival::Copy)(); !status)
    return status;
  fillWithoutKeys(saved);
  CallResults into{saved.output.getFloats(), saved.lse.getFloats()};
  for (const SavedAttention &answer : answers)
    if (answer.lse.data)
      memory.merge(into, {answer.output.getFloats(), answer.lse.getFloats()},
                   saved.lse.getBytes() / sizeof(float), sizes.valueDim);
  return memory.getStatus();
}

/// Queries go once more, with output, LSE and dO, and dQ comes back.
Status PlanExecutor::Impl::differentiateQueryCalls(const SavedAttention &saved,
                                                   const TokenArray &dOutput,
                                                   const TokenArray &dQuery,
                                                   const TokenArray &dKey,
                                                   const TokenArray &dValue) {
  TokenArray sums = allocate(dQuery, mine().getRows());
  Status status = visitQueryCalls(
      saved, {saved.query, dOutput, saved.output, saved.lse},
      [&](const CallInputs &inputs, const std::vector<TokenArray> &rows) {
        const Call &call = inputs.call;
        TokenArray queryPart = allocate(sums, call.rows);
        TokenArray keyPart = allocate(dKey, call.keys);
        TokenArray valuePart = allocate(dValue, call.keys);
        if (!memory.getStatus())
          return memory.getStatus();
        if (Status status = kernels.backward(
                inputs, {rows[2].getFloats(), rows[3].getFloats()},
                rows[1].data,
                {queryPart.getFloats(), keyPart.getFloats(),
                 valuePart.getFloats()});
            !status)
          return status;
        memory.copy(sums, queryPart, sums.heads, call.rows);
        memory.add(dKey, keyPart, dKey.heads, call.keys);
        memory.add(dValue, valuePart, dValue.heads, call.keys);
        return memory.getStatus();
      });
  if (!status)
    return status;
  std::vector<Message> send(size()), receive(size());
  for (int64_t peer = 0; peer < size(); ++peer) {
    send[peer].push_back(
        {sums, sums.heads, mine().getRows().intersect(plan.ranks[peer].rows)});
    receive[peer].push_back(
        {dQuery, dQuery.heads,
         plan.ranks[peer].getRows().intersect(mine().rows)});
  }
  return exchanger.begin(send, receive, Arrival::Add)();
}

} // namespace attn
