# Compiles a text file into a target as the zero-terminated array `const char SYMBOL[]`.
function(kith_embed_text target file symbol)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} bytes HEX)
  # Twelve bytes a line: no compiler has to take a line, or a string, of any length.
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
  string(REGEX REPLACE "(0x.., 0x.., 0x.., 0x.., 0x.., 0x.., 0x.., 0x.., 0x.., 0x.., 0x.., 0x..,) "
                       "\\1\n    " bytes "${bytes}")
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  file(CONFIGURE OUTPUT ${source} CONTENT
       "extern const char ${symbol}[];\nconst char ${symbol}[] = {\n    ${bytes}0};\n" @ONLY)
  target_sources(${target} PRIVATE ${source})
endfunction()
