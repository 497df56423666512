/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * compile.c FILE: the C API as a foreign program uses it. Prints what comes
 * back; a leak or a bad access ends it through the sanitizers. */
#include "attn-c/Compiler.h"
#include "attn-c/Dialects.h"

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *severities[] = {"note", "warning", "error", "remark"};

static void print(AttnSeverity severity, const char *location,
                  const char *message, void *userData) {
  printf("%s [%s] %s: %s\n", (const char *)userData, location,
         severities[severity], message);
}

static char *readFile(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  assert(file);
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(*length + 1);
  assert(fread(text, 1, *length, file) == *length);
  text[*length] = 0;
  fclose(file);
  return text;
}

static const AttnArtifact all[] = {ATTN_ARTIFACT_PTX, ATTN_ARTIFACT_MANIFEST,
                                   ATTN_ARTIFACT_HEADER, ATTN_ARTIFACT_REPORT};

static AttnCompileOptions getOptions(const char *name) {
  AttnCompileOptions options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.target = "sm_90a";
  options.name = name;
  options.artifacts = all;
  options.numArtifacts = 4;
  options.diagnosticHandler = print;
  options.userData = (void *)name;
  return options;
}

static void printArtifacts(const AttnCompilation *compilation) {
  for (size_t i = 0; i < 4; ++i) {
    size_t length = 0;
    const char *text = attnCompilationGetArtifact(compilation, all[i], &length);
    assert(text && strlen(text) == length);
    printf("artifact %d: %.*s\n", all[i], (int)strcspn(text, "\n"), text);
  }
  assert(!attnCompilationGetArtifact(compilation, ATTN_ARTIFACT_LLVM, NULL));
}

static void compileSource(const char *source, size_t length) {
  AttnCompileOptions options = getOptions("source");
  AttnCompilation *compilation =
      attnCompileSource(source, length, "in.mlir", &options);
  assert(compilation);
  printArtifacts(compilation);
  attnCompilationDestroy(compilation);
}

/* Gradients of a function, whose kernels' waits end and are proven. */
static void compileGradients(const char *source, size_t length) {
  AttnCompileOptions options = getOptions("gradients");
  options.passes = "attn-grad{recompute},symbol-dce";
  options.proveBarriers = true;
  options.boundedWaits = 1000;
  AttnCompilation *compilation =
      attnCompileSource(source, length, "in.mlir", &options);
  assert(compilation);
  const char *ptx =
      attnCompilationGetArtifact(compilation, ATTN_ARTIFACT_PTX, NULL);
  const char *manifest =
      attnCompilationGetArtifact(compilation, ATTN_ARTIFACT_MANIFEST, NULL);
  printf("waits end: %s, operand d_query: %s\n",
         strstr(ptx, "attn_wait_report") ? "yes" : "no",
         strstr(manifest, "\"d_query\"") ? "yes" : "no");
  attnCompilationDestroy(compilation);
}

/* A module and pass manager of MLIR's C API. */
static void compileModule(const char *source, size_t length) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  attnRegisterAllDialects(registry);
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreate(source, length));
  assert(!mlirModuleIsNull(module));

  attnRegisterPasses();
  attnRegisterPasses();
  MlirPassManager passes = mlirPassManagerCreate(context);
  MlirLogicalResult parsed = mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(passes),
      mlirStringRefCreateFromCString(
          "builtin.module(attn-to-tensor,attn-to-scheduled{target=sm_90a})"),
      NULL, NULL);
  assert(mlirLogicalResultIsSuccess(parsed));
  assert(mlirLogicalResultIsSuccess(
      mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(module))));
  mlirPassManagerDestroy(passes);

  AttnCompileOptions options = getOptions("module");
  AttnCompilation *compilation = attnCompileModule(module, &options);
  assert(compilation);
  printArtifacts(compilation);
  attnCompilationDestroy(compilation);

  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
}

/* Each ends in one diagnostic and NULL. */
static void fail(const char *source) {
  size_t length = strlen(source);
  AttnCompileOptions options = getOptions("parse");
  assert(!attnCompileSource("func.func @f(", 13, "in.mlir", &options));
  options.userData = "no attention";
  assert(!attnCompileSource("module {}", 9, "in.mlir", &options));
  options.userData = "source";
  assert(!attnCompileSource(NULL, 0, NULL, &options));
  options.userData = "target";
  options.target = "sm_81";
  assert(!attnCompileSource(source, length, NULL, &options));
  options = getOptions("schedule");
  options.schedule = "tile_q=3";
  assert(!attnCompileSource(source, length, NULL, &options));
  options = getOptions("threshold");
  options.maskThreshold = 5;
  assert(!attnCompileSource(source, length, "in.mlir", &options));
  options = getOptions("passes");
  options.passes = "attn-gradient";
  assert(!attnCompileSource(source, length, "in.mlir", &options));
  options.passes = "attn-grad{functions=f";
  assert(!attnCompileSource(source, length, "in.mlir", &options));
  /* Of an older header, of a newer one, and of none. */
  options = getOptions("older");
  options.size = offsetof(AttnCompileOptions, userData);
  AttnCompilation *older = attnCompileSource(source, length, NULL, &options);
  assert(older);
  attnCompilationDestroy(older);
  struct {
    AttnCompileOptions known;
    long further;
  } newer = {getOptions("newer"), 0};
  newer.known.size = sizeof newer;
  newer.known.schedule = "tile_q=3";
  assert(!attnCompileSource(source, length, NULL, &newer.known));
  newer.further = 1;
  assert(!attnCompileSource(source, length, NULL, &newer.known));
  options.size = 0;
  assert(!attnCompileSource(source, length, NULL, &options));
  options = getOptions("cpu");
  options.target = "cpu";
  assert(!attnCompileSource(source, length, "in.mlir", &options));
  options = getOptions("artifacts");
  options.numArtifacts = 0;
  assert(!attnCompileSource(source, length, NULL, &options));
  AttnArtifact wrong[] = {ATTN_ARTIFACT_PTX, ATTN_ARTIFACT_PTX};
  options.artifacts = wrong;
  options.numArtifacts = 2;
  assert(!attnCompileSource(source, length, NULL, &options));
  wrong[1] = (AttnArtifact)77;
  assert(!attnCompileSource(source, length, NULL, &options));
  MlirModule null = {NULL};
  options = getOptions("module");
  assert(!attnCompileModule(null, &options));
  options.diagnosticHandler = NULL;
  assert(!attnCompileModule(null, &options));
  assert(!attnCompileSource(source, length, NULL, NULL));
  attnCompilationDestroy(NULL);
}

struct Input {
  const char *source;
  size_t length;
  char *ptx;
};

static void *compileInThread(void *userData) {
  struct Input *input = userData;
  AttnCompileOptions options = getOptions("thread");
  AttnCompilation *compilation =
      attnCompileSource(input->source, input->length, NULL, &options);
  assert(compilation);
  input->ptx =
      strdup(attnCompilationGetArtifact(compilation, ATTN_ARTIFACT_PTX, NULL));
  attnCompilationDestroy(compilation);
  return NULL;
}

/* Several threads at once get the same PTX. */
static void compileInThreads(const char *source, size_t length) {
  enum { Count = 4 };
  pthread_t threads[Count];
  struct Input inputs[Count];
  for (int i = 0; i < Count; ++i) {
    inputs[i] = (struct Input){source, length, NULL};
    assert(!pthread_create(&threads[i], NULL, compileInThread, &inputs[i]));
  }
  for (int i = 0; i < Count; ++i)
    assert(!pthread_join(threads[i], NULL));
  for (int i = 0; i < Count; ++i)
    assert(!strcmp(inputs[i].ptx, inputs[0].ptx));
  for (int i = 0; i < Count; ++i)
    free(inputs[i].ptx);
  printf("%d threads agree\n", Count);
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  assert(argc == 2);
  size_t length;
  char *source = readFile(argv[1], &length);
  printf("version %s\n", attnGetVersion());
  compileInThreads(source, length);
  compileSource(source, length);
  compileGradients(source, length);
  compileModule(source, length);
  fail(source);
  free(source);
  return 0;
}
