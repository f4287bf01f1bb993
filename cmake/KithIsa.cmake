option(KITH_BASELINE_ONLY "CPU kernels for the oldest instruction set alone: slow, and soon built" OFF)

# Compiles a kernel source once per instruction set (core/isa.h lists the same sets). Each compilation
# sees -D KITH_ISA_NAME=<set>.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set(KITH_ISA_FLAGS_v4 -march=x86-64-v4 -mprefer-vector-width=512)
  set(KITH_ISA_FLAGS_v3 -march=x86-64-v3)
  set(KITH_ISA_FLAGS_v2 -march=x86-64-v2)
  set(KITH_ISAS v4 v3 v2)
  if(KITH_BASELINE_ONLY)
    set(KITH_ISAS v2)
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
  set(KITH_ISA_FLAGS_neon "")
  set(KITH_ISAS neon)
else()
  set(KITH_ISA_FLAGS_generic "")
  set(KITH_ISAS generic)
endif()

# With sixteen registers or fewer the order of instructions decides how many pairs are in flight at
# once (half as many again for AVX2 in double); with thirty-two it costs spills.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  foreach(isa v3 v2)
    list(APPEND KITH_ISA_FLAGS_${isa} -fschedule-insns -fsched-pressure)
  endforeach()
endif()

function(kith_add_kernels target source)
  get_filename_component(name ${source} NAME_WE)
  foreach(isa ${KITH_ISAS})
    set(object ${target}_${name}_${isa})
    add_library(${object} OBJECT ${source})
    target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR}/src
                                                 ${PROJECT_SOURCE_DIR}/include)
    target_compile_definitions(${object} PRIVATE KITH_ISA_NAME=${isa})
    target_compile_options(${object} PRIVATE ${KITH_ISA_FLAGS_${isa}})
    # Unrolled loops full of checks take the optimizer minutes, and what is inlined everywhere takes
    # minutes and gigabytes where nothing is optimized.
    if(KITH_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
      target_compile_options(${object} PRIVATE -O1)
    endif()
    target_link_libraries(${object} PRIVATE kith_flags)
    if(KITH_SANITIZE AND NOT KITH_SANITIZE_KERNELS)
      target_compile_options(${object} PRIVATE -fno-sanitize=all)
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
  endforeach()
endfunction()
