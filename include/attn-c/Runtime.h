/*===- Runtime.h - C API: launches PTX by its manifest ------------*- C -*-===*\
|*                                                                            *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The launcher of attn/Runtime/CudaProgram.h for C and whatever calls C, in  *|
|* a library of its own (libattn-runtime-c), which needs neither MLIR nor     *|
|* LLVM nor the CUDA toolkit: the driver is loaded when the first device is   *|
|* opened. PTX and manifest come from files or from attn-c/Compiler.h.        *|
|*                                                                            *|
|* A function that can fail returns a code and leaves a message in its        *|
|* thread; what it makes is then NULL. Every function may be called from any  *|
|* thread; an object must not be used while it is destroyed. Objects may be   *|
|* destroyed in any order, and NULL may.                                      *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ATTN_C_RUNTIME_H
#define ATTN_C_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum AttnLaunchCode {
  ATTN_LAUNCH_SUCCESS = 0,
  ATTN_LAUNCH_NO_DRIVER = 1, /* no CUDA driver, or one that is too old */
  ATTN_LAUNCH_NO_DEVICE = 2, /* no such GPU */
  ATTN_LAUNCH_WRONG_ARCHITECTURE = 3, /* the PTX is for other GPUs */
  ATTN_LAUNCH_INVALID_PROGRAM = 4,    /* a manifest or PTX that does not load */
  ATTN_LAUNCH_INVALID_OPERANDS = 5,   /* a shape, stride or address that the
                                         kernels cannot take, or a NULL */
  ATTN_LAUNCH_OUT_OF_MEMORY = 6,      /* on the device, or of the host */
  ATTN_LAUNCH_DRIVER_ERROR = 7        /* any other call of the driver failed */
} AttnLaunchCode;

/* What the last function that failed in this thread expected and got; empty if
 * none did. It lives until the next one fails. */
const char *attnGetLaunchMessage(void);

/*===----------------------------------------------------------------------===*\
|* A GPU and its memory                                                       *|
\*===----------------------------------------------------------------------===*/

/* A GPU by its primary context, which is also that of the CUDA runtime and of
 * the frameworks: their streams and addresses can be used. */
typedef struct AttnDevice AttnDevice;

AttnLaunchCode attnDeviceOpen(int ordinal, AttnDevice **device);
void attnDeviceDestroy(AttnDevice *device);
/* "NVIDIA H100 80GB HBM3"; lives as long as the device. */
const char *attnDeviceGetName(const AttnDevice *device);
/* 10 * major + minor: 90 for an H100. */
int attnDeviceGetComputeCapability(const AttnDevice *device);
/* Waits for everything that was launched; fails if something in it did. */
AttnLaunchCode attnDeviceSynchronize(const AttnDevice *device);

/* Memory on a device; its content is undefined at first. */
typedef struct AttnMemory AttnMemory;

AttnLaunchCode attnMemoryAllocate(const AttnDevice *device, size_t bytes,
                                  AttnMemory **memory);
void attnMemoryDestroy(AttnMemory *memory);
/* A CUdeviceptr; 0 if there are no bytes. */
uint64_t attnMemoryGetAddress(const AttnMemory *memory);
/* Copies all bytes, in the order of the default stream; the source may change
 * when it returns. */
AttnLaunchCode attnMemoryCopyFromHost(AttnMemory *memory, const void *source);
/* Waits for what is in the default stream, then copies all bytes. */
AttnLaunchCode attnMemoryCopyToHost(const AttnMemory *memory, void *target);

/* A tensor on the device. */
typedef struct AttnTensor {
  uint64_t address; /* of element (0, 0, ...); may be 0 if there is none */
  size_t rank;
  const int64_t *shape;
  const int64_t *strides; /* in elements; NULL: row-major */
} AttnTensor;

/*===----------------------------------------------------------------------===*\
|* Manifests (docs/Manifest.md), for a launcher in another language           *|
\*===----------------------------------------------------------------------===*/

/* A manifest that was read and checked. */
typedef struct AttnManifest AttnManifest;

/* Reads a manifest, or the program called `name` of a bundle (NULL or "": the
 * only one). */
AttnLaunchCode attnManifestRead(const char *text, const char *name,
                                AttnManifest **manifest);
void attnManifestDestroy(AttnManifest *manifest);
/* That of the program alone, as the compiler writes it; lives as long as the
 * object. */
const char *attnManifestGetText(const AttnManifest *manifest);
/* Fails unless the manifest was written with this PTX, or does not say. */
AttnLaunchCode attnManifestCheckPtx(const AttnManifest *manifest,
                                    const char *ptx);

/* Sizes that agree with a manifest. */
typedef struct AttnProblem AttnProblem;

/* The rank of an operand that is not given: an output, whose sizes follow from
 * other operands. */
#define ATTN_NOT_GIVEN SIZE_MAX

/* Checks ranks, sizes, strides, addresses that are not 0, and constraints, for
 * operands in the manifest's order and a device of that many SMs. */
AttnLaunchCode attnManifestBind(const AttnManifest *manifest,
                                const AttnTensor *operands, size_t numOperands,
                                int64_t numSMs, AttnProblem **problem);
void attnProblemDestroy(AttnProblem *problem);
/* JSON: {"symbols": {"M": 300, ...},
 *        "operands": [{"shape": [...], "strides": [...]}, ...]}
 * Lives as long as the problem, as does the text of its launches. */
const char *attnProblemGetText(const AttnProblem *problem);
/* What is to be launched, in order, as JSON: {"workspace_bytes": [...],
 *  "launches": [{"kernel": its number in the manifest, "grid": [x, y, z],
 *                "shared_bytes": n, "parameters": [...]}, ...]}
 * A parameter is a "value" or a "byte_offset"; a tensor map has "dims" and
 * "strides_bytes", too. */
AttnLaunchCode attnProblemGetLaunches(AttnProblem *problem, const char **text);

/*===----------------------------------------------------------------------===*\
|* Kernels                                                                    *|
\*===----------------------------------------------------------------------===*/

/* The kernels of a manifest, loaded into a device. */
typedef struct AttnProgram AttnProgram;

/* Loads PTX with its manifest (docs/Manifest.md), both null-terminated and not
 * kept. The driver compiles the PTX now unless its cache has it. */
AttnLaunchCode attnProgramLoad(const AttnDevice *device, const char *manifest,
                               const char *ptx, AttnProgram **program);
/* The same for the program called `name` of a bundle, which is what the
 * compiler writes in place of a manifest for a module with several attentions.
 * NULL or "": the only one. */
AttnLaunchCode attnProgramLoadNamed(const AttnDevice *device,
                                    const char *bundle, const char *name,
                                    const char *ptx, AttnProgram **program);
/* What was launched must have ended. */
void attnProgramDestroy(AttnProgram *program);
/* What it was compiled for, "sm_90a"; lives as long as the program. */
const char *attnProgramGetTarget(const AttnProgram *program);
/* The tensors of a launch, in the manifest's order. */
size_t attnProgramGetNumOperands(const AttnProgram *program);
/* "query"; lives as long as the program. NULL if there are not so many. */
const char *attnProgramGetOperandName(const AttnProgram *program, size_t index);
/* Whether the kernels write it. */
bool attnProgramIsOperandWritten(const AttnProgram *program, size_t index);

/* Launches all kernels on `stream`, a CUstream or cudaStream_t (NULL: the
 * default stream), for operands in the manifest's order, outputs too. Returns
 * when they are queued. Every fault that has to do with the operands is found
 * before anything is launched. */
AttnLaunchCode attnProgramLaunch(const AttnProgram *program,
                                 const AttnTensor *operands, size_t numOperands,
                                 void *stream);
/* The bytes of device memory that a launch takes beside operands of these
 * shapes and strides, whatever is in them, such as lengths. Addresses are not
 * looked at. */
AttnLaunchCode attnProgramPlan(const AttnProgram *program,
                               const AttnTensor *operands, size_t numOperands,
                               size_t *workspaceBytes);
/* Launches in memory of the caller's, of as many bytes as planned or more, at a
 * multiple of 256: nothing is allocated. Calls on one stream may follow each
 * other in it. */
AttnLaunchCode attnProgramRun(const AttnProgram *program,
                              const AttnTensor *operands, size_t numOperands,
                              uint64_t workspace, size_t workspaceBytes,
                              void *stream);

#ifdef __cplusplus
}
#endif

#endif /* ATTN_C_RUNTIME_H */
