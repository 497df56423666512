/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * foreign BASE: launches the kernel of BASE.ptx and BASE.json on tensors of
 * ones, of which attention gives ones. */
#include "attn-c/Runtime.h"

#include <stdio.h>
#include <stdlib.h>

enum { B = 1, Hq = 4, Hkv = 2, M = 100, N = 130, D = 64 };

/* Ends the program where a call failed. */
static void check(AttnLaunchCode code) {
  if (code == ATTN_LAUNCH_SUCCESS)
    return;
  fprintf(stderr, "error: %s\n", attnGetLaunchMessage());
  exit(code == ATTN_LAUNCH_NO_DRIVER ? 2 : 1);
}

static char *readText(const char *base, const char *suffix) {
  char path[1024];
  snprintf(path, sizeof path, "%s%s", base, suffix);
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  size_t length = (size_t)ftell(file);
  rewind(file);
  char *text = calloc(length + 1, 1);
  length = fread(text, 1, length, file);
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  const char *base = argc > 1 ? argv[1] : "attention";
  char *manifest = readText(base, ".json"), *ptx = readText(base, ".ptx");
  AttnDevice *device;
  AttnProgram *program;
  check(attnDeviceOpen(0, &device));
  check(attnProgramLoad(device, manifest, ptx, &program));

  const int64_t queries[] = {B, Hq, M, D}, keys[] = {B, Hkv, N, D};
  const int64_t *shapes[] = {queries, keys, keys, queries};
  const uint16_t one = 0x3F80; /* in bf16 */
  uint16_t *values = malloc(B * Hq * N * D * sizeof *values);
  AttnMemory *memories[4];
  AttnTensor tensors[4]; /* query, key, value, output */
  for (int i = 0; i < 4; ++i) {
    size_t count = shapes[i][0] * shapes[i][1] * shapes[i][2] * shapes[i][3];
    for (size_t k = 0; k < count; ++k)
      values[k] = i < 3 ? one : 0;
    check(attnMemoryAllocate(device, count * sizeof *values, &memories[i]));
    check(attnMemoryCopyFromHost(memories[i], values));
    tensors[i].address = attnMemoryGetAddress(memories[i]);
    tensors[i].rank = 4;
    tensors[i].shape = shapes[i];
    tensors[i].strides = NULL; /* row-major */
  }
  check(attnProgramLaunch(program, tensors, 4, /*stream=*/NULL));
  check(attnMemoryCopyToHost(memories[3], values));
  int wrong = 0;
  for (int k = 0; k < B * Hq * M * D; ++k)
    wrong += values[k] != one;
  printf("%s: %d wrong\n", attnDeviceGetName(device), wrong);

  for (int i = 0; i < 4; ++i)
    attnMemoryDestroy(memories[i]);
  attnProgramDestroy(program);
  attnDeviceDestroy(device);
  free(values);
  free(manifest);
  free(ptx);
  return wrong != 0;
}
