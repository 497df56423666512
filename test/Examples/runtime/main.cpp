// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles an attention for the GPU that is there, and launches it.
#include "attn-c/Compiler.h"
#include "attn/Runtime/CudaProgram.h"

#include <cstdio>

using namespace attn::runtime;

static constexpr int64_t B = 2, H = 4, M = 100, N = 130, D = 64;
static constexpr uint16_t one = 0x3C00; // in f16

static const std::string source = R"mlir(
func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>)
    -> tensor<?x?x?x64xf16> {
  %o = attn.attention %q, %k, %v mask_mod causal(bottom_right)
      : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
})mlir";

static void print(AttnSeverity, const char *location, const char *message,
                  void *) {
  std::fprintf(stderr, "%s: %s\n", location, message);
}

static LaunchResult<CudaProgram> compile(const CudaDevice &device) {
  const AttnArtifact artifacts[] = {ATTN_ARTIFACT_PTX, ATTN_ARTIFACT_MANIFEST};
  AttnCompileOptions options = {};
  options.size = sizeof options;
  // PTX for sm_80 runs on every later GPU, too.
  options.target = device.getComputeCapability() == 90 ? "sm_90a" : "sm_80";
  options.artifacts = artifacts;
  options.numArtifacts = 2;
  options.diagnosticHandler = print;
  AttnCompilation *compilation = attnCompileSource(
      source.c_str(), source.size(), "attention.mlir", &options);
  if (!compilation)
    return LaunchStatus{LaunchCode::InvalidProgram, "it does not compile"};
  auto get = [&](AttnArtifact kind) {
    return std::string(attnCompilationGetArtifact(compilation, kind, nullptr));
  };
  std::string ptx = get(ATTN_ARTIFACT_PTX);
  attn::Result<Manifest> manifest = readManifest(get(ATTN_ARTIFACT_MANIFEST));
  attnCompilationDestroy(compilation);
  if (!manifest)
    return LaunchStatus{LaunchCode::InvalidProgram, manifest.error()};
  return CudaProgram::load(device, *manifest, ptx);
}

/// Attention over values of 1, of which the output is 1. Counts what is not.
static LaunchResult<int> countWrong(const CudaProgram &program) {
  std::vector<DeviceMemory> memories;
  std::vector<OperandBinding> operands;
  std::vector<uint16_t> host;
  for (int64_t length : {M, N, N, M}) { // query, key, value, output
    host.assign(B * H * length * D, memories.size() < 3 ? one : 0);
    auto memory = program.getDevice().allocate(host.size() * 2);
    if (!memory)
      return memory.status();
    if (LaunchStatus status = memory->copyFromHost(host.data()); !status)
      return status;
    // Strides would be second: without them a tensor is row-major.
    operands.push_back({{B, H, length, D}, {}, memory->getAddress()});
    memories.push_back(std::move(*memory));
  }
  if (LaunchStatus status = program.launch(operands); !status)
    return status;
  if (LaunchStatus status = memories[3].copyToHost(host.data()); !status)
    return status;
  int wrong = 0;
  for (uint16_t value : host)
    wrong += value != one;
  return wrong;
}

static int fail(const LaunchStatus &status) {
  std::fprintf(stderr, "error: %s\n", status.message.c_str());
  // A program can act on the code: here, say that there is no GPU.
  return status.code == LaunchCode::NoDriver ? 2 : 1;
}

int main() {
  LaunchResult<CudaDevice> device = CudaDevice::open();
  if (!device)
    return fail(device.status());
  LaunchResult<CudaProgram> program = compile(*device);
  if (!program)
    return fail(program.status());
  LaunchResult<int> wrong = countWrong(*program);
  if (!wrong)
    return fail(wrong.status());
  std::printf("%s on %s: %d wrong\n", program->getManifest().target.c_str(),
              device->getName().c_str(), *wrong);
  return *wrong != 0;
}
