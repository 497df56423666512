/* cpu FILE: calls the attention of FILE with keys of 2, whose average is 2. */

#include "attn-c/Cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char file[1 << 20];

int main(int argc, char **argv) {
  FILE *stream = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (!stream)
    return 1;
  size_t length = fread(file, 1, sizeof file, stream);
  fclose(stream);
  AttnCpuFunction *function = attnCpuFunctionLoad(file, length);
  if (!function || attnCpuFunctionGetNumResults(function) != 1) {
    puts(attnCpuGetMessage());
    return 1;
  }
  /* [B, M, H, D] in memory, each key for both heads. */
  float query[3 * 2 * 8], keys[5 * 8], output[3 * 2 * 8];
  for (int i = 0; i < 48; ++i)
    query[i] = (float)(i % 7);
  for (int i = 0; i < 40; ++i)
    keys[i] = 2;
  int64_t shapes[2][4] = {{1, 2, 3, 8}, {1, 2, 5, 8}};
  int64_t strides[2][4] = {{48, 8, 16, 1}, {40, 0, 8, 1}};
  AttnCpuLayout layouts[2] = {{"f32", 4, shapes[0], strides[0]},
                              {"f32", 4, shapes[1], strides[1]}};
  void *addresses[2] = {query, keys};
  AttnCpuCall *call = attnCpuCallCreate(function, layouts, 2);
  for (size_t threads = 1; threads <= 3; ++threads) {
    /* Once more in a child, with threads of its own. */
    pid_t child = threads == 3 ? (fflush(stdout), fork()) : 1;
    if (child && threads == 3) {
      waitpid(child, NULL, 0);
      break;
    }
    AttnCpuResults *results = attnCpuCallRun(call, addresses, threads);
    const int64_t *shape = attnCpuResultsGetShape(results, 0);
    attnCpuResultsCopy(results, 0, output, strides[0]);
    int all = 1;
    for (int i = 0; i < 48; ++i)
      all = all && output[i] > 1.99999F && output[i] < 2.00001F;
    printf("%d threads: [%d, %d, %d, %d], all 2: %s\n", (int)threads,
           (int)shape[0], (int)shape[1], (int)shape[2], (int)shape[3],
           all ? "yes" : "no");
    attnCpuResultsDestroy(results);
    if (!child)
      return 0;
  }
  if (!attnCpuCallCreate(function, layouts, 1))
    puts(attnCpuGetMessage());
  shapes[0][3] = 7;
  if (!attnCpuCallCreate(function, layouts, 2))
    puts(attnCpuGetMessage());
  if (!attnCpuFunctionLoad("nothing", 7))
    puts(attnCpuGetMessage());
  attnCpuCallDestroy(call);
  attnCpuFunctionDestroy(function);
  return 0;
}
