/*===- Dialects.h - C API: dialects and passes in a host's MLIR ---*- C -*-===*\
|*                                                                            *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* For a program that holds MLIR objects already, by MLIR's own C API. The    *|
|* core of that API (mlirContext..., mlirModule..., mlirPassManager...) is in *|
|* libattn-mlir-c, as LLVM 22's packages have no shared library of it.        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ATTN_C_DIALECTS_H
#define ATTN_C_DIALECTS_H

#include "attn-c/Compiler.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the attn, attn_tile and attn_ptx dialects to `registry`, and what the
 * passes look up on MLIR's dialects. */
void attnRegisterDialects(MlirDialectRegistry registry);

/* As attnRegisterDialects, and every dialect of MLIR itself: whatever graph a
 * framework hands over can be parsed. */
void attnRegisterAllDialects(MlirDialectRegistry registry);

/* Makes this project's passes and pipelines known by name, for
 * mlirParsePassPipeline. More than one call does nothing more. */
void attnRegisterPasses(void);

/* As attnCompileSource, but of a module that the host owns, which is left in
 * the form of the last stage, whether or not that was reached. Its context must
 * have the dialects of attnRegisterAllDialects. Diagnostics go to the options'
 * handler, if any, in place of the context's. */
AttnCompilation *attnCompileModule(MlirModule module,
                                   const AttnCompileOptions *options);

#ifdef __cplusplus
}
#endif

#endif /* ATTN_C_DIALECTS_H */
