//===- Tcgen05Allocation.cpp - Allocation of tensor memory ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.16.7, tcgen05.alloc, dealloc, relinquish_alloc_permit. With
/// cta_group::2 a warp of each CTA of a pair must execute them: both memories
/// are allocated at the same columns. The first warp waits for the second one;
/// that orders nothing else.
///
//===----------------------------------------------------------------------===//

#include "../Memory.h"
#include "Tcgen05.h"

using namespace attn::sim;

namespace {

enum class Operation : u8 { Alloc, Dealloc, Relinquish };

Operation operationOf(const Instruction &i) { return Operation(i.operation); }

u32 uniformColumns(Warp &warp, const Instruction &i) {
  u32 columns = laneValue32(warp, i.a, 0);
  for (u32 lane = 1; lane < warpSize; ++lane)
    if (laneValue32(warp, i.a, lane) != columns)
      fault(warp, i, Finding::Sync, "number of columns differs between lanes");
  return columns;
}

/// What the warp asks for. `a`: columns; `address` of dealloc: where.
TensorAllocation requestOf(Warp &warp, const Instruction &i,
                           const CtaGroup &ctas) {
  TensorAllocation what;
  if (operationOf(i) != Operation::Relinquish)
    what.columns = uniformColumns(warp, i);
  if (operationOf(i) == Operation::Dealloc) {
    TensorAddress address = uniformTensorAddress(warp, i, i.address);
    what.column = address.column;
    for (Cta *cta : ctas)
      checkDeallocation(warp, i, *cta, address, what.columns);
  }
  return what;
}

/// Does it in every CTA of the group; returns the column of an allocation.
u32 apply(Warp &warp, const Instruction &i, const CtaGroup &ctas,
          const TensorAllocation &what) {
  u32 column = 0;
  for (Cta *cta : ctas)
    switch (operationOf(i)) {
    case Operation::Alloc:
      column = allocateTensor(warp, i, *cta, what.columns);
      break;
    case Operation::Dealloc:
      deallocateTensor(*cta, what.column);
      break;
    case Operation::Relinquish:
      cta->tensor.isRelinquished = true;
      break;
    }
  return column;
}

/// The end of the instruction for a warp. `address`: where alloc's result goes.
Step finish(Warp &warp, const Instruction &i, u32 column) {
  if (operationOf(i) != Operation::Alloc)
    return Step::Next;
  Access access{laneAddress(warp, i.address, 0), 4, /*isWrite=*/true, 0};
  std::memcpy(pointer(warp, i, i.space, access), &column, 4);
  return Step::Next;
}

Step waitForPeer(Warp &warp, const Instruction &i,
                 const TensorAllocation &what) {
  TensorRequest &request = warp.cta->tensor.request;
  if (request.warp)
    fault(warp, i, Finding::Sync,
          format("warp %u waits for a warp of the peer CTA already, in line %u",
                 request.warp->id, request.instruction->line),
          "execute it in one warp of each CTA");
  request = {&warp, &i, what};
  countWait(warp, WaitReason::Barrier);
  warp.wait = {};
  warp.wait.kind = Wait::Kind::TensorPeer;
  return Step::Block;
}

/// Both warps must ask for the same.
void checkAgreement(Warp &warp, const Instruction &i, const TensorRequest &peer,
                    const TensorAllocation &what) {
  bool agrees = peer.instruction->operation == i.operation &&
                peer.what.column == what.column &&
                peer.what.columns == what.columns;
  if (!agrees)
    fault(
        warp, i, Finding::Sync,
        format("the peer's warp %u, of CTA rank %u, executes another "
               "instruction of the pair: line %u, %u columns; here %u columns",
               peer.warp->id, peer.warp->cta->rank, peer.instruction->line,
               peer.what.columns, what.columns));
}

Step runManagement(Warp &warp, const Instruction &i) {
  if (warp.resumed)
    return finish(warp, i, warp.tensor.allocated);
  if (!convergesFully(warp, i))
    return Step::Block;
  CtaGroup ctas(warp, i, i.flags & forPair);
  TensorAllocation what = requestOf(warp, i, ctas);
  if (ctas.size() == 1)
    return finish(warp, i, apply(warp, i, ctas, what));
  TensorRequest &peer = peerCta(warp)->tensor.request;
  if (!peer.warp)
    return waitForPeer(warp, i, what);
  checkAgreement(warp, i, peer, what);
  u32 column = apply(warp, i, ctas, what);
  peer.warp->tensor.allocated = column;
  peer.warp = nullptr;
  ++warp.cta->cluster->events;
  return finish(warp, i, column);
}

} // namespace

bool attn::sim::decodeTensorAllocation(Decoder &decoder) {
  int operation =
      decoder.oneOf({"alloc", "dealloc", "relinquish_alloc_permit"});
  if (operation < 0)
    return false;
  Instruction &i = decoder.instruction;
  decodeCtaGroup(decoder);
  i.operation = u32(operation);
  if (Operation(operation) != Operation::Relinquish) {
    i.space = decoder.space();
    i.address = decoder.address(0);
    i.a = decoder.source(1, 4);
  }
  decoder.setHandler(runManagement, InstructionClass::Other);
  return true;
}
