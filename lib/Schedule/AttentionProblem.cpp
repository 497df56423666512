//===- AttentionProblem.cpp - What is to be computed ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/AttentionProblem.h"

#include "ProblemFields.h"

#include "attn/Support/Format.h"
#include "attn/Support/KeyValue.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

namespace attn {

//===----------------------------------------------------------------------===//
// MaskPattern
//===----------------------------------------------------------------------===//

/// Shortest text that reads back as the same number.
static std::string printNumber(double value) {
  for (int digits = 1; digits < 17; ++digits) {
    std::string text = formatFixed(value, digits);
    double parsed = 0;
    if (parseDouble(text, parsed) && parsed == value)
      return text;
  }
  return formatFixed(value, 17);
}

std::string MaskPattern::print() const {
  auto limit = [](const std::optional<int64_t> &size) {
    return size ? std::to_string(*size) : "inf";
  };
  std::string text = "full";
  if (!left && right == 0)
    text = "causal";
  else if (left && right == 0)
    text = "window:" + std::to_string(*left + 1);
  else if (isBand())
    text = "local:" + limit(left) + "," + limit(right);
  if (density != 1)
    text += "*" + printNumber(density);
  if (alignment == Alignment::TopLeft)
    text += "@top_left";
  return text;
}

/// Farther than any two positions of a problem are, and safe to add to them.
static constexpr int64_t kFarthest = int64_t(1) << 40;

/// One side of "local:L,R": a size or "inf".
static bool parseLimit(std::string_view text, std::optional<int64_t> &limit) {
  int64_t value = 0;
  limit.reset();
  if (text == "inf")
    return true;
  if (!parseInteger(text, value) || value < 0)
    return false;
  limit = std::min(value, kFarthest);
  return true;
}

/// The part before "*" and "@".
static bool parseBand(std::string_view text, MaskPattern &mask) {
  if (text == "full" || text == "causal") {
    if (text == "causal")
      mask.right = 0;
    return true;
  }
  size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    return false;
  std::string_view name = text.substr(0, colon);
  std::string_view arguments = text.substr(colon + 1);
  if (name == "window") {
    int64_t size = 0;
    if (!parseInteger(arguments, size) || size < 1)
      return false;
    mask.left = std::min(size - 1, kFarthest);
    mask.right = 0;
    return true;
  }
  size_t comma = arguments.find(',');
  return name == "local" && comma != std::string_view::npos &&
         parseLimit(arguments.substr(0, comma), mask.left) &&
         parseLimit(arguments.substr(comma + 1), mask.right);
}

Result<MaskPattern> MaskPattern::parse(std::string_view text) {
  MaskPattern mask;
  std::string_view rest = text;
  bool isValid = true;
  if (size_t at = rest.find('@'); at != std::string_view::npos) {
    std::string_view alignment = rest.substr(at + 1);
    isValid = alignment == "top_left" || alignment == "bottom_right";
    if (alignment == "top_left")
      mask.alignment = Alignment::TopLeft;
    rest = rest.substr(0, at);
  }
  if (size_t star = rest.find('*'); star != std::string_view::npos) {
    isValid = isValid && parseDouble(rest.substr(star + 1), mask.density) &&
              mask.density >= 0 && mask.density <= 1;
    rest = rest.substr(0, star);
  }
  if (!isValid || !parseBand(rest, mask))
    return Error{"expected mask full, causal, window:SIZE or local:LEFT,RIGHT "
                 "(then *DENSITY in [0, 1], @top_left), got '" +
                 std::string(text) + "'"};
  return mask;
}

//===----------------------------------------------------------------------===//
// AttentionProblem
//===----------------------------------------------------------------------===//

/// Products of the sizes that would overflow the 64-bit counts of elements and
/// bytes; what is left takes a chip days.
static Status checkProducts(const AttentionProblem &problem) {
  double rows =
      static_cast<double>(problem.batch) *
      static_cast<double>(problem.queryHeads) *
      static_cast<double>(std::max(problem.queryLength, problem.kvLength)) *
      static_cast<double>(std::max(problem.headDim, problem.valueDim));
  double loads = rows * static_cast<double>(
                            std::min(problem.queryLength, problem.kvLength));
  const std::tuple<const char *, double, int> limits[] = {
      {"B * Hq * max(M, N) * max(D, Dv)", rows, 56},
      {"B * Hq * M * N * max(D, Dv)", loads, 62}};
  for (const auto &[name, value, exponent] : limits)
    if (value > std::ldexp(1., exponent))
      return Error{std::string("expected ") + name + " of at most 2^" +
                   std::to_string(exponent) + ", got 2^" +
                   formatFixed(std::log2(value), 1)};
  return {};
}

int64_t AttentionProblem::getKvRowBytes() const {
  int64_t keyBytes = getSizeBytes(getKeyType());
  return sharedKV
             ? getKvRowElements() * keyBytes
             : headDim * keyBytes + valueDim * getSizeBytes(getValueType());
}

ElementType
AttentionProblem::getGradientType(std::optional<ElementType> given) const {
  if (given || getSizeBytes(elementType) > 1)
    return given.value_or(elementType);
  return outputType == ElementType::F16 ? ElementType::F16 : ElementType::BF16;
}

namespace {
struct GradientField {
  const char *name;
  std::optional<ElementType> AttentionProblem::*type;
};
} // namespace

static constexpr GradientField kGradientFields[] = {
    {"d_query", &AttentionProblem::dQueryType},
    {"d_key", &AttentionProblem::dKeyType},
    {"d_value", &AttentionProblem::dValueType}};

bool AttentionProblem::changesGradients() const {
  return hasAmax ||
         std::any_of(std::begin(kGradientFields), std::end(kGradientFields),
                     [&](const GradientField &field) {
                       auto type = this->*field.type;
                       return type && getSizeBytes(*type) == 1;
                     });
}

/// Gradients are floats, and of a backward.
static Status checkGradientTypes(const AttentionProblem &problem) {
  for (const auto &[name, field] : kGradientFields) {
    std::optional<ElementType> type = problem.*field;
    if (!type)
      continue;
    if (problem.pass != AttentionPass::Backward)
      return Error{"expected pass=backward with " + std::string(name) +
                   ", got pass=forward"};
    if (isInteger(*type))
      return Error{"expected a floating-point element type of " +
                   std::string(name) + ", got " + std::string(getName(*type))};
  }
  return {};
}

static bool isFloat8(ElementType type) {
  return getSizeBytes(type) == 1 && !isInteger(type);
}

/// Integers are queries and keys, beside values that are none; 8-bit floats
/// have values of either type.
static Status checkTypes(const AttentionProblem &problem) {
  auto [elementType, valueType] =
      std::pair(problem.elementType, problem.valueType);
  if (elementType != ElementType::I8) {
    if (valueType && !(isFloat8(elementType) && isFloat8(*valueType)))
      return Error{
          "expected value=" + std::string(getName(*valueType)) +
          " beside dtype=i8, got dtype=" + std::string(getName(elementType))};
    if (valueType && problem.pass == AttentionPass::Backward)
      return Error{
          "expected values of dtype=" + std::string(getName(elementType)) +
          " with pass=backward, got value=" + std::string(getName(*valueType))};
  } else if (!valueType || isInteger(*valueType) ||
             *valueType == ElementType::F64) {
    return Error{
        "expected value one of f8E4M3FN, f8E5M2, f16, bf16, f32 beside "
        "dtype=i8, got " +
        (valueType ? "value=" + std::string(getName(*valueType))
                   : std::string("none"))};
  } else if (problem.pass == AttentionPass::Backward) {
    return Error{"expected floats with pass=backward, got dtype=i8"};
  }
  for (ElementType type : {problem.getWeightType(), problem.outputType})
    if (isInteger(type))
      return Error{"expected a floating-point element type, got " +
                   std::string(getName(type))};
  return {};
}

Status AttentionProblem::verify() const {
  const std::pair<const char *, int64_t> sizes[] = {
      {"B", batch},    {"Hq", queryHeads}, {"Hkv", kvHeads}, {"M", queryLength},
      {"N", kvLength}, {"D", headDim},     {"Dv", valueDim}};
  // Larger sizes would overflow the 64-bit counts of scores and bytes.
  constexpr int64_t largest = int64_t(1) << 24;
  for (const auto &[name, size] : sizes)
    if (size < 1 || size > largest)
      return Error{std::string("expected ") + name + " from 1 to " +
                   std::to_string(largest) + ", got " + std::to_string(size)};
  if (Status status = checkProducts(*this); !status)
    return status;
  if (queryHeads % kvHeads != 0)
    return Error{
        "expected Hkv that divides Hq = " + std::to_string(queryHeads) +
        ", got " + std::to_string(kvHeads)};
  if (Status status = checkTypes(*this); !status)
    return status;
  if (Status status = checkGradientTypes(*this); !status)
    return status;
  if (cacheType &&
      (getSizeBytes(*cacheType) != 1 || getSizeBytes(elementType) == 1))
    return Error{"expected cache of 8 bits beside a dtype of more, got cache=" +
                 std::string(getName(*cacheType)) +
                 " dtype=" + std::string(getName(elementType))};
  for (const auto &[name, keys] :
       {std::pair("key_page", keyPage), {"value_page", valuePage}})
    if (keys < 0 || keys > largest)
      return Error{std::string("expected ") + name + " from 0 to " +
                   std::to_string(largest) + ", got " + std::to_string(keys)};
  for (const auto &[name, count] : {std::pair("rotary", queryRotations),
                                    {"qk_norm", queryNorms},
                                    {"captures", captureBytes}})
    if (count < 0 || count > kMostOps)
      return Error{std::string("expected ") + name + " from 0 to " +
                   std::to_string(kMostOps) + ", got " + std::to_string(count)};
  if (changesQuery() && pass == AttentionPass::Backward)
    return Error{"expected rotary=0 and qk_norm=0 with pass=backward, which "
                 "reads a query that is changed, got rotary=" +
                 std::to_string(queryRotations) +
                 " qk_norm=" + std::to_string(queryNorms)};
  if (pass == AttentionPass::Backward && getSizeBytes(outputType) == 1)
    return Error{
        "expected out of 16 bits or more with pass=backward, got out=" +
        std::string(getName(outputType))};
  if (!hasSoftmax() && hasLse)
    return Error{"expected lse=0 without softmax, got lse=1"};
  if (allowTf32 && elementType != ElementType::F32)
    return Error{"expected dtype=f32 with tf32=1, got dtype=" +
                 std::string(getName(elementType))};
  return {};
}

static ElementType getDefaultOutputType(const AttentionProblem &problem) {
  ElementType weights = problem.getWeightType();
  return getSizeBytes(weights) == 1 ? ElementType::BF16 : weights;
}

std::string AttentionProblem::print() const {
  std::string text =
      "B=" + std::to_string(batch) + " Hq=" + std::to_string(queryHeads) +
      " Hkv=" + std::to_string(kvHeads) + " M=" + std::to_string(queryLength) +
      " N=" + std::to_string(kvLength) + " D=" + std::to_string(headDim) +
      " Dv=" + std::to_string(valueDim) +
      " dtype=" + std::string(getName(elementType)) + " mask=" + mask.print();
  if (cacheType)
    text += " cache=" + std::string(getName(*cacheType));
  if (valueType)
    text += " value=" + std::string(getName(*valueType));
  if (keyPage)
    text += " key_page=" + std::to_string(keyPage);
  if (valuePage)
    text += " value_page=" + std::to_string(valuePage);
  if (outputType != getDefaultOutputType(*this))
    text += " out=" + std::string(getName(outputType));
  for (const auto &[name, field] : kGradientFields)
    if (std::optional<ElementType> type = this->*field;
        type && *type != getGradientType(std::nullopt))
      text += " " + std::string(name) + "=" + std::string(getName(*type));
  if (pass == AttentionPass::Backward)
    text += " pass=backward";
  if (normalization != Normalization::Softmax)
    text += normalization == Normalization::None ? " normalization=none"
                                                 : " normalization=sum";
  if (queryRotations)
    text += " rotary=" + std::to_string(queryRotations);
  if (queryNorms)
    text += " qk_norm=" + std::to_string(queryNorms);
  if (captureBytes)
    text += " captures=" + std::to_string(captureBytes);
  if (hasLse)
    text += " lse=1";
  if (hasAmax)
    text += " amax=1";
  if (hasBias)
    text += " bias=1";
  if (hasScoreMod)
    text += " score_mod=1";
  if (hasDropout)
    text += " dropout=1";
  if (hasProbMod)
    text += " prob_mod=1";
  if (sharedKV)
    text += " shared_kv=1";
  if (allowTf32)
    text += " tf32=1";
  return text;
}

static Status setElementType(ElementType &type, const KeyValue &field) {
  std::optional<ElementType> parsed = parseElementType(field.value);
  if (!parsed)
    return Error{"expected " + field.key + " one of " +
                 join(getElementTypeNames(), ", ") + ", got '" + field.value +
                 "'"};
  type = *parsed;
  return {};
}

Status detail::setPass(AttentionPass &pass, const KeyValue &field) {
  if (field.value != "forward" && field.value != "backward")
    return Error{"expected pass=forward or pass=backward, got '" + field.value +
                 "'"};
  pass = field.value == "forward" ? AttentionPass::Forward
                                  : AttentionPass::Backward;
  return {};
}

static Status setNormalization(Normalization &normalization,
                               const KeyValue &field) {
  for (auto [name, value] : {std::pair("softmax", Normalization::Softmax),
                             {"sum", Normalization::Sum},
                             {"none", Normalization::None}})
    if (field.value == name) {
      normalization = value;
      return {};
    }
  return Error{"expected normalization=softmax, sum or none, got '" +
               field.value + "'"};
}

static Status setMask(MaskPattern &mask, const KeyValue &field) {
  Result<MaskPattern> parsed = MaskPattern::parse(field.value);
  if (!parsed)
    return Error{parsed.error()};
  mask = *parsed;
  return {};
}

Result<AttentionProblem> AttentionProblem::parse(std::string_view text) {
  Result<std::vector<KeyValue>> fields = parseKeyValues(text);
  if (!fields)
    return Error{fields.error()};
  AttentionProblem problem;
  problem.queryLength = problem.kvLength = problem.headDim = 0;
  std::optional<int64_t> heads, kvHeads, valueDim;
  std::optional<ElementType> outputType;

  using Setter = std::function<Status(const KeyValue &)>;
  auto size = [](auto &target) -> Setter {
    return
        [&target](const KeyValue &field) { return setInteger(target, field); };
  };
  auto flag = [](bool &target) -> Setter {
    return [&target](const KeyValue &field) { return setBool(target, field); };
  };
  auto by = [](auto set, auto &target) -> Setter {
    return [set, &target](const KeyValue &field) { return set(target, field); };
  };
  std::map<std::string, Setter> setters = {
      {"B", size(problem.batch)},
      {"H", size(heads)},
      {"Hq", size(heads)},
      {"Hkv", size(kvHeads)},
      {"M", size(problem.queryLength)},
      {"N", size(problem.kvLength)},
      {"D", size(problem.headDim)},
      {"Dv", size(valueDim)},
      {"dtype", by(setElementType, problem.elementType)},
      {"cache",
       [&](const KeyValue &f) {
         return setElementType(problem.cacheType.emplace(), f);
       }},
      {"value",
       [&](const KeyValue &f) {
         return setElementType(problem.valueType.emplace(), f);
       }},
      {"key_page", size(problem.keyPage)},
      {"value_page", size(problem.valuePage)},
      {"out",
       [&](const KeyValue &f) {
         return setElementType(outputType.emplace(), f);
       }},
      {"mask", by(setMask, problem.mask)},
      {"pass", by(detail::setPass, problem.pass)},
      {"normalization", by(setNormalization, problem.normalization)},
      {"rotary", size(problem.queryRotations)},
      {"qk_norm", size(problem.queryNorms)},
      {"captures", size(problem.captureBytes)},
      {"lse", flag(problem.hasLse)},
      {"amax", flag(problem.hasAmax)},
      {"bias", flag(problem.hasBias)},
      {"score_mod", flag(problem.hasScoreMod)},
      {"dropout", flag(problem.hasDropout)},
      {"prob_mod", flag(problem.hasProbMod)},
      {"shared_kv", flag(problem.sharedKV)},
      {"tf32", flag(problem.allowTf32)},
  };
  for (const auto &[name, field] : kGradientFields)
    setters[name] = [&problem, type = field](const KeyValue &f) {
      return setElementType((problem.*type).emplace(), f);
    };
  if (Status status = applyKeyValues(*fields, setters, "problem"); !status)
    return Error{status.error()};
  for (const char *name : {"M", "N", "D"})
    if (!hasKey(*fields, name))
      return Error{std::string("expected problem field ") + name +
                   " (M, N and D have no default)"};

  problem.queryHeads = heads.value_or(1);
  problem.kvHeads = kvHeads.value_or(problem.queryHeads);
  problem.valueDim = valueDim.value_or(problem.headDim);
  problem.outputType = outputType.value_or(getDefaultOutputType(problem));
  if (Status status = problem.verify(); !status)
    return Error{status.error()};
  return problem;
}

} // namespace attn
