# Install rules: library, headers, tool with its man page, CMake package (skgemm::skgemm) and skgemm.pc. The package
# depends on nothing else, so the exported targets are its whole configuration; it and skgemm.pc can be moved.
include(CMakePackageConfigHelpers)
set(skgemm_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/skgemm")

install(TARGETS skgemm EXPORT skgemm LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/include/skgemm.h" "${PROJECT_SOURCE_DIR}/include/skgemm.f90" TYPE INCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" TYPE DOC)
install(EXPORT skgemm NAMESPACE skgemm:: FILE skgemm-config.cmake DESTINATION "${skgemm_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/skgemm-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/skgemm-config-version.cmake" DESTINATION "${skgemm_package_dir}")

file(RELATIVE_PATH skgemm_pc_to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file("${PROJECT_SOURCE_DIR}/pkgconfig/skgemm.pc.in" "${PROJECT_BINARY_DIR}/skgemm.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/skgemm.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

if(TARGET skgemm_tool)
  file(RELATIVE_PATH skgemm_bin_to_lib "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(skgemm_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${skgemm_bin_to_lib}")
  install(TARGETS skgemm_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(FILES "${PROJECT_SOURCE_DIR}/src/cli/skgemm.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()
