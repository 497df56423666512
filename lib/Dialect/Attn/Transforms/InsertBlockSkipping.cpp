#include "attn/Dialect/Attn/Transforms/Passes.h"
namespace attn {
#define GEN_PASS_DEF_INSERTBLOCKSKIPPINGPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn
namespace {
struct InsertBlockSkipping
    : public attn::impl::InsertBlockSkippingPassBase<InsertBlockSkipping> {
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace
