# Debian packages by cpack -G DEB: kith (the program), libkith0 (the shared library) and libkith-dev.
set(KITH_MAINTAINER "The kith authors" CACHE STRING
    "Maintainer of the Debian packages: Name <address>")
set(maintainer "${KITH_MAINTAINER}")
if(NOT maintainer MATCHES "@") # Debian requires an address; .invalid is a reserved domain (RFC 2606)
  string(APPEND maintainer " <authors@kith.invalid>")
endif()

set(CPACK_PACKAGE_NAME kith)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGE_VENDOR "${maintainer}")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/KithDebian.cmake)
set(CPACK_KITH_SOURCE_DIR ${PROJECT_SOURCE_DIR})
set(CPACK_KITH_HOMEPAGE_URL "${KITH_HOMEPAGE_URL}")
set(CPACK_KITH_HAS_FFTW ${KITH_HAS_FFTW})
set(CPACK_KITH_DATE ${KITH_RELEASE_DATE})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${maintainer}")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME kith)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "gcc | c-compiler, libc6-dev, gnuplot-nox | gnuplot")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS ffmpeg)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
"interactions between pairs of particles: the program
kith computes interactions between pairs of particles: forces and N-body
simulations, interaction matrices, neighbor lists, sums of formulas over
pairs, lattice collisions, and products of sparse matrices and vectors.
Results have the same bits on every run and for every number of threads.

Laws that are formulas are compiled when they are used, by a C compiler;
pictures are drawn by gnuplot, films encoded by ffmpeg.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libkith${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
# cpack's script calls ldconfig; Debian's policy (8.1.1) asks for dpkg's trigger.
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "gcc | c-compiler, libc6-dev")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
"interactions between pairs of particles: the shared library
kith computes interactions between pairs of particles. This package has the
library that programs built with libkith-dev need.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkith-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libkith${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "libc6-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cmake, pkgconf | pkg-config")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"interactions between pairs of particles: for building programs
kith computes interactions between pairs of particles. This package has the
headers, the static library, the files of find_package(kith) and pkg-config,
and examples.")
if(KITH_HAS_HDF5)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS ", libhdf5-dev")
endif()
if(KITH_HAS_FFTW)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS ", libfftw3-dev")
endif()
if(KITH_ZLIB_LIBRARIES)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS ", zlib1g-dev")
endif()
include(CPack)
