# What makes mistakes with memory harder to use: KITH_HARDENING for the program, the shared library
# and all that goes into them. Sanitizers check memory themselves.
option(KITH_HARDENING "Stack protector, checked string functions, read-only relocations" ON)

include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

# glibc says so when it does not know the level, or when nothing is optimized.
function(kith_choose_fortify_level result)
  foreach(level 3 2)
    set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level}")
    check_c_source_compiles("#include <string.h>\nint main(void) { return 0; }" KITH_FORTIFY_${level})
    if(KITH_FORTIFY_${level})
      set(${result} ${level} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()

set(kith_hardening_flags "")
set(kith_hardening_link_options "")
if(KITH_HARDENING AND NOT KITH_SANITIZE)
  foreach(flag stack-protector-strong stack-clash-protection cf-protection)
    check_c_compiler_flag(-f${flag} KITH_HAS_${flag})
    if(KITH_HAS_${flag})
      list(APPEND kith_hardening_flags -f${flag})
    endif()
  endforeach()
  kith_choose_fortify_level(fortify_level)
  if(fortify_level)
    list(APPEND kith_hardening_flags
      "$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=${fortify_level}>")
  endif()
  set(kith_hardening_link_options LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()
