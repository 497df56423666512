//===- MaskFormula.cpp - Formulas and bands ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/MaskAnalysis.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

MaskFormula MaskFormula::get(Kind kind) {
  MaskFormula formula;
  formula.kind = kind;
  return formula;
}

MaskFormula MaskFormula::combine(Kind kind, MaskFormula a, MaskFormula b) {
  bool isAnd = kind == And;
  Kind neutral = isAnd ? Always : Never, absorbing = isAnd ? Never : Always;
  if (a.kind == absorbing || b.kind == neutral)
    return a;
  if (b.kind == absorbing || a.kind == neutral)
    return b;
  MaskFormula formula = get(kind);
  formula.operands.push_back(std::move(a));
  formula.operands.push_back(std::move(b));
  return formula;
}

MaskFormula MaskFormula::atMostZero(const LinearForm &form) {
  if (form.isConstant())
    return get(form.getConstant() <= 0);
  bool hasKey = form.dependsOn(kKey);
  std::optional<PositionBound> bound;
  if (hasKey)
    bound = solveAtMostZero(form, kKey);
  else if (!form.hasRowValue())
    bound = solveAtMostZero(form, kRow);
  if (hasKey && !bound)
    return get(Unknown);
  MaskFormula formula;
  formula.kind = Condition;
  if (hasKey)
    formula.kind = bound->isLower ? KeyFrom : KeyUpTo;
  else if (bound)
    formula.kind = bound->isLower ? RowFrom : RowUpTo;
  formula.bound = bound ? bound->bound : form;
  return formula;
}

//===----------------------------------------------------------------------===//
// Bands
//===----------------------------------------------------------------------===//

/// More bands than this are not worth their loop bounds.
static constexpr size_t kMostBands = 8;

static MaskBand intersect(MaskBand a, const MaskBand &b) {
  auto append = [](std::vector<LinearForm> &to,
                   const std::vector<LinearForm> &from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(a.keyFrom, b.keyFrom);
  append(a.keyUpTo, b.keyUpTo);
  append(a.rowFrom, b.rowFrom);
  append(a.rowUpTo, b.rowUpTo);
  append(a.conditions, b.conditions);
  a.isExact &= b.isExact;
  return a;
}

static std::vector<MaskBand> getBands(const MaskFormula &formula);

/// The bands of an And or Or. An operand that would make too many is left out
/// of an And, and stands for everything in an Or.
static std::vector<MaskBand> combineBands(const MaskFormula &formula) {
  std::vector<MaskBand> result = getBands(formula.operands[0]);
  for (size_t i = 1; i < formula.operands.size(); ++i) {
    std::vector<MaskBand> others = getBands(formula.operands[i]);
    bool isAnd = formula.kind == MaskFormula::And;
    size_t count =
        isAnd ? result.size() * others.size() : result.size() + others.size();
    if (count > kMostBands && !isAnd)
      result.resize(1), result[0] = MaskBand(), result[0].isExact = false;
    if (count > kMostBands) {
      for (MaskBand &band : result)
        band.isExact = false;
      continue;
    }
    if (!isAnd) {
      result.insert(result.end(), others.begin(), others.end());
      continue;
    }
    std::vector<MaskBand> product;
    for (const MaskBand &a : result)
      for (const MaskBand &b : others)
        product.push_back(intersect(a, b));
    result = std::move(product);
  }
  return result;
}

static std::vector<MaskBand> getBands(const MaskFormula &formula) {
  MaskBand band;
  switch (formula.kind) {
  case MaskFormula::Never:
    return {};
  case MaskFormula::Always:
    break;
  case MaskFormula::Unknown:
    band.isExact = false;
    break;
  case MaskFormula::KeyFrom:
    band.keyFrom = {formula.bound};
    break;
  case MaskFormula::KeyUpTo:
    band.keyUpTo = {formula.bound};
    break;
  case MaskFormula::RowFrom:
    band.rowFrom = {formula.bound};
    break;
  case MaskFormula::RowUpTo:
    band.rowUpTo = {formula.bound};
    break;
  case MaskFormula::Condition:
    band.conditions = {formula.bound};
    break;
  case MaskFormula::And:
  case MaskFormula::Or:
    return combineBands(formula);
  }
  return {band};
}

/// A band in whose every row the same number of keys is between two bounds has
/// none at all where that is below 1: adds that as a condition. False if the
/// band is nowhere.
static bool addWidthConditions(MaskBand &band) {
  for (const LinearForm &from : band.keyFrom)
    for (const LinearForm &upTo : band.keyUpTo) {
      std::optional<LinearForm> gap = from.plus(upTo, -1);
      if (!gap || gap->dependsOn(kRow) || gap->hasRowValue())
        continue;
      if (gap->isConstant() && gap->getConstant() > 0)
        return false;
      if (!gap->isConstant())
        band.conditions.push_back(*gap);
    }
  return true;
}

/// Leaves out what a band's two ends do not tell.
static void keepMonotoneBounds(MaskBand &band) {
  auto isKnown = [](const LinearForm &form) {
    return form.getRowDirection() != Direction::Unknown;
  };
  auto isInvariant = [](const LinearForm &form) {
    return form.getRowDirection() == Direction::Constant;
  };
  auto keep = [&](std::vector<LinearForm> &forms, auto isKept) {
    size_t before = forms.size();
    llvm::erase_if(forms, [&](const LinearForm &f) { return !isKept(f); });
    band.isExact &= forms.size() == before;
  };
  keep(band.keyFrom, isKnown);
  keep(band.keyUpTo, isKnown);
  keep(band.conditions, isInvariant);
}

std::vector<MaskBand> MaskAnalysis::getBands() const {
  std::vector<MaskBand> bands = getRowBands();
  for (MaskBand &band : bands)
    keepMonotoneBounds(band);
  return bands;
}

std::vector<MaskBand> MaskAnalysis::getRowBands() const {
  std::vector<MaskBand> bands = ::getBands(formula);
  llvm::erase_if(bands,
                 [](MaskBand &band) { return !addWidthConditions(band); });
  return bands;
}
