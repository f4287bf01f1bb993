# HDF5's C library, if there: KITH_HAS_HDF5 and the target kith_hdf5.
set(KITH_HAS_HDF5 OFF)
if(KITH_HDF5) # AUTO counts as true
  set(HDF5_PREFER_PARALLEL OFF)
  find_package(HDF5 1.10 QUIET COMPONENTS C)
  if(HDF5_FOUND AND HDF5_IS_PARALLEL) # hdf5.h then includes mpi.h
    find_package(MPI QUIET COMPONENTS C)
    if(NOT MPI_C_FOUND)
      message(STATUS "HDF5 is one for MPI, which was not found")
      set(HDF5_FOUND OFF)
    endif()
  endif()
  if(HDF5_FOUND)
    set(KITH_HAS_HDF5 ON)
    add_library(kith_hdf5 INTERFACE)
    target_include_directories(kith_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
    target_link_libraries(kith_hdf5 INTERFACE ${HDF5_C_LIBRARIES}
                                              $<$<BOOL:${HDF5_IS_PARALLEL}>:MPI::MPI_C>)
  elseif(NOT KITH_HDF5 STREQUAL "AUTO")
    message(FATAL_ERROR "KITH_HDF5 is ${KITH_HDF5}, but HDF5 was not found; install libhdf5-dev")
  endif()
endif()
message(STATUS "HDF5 formats: ${KITH_HAS_HDF5}")
