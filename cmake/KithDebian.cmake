# Run by cpack over the files of each package: what Debian wants besides them.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

file(READ ${CPACK_KITH_SOURCE_DIR}/LICENSE license)
string(REGEX REPLACE "\n\n" "\n.\n" license "${license}")
string(REGEX REPLACE "\n" "\n " license "${license}")
execute_process(COMMAND date -u -R -d ${CPACK_KITH_DATE} OUTPUT_VARIABLE date
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

set(source "")
if(CPACK_KITH_HOMEPAGE_URL)
  set(source "Source: ${CPACK_KITH_HOMEPAGE_URL}\n")
endif()

if(CPACK_KITH_HAS_FFTW)
  string(APPEND source
"Comment: The program and the shared library are linked with FFTW, whose license is
 the GPL, version 2 or later; who hands them on together keeps to it.
")
endif()

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX})
  set(name ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(documents ${root}/share/doc/${name})

  file(WRITE ${documents}/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: kith
${source}
Files: *
Copyright: 2026 The kith authors
License: Expat
 ${license}
")
  file(WRITE ${documents}/changelog
"kith (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * As the project's own changelog tells.

 -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}
")

  if(EXISTS ${root}/share/doc/kith/examples AND NOT name STREQUAL "kith")
    file(RENAME ${root}/share/doc/kith/examples ${documents}/examples)
    file(REMOVE_RECURSE ${root}/share/doc/kith)
  endif()

  # zsh on Debian looks for the files of packages in a folder of its own.
  if(EXISTS ${root}/share/zsh/site-functions)
    file(RENAME ${root}/share/zsh/site-functions ${root}/share/zsh/vendor-completions)
  endif()

  file(GLOB pages ${root}/share/man/man1/*.1)
  execute_process(COMMAND gzip -9nf ${documents}/changelog ${pages} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
