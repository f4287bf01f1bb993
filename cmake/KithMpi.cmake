# MPI, if there: KITH_HAS_MPI and the target kith_mpi, for the program alone.
set(KITH_HAS_MPI OFF)
if(KITH_MPI) # AUTO counts as true
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    set(KITH_HAS_MPI ON)
    add_library(kith_mpi INTERFACE)
    target_link_libraries(kith_mpi INTERFACE MPI::MPI_C)
  elseif(NOT KITH_MPI STREQUAL "AUTO")
    message(FATAL_ERROR "KITH_MPI is ${KITH_MPI}, but MPI was not found; install libopenmpi-dev and openmpi-bin, or libmpich-dev and mpich")
  endif()
endif()
message(STATUS "MPI: ${KITH_HAS_MPI}")
