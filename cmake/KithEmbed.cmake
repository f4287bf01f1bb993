# Writes a text file as the zero-terminated array `const char SYMBOL[]` of a C file.
function(kith_write_text file symbol source)
  file(READ ${file} bytes HEX)
  # Twelve bytes a line: no compiler has to take a line, or a string, of any length. As characters, as
  # bytes beyond 127 are no values of a signed char.
  string(REGEX REPLACE "(........................)" "\\1\n    " bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1', " bytes "${bytes}")
  file(CONFIGURE OUTPUT ${source} CONTENT
       "extern const char ${symbol}[];\nconst char ${symbol}[] = {\n    ${bytes}0};\n" @ONLY)
endfunction()

# As a script: of a file that the build writes.
if(CMAKE_SCRIPT_MODE_FILE)
  kith_write_text(${FILE} ${SYMBOL} ${SOURCE})
  return()
endif()

# Compiles a text file into a target as the zero-terminated array `const char SYMBOL[]`.
function(kith_embed_text target file symbol)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  if(file MATCHES "^${KITH_GENERATED}/")
    add_custom_command(OUTPUT ${source} DEPENDS ${file} VERBATIM
                       COMMAND ${CMAKE_COMMAND} -DFILE=${file} -DSYMBOL=${symbol} -DSOURCE=${source}
                               -P ${PROJECT_SOURCE_DIR}/cmake/KithEmbed.cmake)
  else()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    kith_write_text(${file} ${symbol} ${source})
  endif()
  target_sources(${target} PRIVATE ${source})
endfunction()

# Compiles a folder's files into a target as `const struct law_source SYMBOL[]` (law/compiled.h): what
# kernels that are compiled at run time include. files are paths below src/ or include/, or else are
# written by the build.
function(kith_embed_sources target symbol files)
  set(texts "")
  set(rows "")
  set(number 0)
  foreach(file ${files})
    set(path ${PROJECT_SOURCE_DIR}/src/${file})
    if(NOT EXISTS ${path})
      set(path ${PROJECT_SOURCE_DIR}/include/${file})
    endif()
    if(NOT EXISTS ${path})
      set(path ${KITH_GENERATED}/${file})
    endif()
    kith_embed_text(${target} ${path} ${symbol}_${number})
    string(APPEND texts "extern const char ${symbol}_${number}[];\n")
    string(APPEND rows "    {\"${file}\", ${symbol}_${number}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  file(CONFIGURE OUTPUT ${source} CONTENT
       "#include \"law/compiled.h\"\n\n${texts}\nconst struct law_source ${symbol}[] = {\n${rows}    {0, 0}};\n"
       @ONLY)
  target_sources(${target} PRIVATE ${source})
endfunction()
