/*===- Compiler.h - C API: from MLIR text to PTX ------------------*- C -*-===*\
|*                                                                            *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* What `attn-opt --target` does, as a function of a library (libattn-c). It  *|
|* needs no other header, and of MLIR nothing but its shared library at run   *|
|* time. Every function may be called from any thread; two threads must not   *|
|* share one AttnCompilation while one of them destroys it.                   *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ATTN_C_COMPILER_H
#define ATTN_C_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the compiler can write. */
typedef enum AttnArtifact {
  ATTN_ARTIFACT_MLIR = 0,     /* the module after the last stage */
  ATTN_ARTIFACT_LLVM = 1,     /* LLVM IR */
  ATTN_ARTIFACT_PTX = 2,      /* kernels for a GPU */
  ATTN_ARTIFACT_MANIFEST = 3, /* JSON: how to launch them (docs/Manifest.md) */
  ATTN_ARTIFACT_HEADER = 4,   /* C++: PTX, and a function that launches it */
  ATTN_ARTIFACT_REPORT = 5    /* JSON: what was decided, and why */
} AttnArtifact;

typedef enum AttnSeverity {
  ATTN_SEVERITY_NOTE = 0, /* belongs to the diagnostic before it */
  ATTN_SEVERITY_WARNING = 1,
  ATTN_SEVERITY_ERROR = 2,
  ATTN_SEVERITY_REMARK = 3
} AttnSeverity;

/* Called for each diagnostic, in the thread of the compilation. `location` is
 * "file:line:column", "file", or empty. The strings live until the handler
 * returns. */
typedef void (*AttnDiagnosticHandler)(AttnSeverity severity,
                                      const char *location, const char *message,
                                      void *userData);

/* Strings may be NULL, which means the default; they are not kept. */
typedef struct AttnCompileOptions {
  /* sizeof(AttnCompileOptions), of the caller's header: fields that it has not
   * are zero, and those that this library has not must be */
  size_t size;
  const char *target;       /* "sm_90a", "a100", "cpu"; default "sm_80" */
  const char *targetFields; /* numbers to change: "smem-bytes=65536 ..." */
  const char *schedule;     /* fields that are given: "tile_m=64 stages=3" */
  const char *name;         /* of the kernel's files; default "attention" */
  bool allowTf32;           /* let f32 attention use tf32 tensor cores */
  bool deterministic;       /* gradients are the same bits in every run */
  bool deviceAsserts;       /* check on the GPU what masks read of data */
  bool strict;              /* a warning is an error */
  /* every query sees at least one key: finite mask values mean -inf */
  bool assumeVisibleRows;
  /* finite mask values at or below this hide keys; 0: half of the lowest
   * number of the score's type */
  double maskThreshold;
  const AttnArtifact *artifacts; /* what to write, each kind at most once */
  size_t numArtifacts;
  AttnDiagnosticHandler diagnosticHandler; /* NULL: diagnostics are dropped */
  void *userData;                          /* for the handler */
  /* passes that run before all others, as mlir-opt's --pass-pipeline has them
   * between "builtin.module(" and ")": "attn-grad" */
  const char *passes;
  /* prove that the warps of each kernel neither wait in vain nor use memory too
   * early */
  bool proveBarriers;
  /* let a wait for an mbarrier fail after so many tries, 0.1 us apart; 0: none
   * does */
  uint32_t boundedWaits;
  /* start each kernel of a program after the end of the one before, on sm_90
   * and later too */
  bool noProgrammaticLaunch;
} AttnCompileOptions;

/* What a compilation wrote. */
typedef struct AttnCompilation AttnCompilation;

/* Compiles a module in MLIR's text or bytecode: `length` bytes at `source`
 * (text: with a null byte after them), which diagnostics call `sourceName`
 * (NULL: "-"). Returns NULL on failure, when an error has been passed to the
 * handler (or printed, if the options' size is wrong); otherwise the caller
 * destroys the result. */
AttnCompilation *attnCompileSource(const char *source, size_t length,
                                   const char *sourceName,
                                   const AttnCompileOptions *options);

/* One of the artefacts asked for, null-terminated, with its length in `length`
 * unless that is NULL. It lives as long as the compilation. NULL if this kind
 * was not asked for. */
const char *attnCompilationGetArtifact(const AttnCompilation *compilation,
                                       AttnArtifact artifact, size_t *length);

/* NULL is allowed. */
void attnCompilationDestroy(AttnCompilation *compilation);

/* The library's version, "0.1.0". */
const char *attnGetVersion(void);

#ifdef __cplusplus
}
#endif

#endif /* ATTN_C_COMPILER_H */
