//===- Bundle.cpp - Reading and writing a bundle --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Bundle.h"

#include "JsonCursor.h"

#include <algorithm>

using namespace attn;
using namespace attn::runtime;

const Manifest *Bundle::findProgram(const std::string &name) const {
  auto it = std::find_if(programs.begin(), programs.end(),
                         [&](const Manifest &m) { return m.name == name; });
  return it == programs.end() ? nullptr : &*it;
}

Result<Manifest> attn::runtime::selectProgram(const Bundle &bundle,
                                              const std::string &name) {
  if (name.empty() && bundle.programs.size() == 1)
    return bundle.programs.front();
  if (const Manifest *program = bundle.findProgram(name))
    return *program;
  std::string names;
  for (const Manifest &program : bundle.programs)
    names += (names.empty() ? "" : ", ") + program.name;
  return Error{"expected the name of a program (" + names + "), got " +
               (name.empty() ? "none" : "'" + name + "'")};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Result<json> attn::runtime::parseJson(const std::string &text) {
  try {
    return json::parse(text);
  } catch (const json::exception &exception) {
    return Error{std::string("manifest is not JSON: ") + exception.what()};
  }
}

bool attn::runtime::isBundle(const json &root) {
  return root.is_object() && root.contains("schema") &&
         root["schema"] == bundleSchema;
}

static CallInput readInput(const Cursor &c) {
  CallInput input;
  if (!c.expectObject({"argument", "call", "operand"}))
    return input;
  if (c.has("argument")) {
    input.argument = c.field("argument").integer();
    return input;
  }
  input.call = c.field("call").integer();
  input.operand = c.field("operand").string();
  return input;
}

static ProgramCall readCall(const Cursor &c) {
  ProgramCall call;
  if (!c.expectObject({"function", "program", "within", "inputs", "results"}))
    return call;
  call.function = c.field("function").string();
  call.program = c.field("program").string();
  if (c.has("within"))
    call.within = c.field("within").list(
        [](const Cursor &name) { return name.string(); });
  if (c.has("inputs"))
    call.inputs = c.field("inputs").map(readInput);
  if (c.has("results"))
    call.results = c.field("results").map(
        [](const Cursor &number) { return number.integer(); });
  return call;
}

/// What is wrong with where an input of call `number` comes from.
static std::optional<Error> validateInput(const Bundle &bundle, size_t number,
                                          const CallInput &input) {
  if (input.argument)
    return std::nullopt;
  if (*input.call < 0 || *input.call >= static_cast<int64_t>(number))
    return Error{": expected an earlier call"};
  const ProgramCall &producer = bundle.calls[*input.call];
  const Manifest *source = bundle.findProgram(producer.program);
  if (source && source->findOperand(input.operand))
    return std::nullopt;
  return Error{": no operand '" + input.operand + "' of call " +
               std::to_string(*input.call)};
}

/// The first name of a call that nothing defines.
static std::optional<Error> validateCall(const Bundle &bundle, size_t number) {
  const ProgramCall &call = bundle.calls[number];
  std::string path = "calls[" + std::to_string(number) + "]";
  auto fail = [&](const std::string &field, const std::string &what) {
    return Error{path.append(field).append(what)};
  };
  const Manifest *program = bundle.findProgram(call.program);
  if (!program)
    return fail(".program", ": no program '" + call.program + "'");
  for (const auto &[name, input] : call.inputs) {
    if (!program->findOperand(name))
      return fail(".inputs", ": no operand '" + name + "'");
    if (auto error = validateInput(bundle, number, input))
      return fail(".inputs." + name, error->message);
  }
  for (const auto &[name, result] : call.results)
    if (!program->findOperand(name) || result < 0)
      return fail(".results", ": no operand '" + name + "'");
  return std::nullopt;
}

static std::optional<Error> validate(const Bundle &bundle) {
  for (size_t i = 0; i < bundle.programs.size(); ++i) {
    const Manifest &program = bundle.programs[i];
    std::string path = "programs[" + std::to_string(i) + "].";
    if (auto error = runtime::validate(program))
      return Error{path + error->message};
    if (bundle.findProgram(program.name) != &program)
      return Error{path + "name: '" + program.name + "' is already used"};
    if (program.ptx != bundle.ptx || program.target != bundle.target)
      return Error{path + "ptx: expected that of the bundle, and its target"};
  }
  for (size_t i = 0; i < bundle.calls.size(); ++i)
    if (auto error = validateCall(bundle, i))
      return error;
  return std::nullopt;
}

Result<Bundle> attn::runtime::readBundle(const std::string &text) {
  Result<json> root = parseJson(text);
  if (!root)
    return Error{root.error()};
  if (!isBundle(*root)) {
    Result<Manifest> manifest = readManifest(text);
    if (!manifest)
      return Error{manifest.error()};
    return Bundle{
        manifest->name, manifest->target, manifest->ptx, {*manifest}, {}};
  }
  std::optional<Error> error;
  Cursor c(*root, "", error);
  c.expectObject({"schema", "name", "target", "ptx", "programs", "calls"});
  Bundle bundle;
  bundle.name = c.field("name").string();
  bundle.target = c.field("target").string();
  bundle.ptx = c.field("ptx").string();
  bundle.programs = c.field("programs").list([](const Cursor &program) {
    return readManifest(program);
  });
  if (c.has("calls"))
    bundle.calls = c.field("calls").list(readCall);
  if (!error)
    error = ::validate(bundle);
  if (error)
    return *error;
  return bundle;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

using OrderedJson = nlohmann::ordered_json;

static OrderedJson callToJson(const ProgramCall &call) {
  OrderedJson inputs = OrderedJson::object(), results = OrderedJson::object();
  for (const auto &[name, input] : call.inputs) {
    if (input.argument)
      inputs[name] = {{"argument", *input.argument}};
    else
      inputs[name] = {{"call", *input.call}, {"operand", input.operand}};
  }
  for (const auto &[name, result] : call.results)
    results[name] = result;
  OrderedJson json = {{"function", call.function}, {"program", call.program}};
  if (!call.within.empty())
    json["within"] = call.within;
  json["inputs"] = std::move(inputs);
  json["results"] = std::move(results);
  return json;
}

std::string attn::runtime::writeBundle(const Bundle &bundle) {
  if (bundle.programs.size() == 1 && bundle.calls.empty())
    return writeManifest(bundle.programs.front());
  OrderedJson root = {
      {"schema", bundleSchema},           {"name", bundle.name},
      {"target", bundle.target},          {"ptx", bundle.ptx},
      {"programs", OrderedJson::array()}, {"calls", OrderedJson::array()}};
  for (const Manifest &program : bundle.programs)
    root["programs"].push_back(OrderedJson::parse(writeManifest(program)));
  for (const ProgramCall &call : bundle.calls)
    root["calls"].push_back(callToJson(call));
  return root.dump(2) + "\n";
}
