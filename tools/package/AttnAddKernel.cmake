# attn_add_kernel(APP FILES x.mlir... TARGET sm_90a [NAME x90] [OPTIONS --allow-tf32 ...])
#
# Compiles the attention in each file when APP is built, and lets APP include
# "x.h": the PTX and the function x_launch (docs/tutorials/CppApplication.md).
# x.ptx and the manifest x.json are written beside it. One file may have another
# NAME, as it must have where it is compiled for several targets. OPTIONS are
# further ones of attn-opt. APP needs the headers of the CUDA toolkit, but no library of it:
# it loads the driver when it first launches.

function(attn_add_kernel app)
  cmake_parse_arguments(ARG "" "TARGET;NAME" "FILES;OPTIONS" ${ARGN})
  if(NOT TARGET ${app})
    message(FATAL_ERROR "attn_add_kernel: expected a target, got '${app}'")
  elseif(NOT ARG_FILES OR NOT ARG_TARGET OR ARG_UNPARSED_ARGUMENTS)
    string(REPLACE ";" " " got "${app};${ARGN}")
    message(FATAL_ERROR
      "attn_add_kernel: expected (APP FILES file... TARGET name [NAME name] [OPTIONS flag...]), got (${got})")
  endif()
  list(LENGTH ARG_FILES count)
  if(ARG_NAME AND NOT count EQUAL 1)
    message(FATAL_ERROR "attn_add_kernel: expected one file with NAME ${ARG_NAME}, got ${count}")
  endif()
  find_path(ATTN_CUDA_INCLUDE_DIR cuda.h
    HINTS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda
    PATH_SUFFIXES include)
  if(NOT ATTN_CUDA_INCLUDE_DIR)
    message(FATAL_ERROR
      "attn_add_kernel: expected the CUDA toolkit's cuda.h, found none; set ATTN_CUDA_INCLUDE_DIR to its folder")
  endif()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/attn_kernels/${app})
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME_WLE)
    if(ARG_NAME)
      set(name ${ARG_NAME})
    endif()
    set(base ${folder}/${name})
    add_custom_command(OUTPUT ${base}.h ${base}.ptx ${base}.json
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND AttnMLIR::attn-opt ${path} --target=${ARG_TARGET}
        --emit=ptx,manifest,header ${ARG_OPTIONS} -o ${base}
      DEPENDS ${path} AttnMLIR::attn-opt
      COMMENT "Compiling attention ${file} for ${ARG_TARGET}"
      VERBATIM)
    target_sources(${app} PRIVATE ${base}.h)
  endforeach()
  target_include_directories(${app} PRIVATE ${folder})
  target_include_directories(${app} SYSTEM PRIVATE ${ATTN_CUDA_INCLUDE_DIR})
  target_compile_features(${app} PRIVATE cxx_std_17)
  target_link_libraries(${app} PRIVATE ${CMAKE_DL_LIBS})
endfunction()
