//===- BackwardTest.cpp - Gradients against finite differences ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn.attention_backward, and with it the derivatives of score_mod regions, in
// the interpreter: each element of each gradient against the central difference
// of loss = sum(output * dO) + sum(lse * dLSE) of attn.attention with the same
// regions. Everything is f64.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Interpreter/Interpreter.h"
#include "attn/Reference/Random.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace mlir;
using namespace attn;
using reference::Tensor;
using runtime::HostTensor;

namespace {

/// What an attention has besides query, key and value; B = 2, Hq = 4, Hkv = 2,
/// M = 5, N = 6.
struct TestMods {
  const char *name;
  /// Computes the score_mod's %r from %s and %x = 1 + 0.3 * %s * %s, both f64.
  std::string scoreMod;
  std::string maskMod;
  /// Shape of the bias, as in a tensor type.
  std::string bias;
  /// Shape of the captured tensor %table.
  std::string table;
  bool hasLseGradient = false;
};

std::ostream &operator<<(std::ostream &stream, const TestMods &mods) {
  return stream << mods.name;
}

HostTensor toHost(const Tensor &tensor) {
  HostTensor host(runtime::DType::F64, tensor.getShape());
  std::memcpy(host.data.data(), tensor.getValues().data(), host.data.size());
  return host;
}

class BackwardTest : public testing::TestWithParam<TestMods> {
protected:
  BackwardTest() {
    context.loadDialect<AttnDialect, func::FuncDialect, arith::ArithDialect,
                        math::MathDialect, tensor::TensorDialect>();
    const TestMods &mods = GetParam();
    inputs = {makeInput({2, 4, 5, 3}), makeInput({2, 2, 6, 3}),
              makeInput({2, 2, 6, 4})};
    if (!mods.bias.empty())
      inputs.push_back(makeInput(parseShape(mods.bias)));
    if (!mods.table.empty())
      inputs.push_back(makeInput(parseShape(mods.table)));
    outputGradient = makeInput({2, 4, 5, 4});
    lseGradient = makeInput({2, 4, 5});
    module = parseSourceString<ModuleOp>(makeModule(), &context);
  }

  static std::vector<int64_t> parseShape(const std::string &text) {
    std::vector<int64_t> shape;
    for (StringRef size : llvm::split(text, 'x'))
      shape.push_back(std::stoll(size.str()));
    return shape;
  }
  Tensor makeInput(const std::vector<int64_t> &shape) {
    return reference::makeRandomTensor(shape, ElementType::F64, ++seed);
  }

  /// Both functions, @forward and @backward.
  std::string makeModule() {
    const TestMods &mods = GetParam();
    std::string q = "tensor<2x4x5x3xf64>", k = "tensor<2x2x6x3xf64>",
                v = "tensor<2x2x6x4xf64>", o = "tensor<2x4x5x4xf64>",
                l = "tensor<2x4x5xf64>";
    std::string bias = "tensor<" + mods.bias + "xf64>";
    std::string table = "tensor<" + mods.table + "xf64>";
    bool hasBias = !mods.bias.empty(), hasTable = !mods.table.empty();
    std::string arguments = "(%q: " + q + ", %k: " + k + ", %v: " + v +
                            (hasBias ? ", %bias: " + bias : "") +
                            (hasTable ? ", %table: " + table : "");
    std::string operands =
        "%q, %k, %v" + (hasBias ? " bias(%bias : " + bias + ")" : "");
    std::string regions;
    if (!mods.scoreMod.empty())
      regions += " score_mod (%s: f64, %b: index, %h: index, %i: index, "
                 "%j: index) {\n%c1 = arith.constant 1.0 : f64\n%c3 = "
                 "arith.constant 0.3 : f64\n%s2 = arith.mulf %s, %s : f64\n"
                 "%s3 = arith.mulf %s2, %c3 : f64\n%x = arith.addf %s3, %c1 "
                 ": f64\n" +
                 mods.scoreMod + "\nattn.yield %r : f64\n}";
    if (!mods.maskMod.empty())
      regions += " mask_mod " + mods.maskMod;
    std::string types = " : " + q + ", " + k + ", " + v + " -> ";
    std::string results = q + ", " + k + ", " + v +
                          (hasBias ? ", " + bias : "") +
                          (hasTable ? ", " + table : "");
    std::string count = std::to_string(3 + hasBias + hasTable);
    return "func.func @forward" + arguments + ") -> (" + o + ", " + l +
           ") {\n%o, %lse = attn.attention " + operands + regions + types + o +
           ", " + l + "\nreturn %o, %lse : " + o + ", " + l +
           "\n}\nfunc.func @backward" + arguments + ", %o: " + o +
           ", %lse: " + l + ", %do: " + o + ", %dlse: " + l + ") -> (" +
           results + ") {\n%d:" + count + " = attn.attention_backward " +
           operands + " output(%o : " + o + ") lse(%lse : " + l +
           ") d_output(%do : " + o + ")" +
           (mods.hasLseGradient ? " d_lse(%dlse : " + l + ")" : "") +
           (hasTable ? " captures(%table : " + table + ")" : "") + regions +
           types + q + ", " + k + ", " + v +
           (hasBias ? " d_bias(" + bias + ")" : "") +
           (hasTable ? " d_captures(" + table + ")" : "") + "\nreturn %d#0" +
           ", %d#1, %d#2" + (hasBias ? ", %d#3" : "") +
           (hasTable ? ", %d#" + std::to_string(3 + hasBias) : "") + " : " +
           results + "\n}\n";
  }

  std::vector<Tensor> run(StringRef function,
                          std::vector<HostTensor> arguments) {
    auto op = module->lookupSymbol<func::FuncOp>(function);
    EXPECT_EQ(findUninterpretableOp(op), nullptr);
    return *interpret(op, arguments, EvaluationPrecision::Float64);
  }
  std::vector<HostTensor> getArguments() {
    std::vector<HostTensor> arguments;
    for (const Tensor &input : inputs)
      arguments.push_back(toHost(input));
    return arguments;
  }

  double getLoss() {
    std::vector<Tensor> results = run("forward", getArguments());
    double loss = 0;
    for (int64_t i = 0; i < results[0].getNumElements(); ++i)
      loss += results[0][i] * outputGradient[i];
    if (!GetParam().hasLseGradient)
      return loss;
    for (int64_t i = 0; i < results[1].getNumElements(); ++i)
      if (std::isfinite(results[1][i]))
        loss += results[1][i] * lseGradient[i];
    return loss;
  }

  MLIRContext context;
  uint64_t seed = 0;
  std::vector<Tensor> inputs;
  Tensor outputGradient, lseGradient;
  OwningOpRef<ModuleOp> module;
};

} // namespace

TEST_P(BackwardTest, matchesFiniteDifferences) {
  ASSERT_TRUE(module);
  std::vector<Tensor> forward = run("forward", getArguments());
  std::vector<HostTensor> arguments = getArguments();
  for (const Tensor &tensor :
       {forward[0], forward[1], outputGradient, lseGradient})
    arguments.push_back(toHost(tensor));
  std::vector<Tensor> gradients = run("backward", arguments);
  ASSERT_EQ(gradients.size(), inputs.size());
  constexpr double step = 1e-5;
  for (size_t n = 0; n < inputs.size(); ++n) {
    ASSERT_EQ(gradients[n].getShape(), inputs[n].getShape());
    // Every third element: the others are alike.
    for (int64_t i = n % 3; i < inputs[n].getNumElements(); i += 3) {
      double center = inputs[n][i];
      inputs[n].set(i, center + step);
      double above = getLoss();
      inputs[n].set(i, center - step);
      double below = getLoss();
      inputs[n].set(i, center);
      double expected = (above - below) / (2 * step);
      EXPECT_NEAR(gradients[n][i], expected, 1e-7 * (1 + std::fabs(expected)))
          << "input " << n << ", element " << i;
    }
  }
}

static const TestMods operands[] = {
    {"plain", "", "", "", ""},
    {"lseGradient", "", "", "", "", true},
    {"causal", "", "causal(top_left)", "", "", true},
    {"bottomRight", "", "causal(bottom_right)", "", ""},
    {"window", "", "sliding_window(1, 2)", "", ""},
    {"emptyRows", "%r = arith.mulf %s, %x : f64",
     "(%b: index, %h: index, %i: index, %j: index) {\n"
     "%one = arith.constant 1 : index\n"
     "%p = arith.cmpi sgt, %i, %one : index\nattn.yield %p : i1\n}",
     "", "", true},
    {"bias", "", "", "2x4x5x6", ""},
    {"biasOfHeads", "", "causal(top_left)", "1x4x1x6", ""},
    {"biasOfRows", "%r = math.tanh %s : f64", "", "2x1x5x1", ""},
    {"biasOfAll", "", "", "1x1x1x1", ""},
    {"captureOfHeads",
     "%t = tensor.extract %table[%h] : tensor<4xf64>\n"
     "%r = arith.mulf %t, %s : f64",
     "causal(top_left)", "", "4"},
    {"captureTwice",
     "%t = tensor.extract %table[%i] : tensor<6xf64>\n"
     "%u = tensor.extract %table[%j] : tensor<6xf64>\n"
     "%p = arith.mulf %t, %u : f64\n%e = math.exp %p : f64\n"
     "%r = arith.mulf %e, %s : f64",
     "", "2x4x5x6", "6"},
    {"captureByDistance",
     "%c5 = arith.constant 5 : index\n%a = arith.addi %i, %c5 : index\n"
     "%d = arith.subi %a, %j : index\n"
     "%t = tensor.extract %table[%h, %d] : tensor<4x10xf64>\n"
     "%r = arith.addf %s, %t : f64",
     "", "", "4x10", true},
    {"alibi",
     "%d = arith.subi %j, %i : index\n%n = arith.index_cast %d : index to i64\n"
     "%f = arith.sitofp %n : i64 to f64\n%t = arith.mulf %f, %c3 : f64\n"
     "%r = arith.addf %s, %t : f64",
     "", "", ""},
};

/// One op, of %s or of %x in [1, ..).
static TestMods makeOp(const char *name, const std::string &body) {
  return {name, body, "", "", ""};
}

static std::vector<TestMods> makeOps() {
  std::vector<TestMods> ops;
  for (const char *name :
       {"absf", "asinh", "atan", "cos", "cosh", "erf", "erfc", "exp", "exp2",
        "expm1", "sin", "sinh", "tan", "tanh"})
    ops.push_back(
        makeOp(name, std::string("%t = arith.mulf %s, %c3 : f64\n%r = math.") +
                         name + " %t : f64"));
  for (const char *name :
       {"cbrt", "log", "log10", "log1p", "log2", "rsqrt", "sqrt"})
    ops.push_back(makeOp(name, std::string("%r = math.") + name + " %x : f64"));
  ops.push_back(makeOp("acosh", "%y = arith.addf %x, %c3 : f64\n"
                                "%r = math.acosh %y : f64"));
  // tanh(s) / 1.3 is in (-1, 1).
  for (const char *name : {"acos", "asin", "atanh"})
    ops.push_back(makeOp(
        name, std::string("%c = arith.constant 1.3 : f64\n%t = math.tanh %s "
                          ": f64\n%u = arith.divf %t, %c : f64\n%r = math.") +
                  name + " %u : f64"));
  for (const char *name : {"ceil", "floor", "round", "roundeven", "trunc"})
    ops.push_back(makeOp(name, std::string("%t = math.") + name +
                                   " %s : f64\n%r = arith.addf %t, %s : f64"));
  for (const char *name : {"addf", "subf", "mulf", "divf", "remf", "maximumf",
                           "minimumf", "maxnumf", "minnumf"})
    ops.push_back(
        makeOp(name, std::string("%r = arith.") + name + " %s, %x : f64"));
  ops.push_back(makeOp("remfOfConstant", "%r = arith.remf %s, %c3 : f64"));
  ops.push_back(makeOp("negf", "%r = arith.negf %s : f64"));
  ops.push_back(makeOp("divideByScore", "%r = arith.divf %c3, %x : f64"));
  ops.push_back(makeOp("select", "%p = arith.cmpf ogt, %s, %c3 : f64\n"
                                 "%t = math.log %x : f64\n"
                                 "%r = arith.select %p, %t, %s : f64"));
  ops.push_back(makeOp("selectConstant",
                       "%p = arith.cmpf ogt, %s, %c3 : f64\n"
                       "%r = arith.select %p, %c1, %s : f64"));
  ops.push_back(makeOp("atan2", "%r = math.atan2 %s, %x : f64"));
  ops.push_back(makeOp("clampf", "%m = arith.negf %c3 : f64\n"
                                 "%r = math.clampf %s to [%m, %x] : f64"));
  ops.push_back(makeOp("copysign", "%r = math.copysign %x, %s : f64"));
  ops.push_back(makeOp("fma", "%r = math.fma %s, %x, %s : f64"));
  ops.push_back(makeOp("fpowi", "%n = arith.constant 3 : i32\n"
                                "%r = math.fpowi %s, %n : f64, i32"));
  ops.push_back(makeOp("powf", "%r = math.powf %x, %s : f64"));
  ops.push_back(makeOp("powfOfConstant", "%r = math.powf %x, %c3 : f64"));
  ops.push_back(makeOp("truncf", "%t = arith.truncf %s : f64 to f32\n"
                                 "%e = arith.extf %t : f32 to f64\n"
                                 "%r = arith.mulf %e, %c3 : f64"));
  ops.push_back(makeOp("fptosi", "%n = arith.fptosi %s : f64 to i64\n"
                                 "%f = arith.sitofp %n : i64 to f64\n"
                                 "%r = arith.addf %s, %f : f64"));
  ops.push_back(makeOp("softCapOfCubes", "%a = arith.mulf %s, %x : f64\n"
                                         "%t = math.tanh %a : f64\n"
                                         "%u = math.tanh %t : f64\n"
                                         "%r = arith.mulf %u, %t : f64"));
  ops.push_back(makeOp("constant", "%r = arith.addf %c1, %c3 : f64"));
  return ops;
}

static std::string getTestName(const testing::TestParamInfo<TestMods> &info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Operands, BackwardTest, testing::ValuesIn(operands),
                         getTestName);
INSTANTIATE_TEST_SUITE_P(Ops, BackwardTest, testing::ValuesIn(makeOps()),
                         getTestName);
