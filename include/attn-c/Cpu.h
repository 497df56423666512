/*===- Cpu.h - C API: calls functions compiled for the CPU --------*- C -*-===*\
|*                                                                            *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Loads what `attn-run module.mlir --emit-object=FILE` wrote and calls it in *|
|* this process (libattn-c). Calls may be made from any thread, several at    *|
|* once. The code reads and writes what it is given: sizes that the function  *|
|* takes to be equal must be, and what the regions of an attention read of    *|
|* tensors must lie within these. A failed cf.assert of the module ends the   *|
|* process. The child of a fork may call, too.                                *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ATTN_C_CPU_H
#define ATTN_C_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the last function that failed in this thread expected and got; it lives
 * until the next one fails. */
const char *attnCpuGetMessage(void);

/* The processor, as far as code depends on it; a file is for one. The string
 * lives as long as the process. */
const char *attnCpuGetHost(void);

typedef struct AttnCpuFunction AttnCpuFunction;

/* From the bytes of a file, which are not kept; NULL after an error. */
AttnCpuFunction *attnCpuFunctionLoad(const char *bytes, size_t length);
/* Its calls must have been destroyed. */
void attnCpuFunctionDestroy(AttnCpuFunction *function);
size_t attnCpuFunctionGetNumResults(const AttnCpuFunction *function);

/* An array, of any strides, in elements, whose last dimension is contiguous. */
typedef struct AttnCpuLayout {
  const char *dtype; /* "f32", "bf16", ... */
  size_t rank;
  const int64_t *shape;
  const int64_t *strides;
} AttnCpuLayout;

/* Arguments of these layouts, which are checked; NULL after an error. */
typedef struct AttnCpuCall AttnCpuCall;
AttnCpuCall *attnCpuCallCreate(const AttnCpuFunction *function,
                               const AttnCpuLayout *arguments,
                               size_t numArguments);
void attnCpuCallDestroy(AttnCpuCall *call);

/* What a call returned, in memory of its own. */
typedef struct AttnCpuResults AttnCpuResults;
/* Runs on `numThreads` threads, 0 for one for each core, and waits; `addresses`
 * are those of element (0, 0, ...) of each argument. NULL after an error. */
AttnCpuResults *attnCpuCallRun(const AttnCpuCall *call, void *const *addresses,
                               size_t numThreads);
void attnCpuResultsDestroy(AttnCpuResults *results);
/* As many sizes as the result has dimensions. */
const int64_t *attnCpuResultsGetShape(const AttnCpuResults *results,
                                      size_t index);
/* To an array of the same shape; strides in elements. */
void attnCpuResultsCopy(const AttnCpuResults *results, size_t index,
                        void *address, const int64_t *strides);

#ifdef __cplusplus
}
#endif

#endif /* ATTN_C_CPU_H */
