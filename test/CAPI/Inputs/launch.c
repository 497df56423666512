/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * launch.c ones|faults BASE: the launcher's C API as a foreign program uses it,
 * with BASE.json and BASE.ptx. Prints what comes back; a leak or a bad access
 * ends it through the sanitizers. */
#include "attn-c/Runtime.h"

#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *readFile(const char *base, const char *suffix) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s", base, suffix);
  FILE *file = fopen(path, "rb");
  assert(file);
  fseek(file, 0, SEEK_END);
  size_t length = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(length + 1);
  assert(fread(text, 1, length, file) == length);
  text[length] = 0;
  fclose(file);
  return text;
}

static AttnLaunchCode load(const AttnDevice *device, const char *base,
                           AttnProgram **program) {
  char *manifest = readFile(base, ".json"), *ptx = readFile(base, ".ptx");
  AttnLaunchCode code = attnProgramLoad(device, manifest, ptx, program);
  free(manifest);
  free(ptx);
  return code;
}

static void report(const char *what, AttnLaunchCode code) {
  printf("%s: %d", what, (int)code);
  if (code != ATTN_LAUNCH_SUCCESS)
    printf(" '%s'", attnGetLaunchMessage());
  printf("\n");
}

/*===----------------------------------------------------------------------===*/

enum { Heads = 2, Rows = 40, Dim = 64, Count = Heads * Rows * Dim };

/* Attention over values of 1, of which the output is 1. */
static void computeOnes(const char *base) {
  AttnDevice *device;
  AttnProgram *program;
  assert(!attnDeviceOpen(0, &device) && !load(device, base, &program));
  printf("%s on %s, of compute capability %d\n", attnProgramGetTarget(program),
         attnDeviceGetName(device), attnDeviceGetComputeCapability(device));
  printf("operands:");
  for (size_t i = 0; i < attnProgramGetNumOperands(program); ++i)
    printf(" %s%s", attnProgramGetOperandName(program, i),
           attnProgramIsOperandWritten(program, i) ? " (written)" : "");
  printf("\n");
  assert(!attnProgramGetOperandName(program, 4));
  assert(!attnProgramIsOperandWritten(program, 4));

  const uint16_t one = 0x3F80; /* in bf16 */
  static const int64_t shape[4] = {1, Heads, Rows, Dim};
  static uint16_t values[Count];
  AttnMemory *memories[4];
  AttnTensor operands[4];
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < Count; ++k)
      values[k] = i < 3 ? one : 0;
    assert(!attnMemoryAllocate(device, sizeof values, &memories[i]));
    assert(!attnMemoryCopyFromHost(memories[i], values));
    operands[i] =
        (AttnTensor){attnMemoryGetAddress(memories[i]), 4, shape, NULL};
  }
  assert(!attnProgramLaunch(program, operands, 4, NULL));
  assert(!attnDeviceSynchronize(device));
  assert(!attnMemoryCopyToHost(memories[3], values));
  int wrong = 0;
  for (int k = 0; k < Count; ++k)
    wrong += values[k] != one;
  printf("%d wrong\n", wrong);
  for (int i = 0; i < 4; ++i)
    attnMemoryDestroy(memories[i]);
  attnProgramDestroy(program);
  attnDeviceDestroy(device);
}

/*===----------------------------------------------------------------------===*/

static void launchFaults(const AttnProgram *program) {
  const int64_t in[] = {2, 100, 64}, out[] = {2, 100}, gaps[] = {6800, 68, 1};
  const AttnTensor right[] = {{0x10000, 3, in, NULL}, {0x20000, 2, out, NULL}};
  AttnTensor wrong[] = {right[0], right[1]};
  report("launched", attnProgramLaunch(program, right, 2, NULL));
  wrong[0].strides = gaps;
  report("strides", attnProgramLaunch(program, wrong, 2, NULL));
  wrong[0] = (AttnTensor){0, 3, in, NULL};
  report("address", attnProgramLaunch(program, wrong, 2, NULL));
  report("count", attnProgramLaunch(program, right, 1, NULL));
  wrong[0] = (AttnTensor){0x10000, 0, NULL, NULL};
  report("rank", attnProgramLaunch(program, wrong, 2, NULL));
  wrong[0].rank = 3;
  report("no shape", attnProgramLaunch(program, wrong, 2, NULL));
  report("no operands", attnProgramLaunch(program, NULL, 2, NULL));
  report("no program", attnProgramLaunch(NULL, right, 2, NULL));
  size_t bytes = 0;
  report("planned", attnProgramPlan(program, right, 2, &bytes));
  printf("%zu bytes\n", bytes);
  report("run", attnProgramRun(program, right, 2, 0x40000, bytes, NULL));
  report("few bytes",
         attnProgramRun(program, right, 2, 0x40000, bytes - 1, NULL));
  report("between", attnProgramRun(program, right, 2, 0x40010, bytes, NULL));
  report("plan of one", attnProgramPlan(program, right, 1, &bytes));
  report("no bytes", attnProgramPlan(program, right, 2, NULL));
}

static void *printMessage(void *unused) {
  printf("another thread: '%s'\n", attnGetLaunchMessage());
  return unused;
}

static void findFaults(const char *base) {
  printf("first: '%s'\n", attnGetLaunchMessage());
  AttnDevice *device = (AttnDevice *)8;
  AttnProgram *program = (AttnProgram *)8;
  AttnLaunchCode code = attnDeviceOpen(7, &device);
  assert(!device);
  report("ordinal", code);
  if (code == ATTN_LAUNCH_NO_DRIVER)
    return;
  assert(!attnDeviceOpen(1, &device));
  report("no manifest", attnProgramLoad(device, "", "", &program));
  assert(!program);
  report("no schema", attnProgramLoad(device, "{}", "", &program));
  code = load(device, base, &program);
  if (code) {
    report("load", code);
    attnDeviceDestroy(device);
    return;
  }
  launchFaults(program);
  AttnProgram *other;
  report("no device", attnProgramLoad(NULL, "", "", &other));
  report("no place", attnDeviceOpen(0, NULL));
  report("no source", attnMemoryCopyFromHost(NULL, NULL));
  pthread_t thread;
  assert(!pthread_create(&thread, NULL, printMessage, NULL));
  assert(!pthread_join(thread, NULL));
  attnDeviceDestroy(device);
  attnProgramDestroy(program);
  printf("device was destroyed first\n");
  attnDeviceDestroy(NULL);
  attnMemoryDestroy(NULL);
  attnProgramDestroy(NULL);
}

int main(int argc, char **argv) {
  assert(argc == 3);
  if (!strcmp(argv[1], "ones"))
    computeOnes(argv[2]);
  else
    findFaults(argv[2]);
  return 0;
}
