# libpng, if there: KITH_HAS_PNG and the target kith_png.
set(KITH_HAS_PNG OFF)
if(KITH_PNG) # AUTO counts as true
  find_package(PNG 1.6 QUIET)
  if(PNG_FOUND)
    set(KITH_HAS_PNG ON)
    add_library(kith_png INTERFACE)
    target_link_libraries(kith_png INTERFACE PNG::PNG)
  elseif(NOT KITH_PNG STREQUAL "AUTO")
    message(FATAL_ERROR "KITH_PNG is ${KITH_PNG}, but libpng was not found; install libpng-dev")
  endif()
endif()
message(STATUS "PNG pictures: ${KITH_HAS_PNG}")
