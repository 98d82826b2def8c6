# Installs the library as the CMake package `threadstore` (target threadstore::threadstore).
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/threadstore")
install(TARGETS threadstore EXPORT threadstoreTargets FILE_SET HEADERS)
install(EXPORT threadstoreTargets NAMESPACE threadstore:: DESTINATION "${package_dir}")
configure_package_config_file("${CMAKE_CURRENT_SOURCE_DIR}/cmake/threadstoreConfig.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/threadstoreConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/threadstoreConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/threadstoreConfig.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/threadstoreConfigVersion.cmake" DESTINATION "${package_dir}")
