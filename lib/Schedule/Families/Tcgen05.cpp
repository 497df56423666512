//===- Tcgen05.cpp - tcgen05.mma, one thread into TMEM ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"

using namespace attn;
using namespace attn::detail;

namespace {
/// No kernel of it is emitted yet: every schedule is refused, and what runs on
/// a chip that has it says that it falls back.
class Tcgen05 final : public Family {
public:
  Tcgen05()
      : Family({MmaFamily::Tcgen05, /*unitWarps=*/4, /*unitRows=*/128,
                /*unitShare=*/1, /*maxUnits=*/2, /*maxColumns=*/256,
                /*producerWarps=*/4, /*rank=*/3}) {}

  std::string findObstacle(const AttentionProblem & /*problem*/,
                           const TargetInfo & /*target*/) const override {
    return "mma=tcgen05 is not supported";
  }

  void checkMapping(const AttentionProblem & /*problem*/,
                    const Schedule & /*schedule*/,
                    std::vector<Violation> & /*violations*/) const override {}

  RegisterUse getRegisterUse(const AttentionProblem & /*problem*/,
                             const Schedule & /*schedule*/) const override {
    return {};
  }

  int64_t getRegisterLimit(const Schedule & /*schedule*/,
                           const TargetInfo &target) const override {
    return target.maxRegistersPerThread;
  }

  double getRate(ElementType type, const TargetInfo &target) const override {
    return getDenseRate(type, target);
  }

  std::vector<int64_t> getKeyTiles() const override { return {64, 128}; }

  std::vector<int64_t> getStages() const override { return {2}; }
};
} // namespace

const Family &detail::getTcgen05Family() {
  static const Tcgen05 family;
  return family;
}
