//===- Vector.cpp - Products without matrix instructions ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"

using namespace attn;
using namespace attn::detail;

namespace {
/// A CPU thread computes a tile from its cache, with vectors.
class Vector final : public Family {
public:
  Vector()
      : Family({MmaFamily::None, /*unitWarps=*/1, /*unitRows=*/1,
                /*unitShare=*/1, /*maxUnits=*/1, /*maxColumns=*/0,
                /*producerWarps=*/0, /*tensorColumns=*/0, /*rank=*/0,
                /*fields=*/0}) {}

  std::string findObstacle(const AttentionProblem & /*problem*/,
                           const TargetInfo &target) const override {
    if (target.kind == TargetKind::Gpu)
      return "expected matrix instructions on a GPU, got mma=none";
    return "";
  }

  void checkMapping(const AttentionProblem & /*problem*/,
                    const Schedule & /*schedule*/,
                    std::vector<Violation> & /*violations*/) const override {}

  /// LLVM gives registers to CPU code, and spills cheaply.
  RegisterUse getRegisterUse(const AttentionProblem & /*problem*/,
                             const Schedule & /*schedule*/) const override {
    return {};
  }

  int64_t getRegisterLimit(const Schedule &schedule,
                           const TargetInfo &target) const override {
    int64_t share = target.registersPerSm / schedule.getNumThreads();
    return std::min(target.maxRegistersPerThread, alignDown(share, 8));
  }

  double getRate(ElementType type, const TargetInfo &target) const override {
    return getDenseRate(type, target) * target.wgmmaShare;
  }

  std::vector<int64_t> getKeyTiles() const override {
    return {8, 16, 32, 64, 128};
  }

  std::vector<int64_t> getStages() const override { return {1}; }
};
} // namespace

const Family &detail::getVectorFamily() {
  static const Vector family;
  return family;
}
