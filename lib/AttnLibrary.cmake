# attn_add_library(NAME source... [DEPENDS target...] [LINK library...])
#
# One folder is one static library. Libraries never link MLIR themselves: the
# executable that uses them does (libMLIR.so), and the plug-in takes MLIR's
# symbols from its host, so that a process holds exactly one copy of MLIR.
function(attn_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# attn_add_tool(NAME source... [LINK library...]): an executable in bin/ that
# links libMLIR.so and libLLVM.so.
function(attn_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM Threads::Threads)
  set_property(GLOBAL APPEND PROPERTY ATTN_TEST_DEPENDS ${name})
endfunction()
