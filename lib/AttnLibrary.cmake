# attn_add_library(NAME source... [DEPENDS target...] [LINK library...]
#                  [HEADERS IR|NVVM|STD] [ONE_UNIT] [NO_INSTALL])
#
# One folder is one static library. Libraries never link MLIR themselves: the
# executable that uses them does (libMLIR.so), and the plug-in takes MLIR's
# symbols from its host, so that a process holds exactly one copy of MLIR.
#
# HEADERS names the precompiled headers (lib/Precompiled) that its files use; STD
# has none. ONE_UNIT: all files are one unit, since each needs headers that only
# some others do, as those of pipelines.
# NO_INSTALL keeps what only this project's tools need out of the package.
function(attn_add_library name)
  cmake_parse_arguments(ARG "NO_INSTALL;ONE_UNIT" "HEADERS" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  attn_speed_up_build(${name} ${ARG_HEADERS})
  if(ARG_ONE_UNIT)
    set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(NOT ARG_NO_INSTALL)
    attn_install_targets(${name})
  endif()
endfunction()

# attn_speed_up_build(NAME [IR|NVVM|STD|GTest]): nine tenths of the time of a file that
# uses MLIR go into MLIR's headers. They are read once for all files (precompiled
# headers) and once for a few (unity builds). Every file still includes what it
# uses: clang-tidy reads each by itself, in a tree without either.
function(attn_speed_up_build name)
  if(ATTN_FAST_BUILD AND ARGN)
    # Files of tests have functions of the same names.
    if(NOT ARGN STREQUAL GTest)
      set_target_properties(${name} PROPERTIES
        UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ATTN_FAST_BUILD_BATCH})
    endif()
    if(NOT ARGN STREQUAL STD)
      target_precompile_headers(${name} REUSE_FROM AttnPrecompiled${ARGN})
    endif()
  endif()
endfunction()

# attn_optimize(NAME): for a library whose own loops take time.
function(attn_optimize name)
  target_compile_options(${name} PRIVATE
    $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O3>)
endfunction()

# attn_add_tool(NAME source... [HEADERS IR|NVVM] [SUPPORT_ONLY|STARTS_OFTEN]
#               [LINK library...]):
# an executable in bin/ that links libMLIR.so and libLLVM.so.
# SUPPORT_ONLY: of LLVM it uses libLLVMSupport alone, always the archive.
# STARTS_OFTEN: with ATTN_STATIC_LLVM it holds what it uses of LLVM and MLIR. NAME-shared
# is then the same with their shared libraries, in shared/, for packages.
function(attn_add_tool name)
  cmake_parse_arguments(ARG "SUPPORT_ONLY;STARTS_OFTEN" "HEADERS" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  if(ARG_SUPPORT_ONLY)
    attn_link_archives(${name} LLVMSupport LLVMDemangle)
  elseif(ARG_STARTS_OFTEN AND ATTN_STATIC_LLVM)
    attn_link_archives(${name} MLIR* LLVM*)
  else()
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  endif()
  target_link_libraries(${name} PRIVATE Threads::Threads)
  attn_speed_up_build(${name} ${ARG_HEADERS})
  set_property(GLOBAL APPEND PROPERTY ATTN_TEST_DEPENDS ${name})
  attn_install_targets(${name})
  if(ARG_STARTS_OFTEN)
    add_executable(${name}-shared EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}>)
    target_link_libraries(${name}-shared PRIVATE ${ARG_LINK} MLIR LLVM Threads::Threads)
    set_target_properties(${name}-shared PROPERTIES
      OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/shared)
  endif()
endfunction()

# attn_link_archives(NAME archive...): by patterns of their names. Archives by their
# paths, since LLVM's targets for them ask for the headers of libzstd, too.
function(attn_link_archives name)
  list(TRANSFORM ARGN PREPEND ${LLVM_LIBRARY_DIR}/lib)
  list(TRANSFORM ARGN APPEND .a)
  file(GLOB archives ${ARGN})
  if(NOT archives)
    message(FATAL_ERROR "expected ${ARGN}, got no such archive")
  endif()
  # The C API's archives hide symbols; tests register passes of their own.
  list(FILTER archives EXCLUDE REGEX "libMLIR(CAPI|.*Test)")
  target_link_options(${name} PRIVATE -no-pie -Wl,--gc-sections)
  target_link_libraries(${name} PRIVATE -Wl,--start-group ${archives} -Wl,--end-group
    -Wl,--as-needed ${ATTN_ZSTD} z -Wl,--no-as-needed ${CMAKE_DL_LIBS})
endfunction()

# attn_install_targets(target...): part of `cmake --install`, and known to
# find_package(AttnMLIR) as AttnMLIR::TARGET.
function(attn_install_targets)
  install(TARGETS ${ARGN} EXPORT AttnMLIRTargets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()
