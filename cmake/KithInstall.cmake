# The shared library and what cmake --install puts where: headers, both libraries, what
# find_package(kith) and pkg-config read, the program with its manual pages and completions.
include(CMakePackageConfigHelpers)

# Debian's folder for libraries, under whatever prefix: its linkers and pkg-config look there.
if(NOT CMAKE_INSTALL_LIBDIR AND CMAKE_LIBRARY_ARCHITECTURE AND EXISTS /etc/debian_version)
  set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE} CACHE PATH "Folder of libraries")
endif()
include(GNUInstallDirs)

# All of libkith.a: nothing is compiled twice. A library has to have a source of its own.
file(CONFIGURE OUTPUT kith_shared.c CONTENT "extern int kith_shared;\n")
add_library(kith_shared SHARED ${CMAKE_CURRENT_BINARY_DIR}/kith_shared.c)
target_include_directories(kith_shared INTERFACE $<INSTALL_INTERFACE:include>)
target_link_libraries(kith_shared PRIVATE kith_flags $<LINK_LIBRARY:WHOLE_ARCHIVE,kith>)
target_link_options(kith_shared PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/kith.map
                                        LINKER:-z,defs)
set_target_properties(kith_shared PROPERTIES
  OUTPUT_NAME kith EXPORT_NAME shared VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/kith.map)
set_target_properties(kith PROPERTIES EXPORT_NAME static)

install(TARGETS kith_program RUNTIME COMPONENT program)
install(TARGETS kith_shared EXPORT kithTargets
        LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS kith EXPORT kithTargets ARCHIVE COMPONENT development)
install(DIRECTORY include/kith DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT development)

# What a program that links libkith.a links too, as names for -l and the folders they were found in.
set(KITH_STATIC_NAMES "")
set(KITH_STATIC_FOLDERS "")
function(kith_add_static_library library)
  if(IS_ABSOLUTE "${library}")
    get_filename_component(folder "${library}" DIRECTORY)
    get_filename_component(name "${library}" NAME)
    string(REGEX REPLACE "^lib(.*)\\.(so|a)(\\..*)?$" "\\1" name "${name}")
  else()
    set(folder "")
    set(name "${library}")
  endif()
  if(name AND NOT name IN_LIST KITH_STATIC_NAMES)
    set(KITH_STATIC_NAMES ${KITH_STATIC_NAMES} ${name} PARENT_SCOPE)
  endif()
  if(folder AND NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES
     AND NOT folder IN_LIST KITH_STATIC_FOLDERS)
    set(KITH_STATIC_FOLDERS ${KITH_STATIC_FOLDERS} ${folder} PARENT_SCOPE)
  endif()
endfunction()

if(KITH_HAS_HDF5)
  set(hdf5_libraries ${HDF5_C_LIBRARIES})
  list(FILTER hdf5_libraries INCLUDE REGEX "hdf5.*\\.so$") # brings what it needs itself
  if(NOT hdf5_libraries)
    set(hdf5_libraries ${HDF5_C_LIBRARIES})
  endif()
  foreach(library ${hdf5_libraries})
    kith_add_static_library(${library})
  endforeach()
endif()
foreach(library ${KITH_ZLIB_LIBRARIES})
  kith_add_static_library(${library})
endforeach()
if(KITH_HAS_FFTW)
  kith_add_static_library(${KITH_FFTW_LIBRARY})
  kith_add_static_library(${KITH_FFTWF_LIBRARY})
endif()
if(KITH_HAS_VIEW)
  kith_add_static_library(${KITH_MICROHTTPD_LIBRARY})
endif()
if(KITH_HAS_CUDA)
  kith_add_static_library(${CUDAToolkit_LIBRARY_DIR}/libcudart_static.a)
  foreach(library stdc++ rt)
    kith_add_static_library(${library})
  endforeach()
endif()
foreach(name pthread dl m)
  kith_add_static_library(${name})
endforeach()
set(KITH_SYSTEM_NAMES "pthread|dl|m|rt|stdc[+][+]") # that every linker finds

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/kith)
configure_package_config_file(cmake/kithConfig.cmake.in kithConfig.cmake
                              INSTALL_DESTINATION ${package_folder}
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(kithConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kithConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/kithConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT development)
install(EXPORT kithTargets NAMESPACE kith:: DESTINATION ${package_folder} COMPONENT development)

# Found from where kith.pc lies, so that the installed tree can be moved.
file(RELATIVE_PATH KITH_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" KITH_PC_PREFIX "${KITH_PC_PREFIX}")
set(KITH_PC_PRIVATE "")
foreach(folder ${KITH_STATIC_FOLDERS})
  string(APPEND KITH_PC_PRIVATE " -L${folder}")
endforeach()
foreach(name ${KITH_STATIC_NAMES})
  string(APPEND KITH_PC_PRIVATE " -l${name}")
endforeach()
set(KITH_PC_URL "")
if(KITH_HOMEPAGE_URL)
  set(KITH_PC_URL "URL: ${KITH_HOMEPAGE_URL}\n")
endif()
configure_file(cmake/kith.pc.in kith.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kith.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

if(TARGET kith_manual)
  set(written ${PROJECT_BINARY_DIR}/described)
  install(DIRECTORY ${written}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  install(FILES ${written}/completions/kith.bash RENAME kith
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
  install(FILES ${written}/completions/_kith
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
  install(FILES ${written}/completions/kith.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
endif()
include(cmake/KithPackage.cmake)
