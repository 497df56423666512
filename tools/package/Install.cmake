# `cmake --install`: headers and what find_package(AttnMLIR) reads. Programs and
# libraries are added where they are built (attn_install_targets).
include(CMakePackageConfigHelpers)

set(ATTN_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/AttnMLIR)

# Headers, written and generated, and the ODS files for those who extend them.
install(DIRECTORY include/ ${PROJECT_BINARY_DIR}/include/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
  PATTERN CMakeFiles EXCLUDE)

install(EXPORT AttnMLIRTargets NAMESPACE AttnMLIR::
  DESTINATION ${ATTN_PACKAGE_DIR})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/AttnMLIRConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/AttnMLIRConfig.cmake
  INSTALL_DESTINATION ${ATTN_PACKAGE_DIR})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/AttnMLIRConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/AttnMLIRConfig.cmake
  ${PROJECT_BINARY_DIR}/package/AttnMLIRConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/AttnAddKernel.cmake
  DESTINATION ${ATTN_PACKAGE_DIR})
