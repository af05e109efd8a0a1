# redtune_embed(TARGET NAME FOLDER ROOT file...)
# Puts the text of each file into TARGET. Generates FOLDER/embedded_NAME.h and .cpp in the build tree with
#   std::string_view embedded_NAME_file(std::string_view name);   // by the path below ROOT; "" when unknown
# and makes them anew when a file changes. ROOT and files lie below the current folder; a file with an absolute path
# (of a Debian package) is known by its last name.
set(REDTUNE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_script.cmake)

function(redtune_embed target name folder root)
  set(base ${PROJECT_BINARY_DIR}/generated/${folder}/embedded_${name})
  set(inputs "")
  foreach(file IN LISTS ARGN)
    get_filename_component(path ${file} ABSOLUTE)
    list(APPEND inputs ${path})
  endforeach()
  add_custom_command(
    OUTPUT ${base}.h ${base}.cpp
    COMMAND ${CMAKE_COMMAND} "-DBASE=${base}" "-DNAME=${name}" "-DHEADER=${folder}/embedded_${name}.h"
            "-DROOT=${CMAKE_CURRENT_SOURCE_DIR}/${root}" "-DINPUTS=${inputs}" -P ${REDTUNE_EMBED_SCRIPT}
    DEPENDS ${inputs} ${REDTUNE_EMBED_SCRIPT}
    COMMENT "Embedding ${folder}/${root}"
    VERBATIM)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_sources(${target} INTERFACE ${base}.cpp)
  else()
    target_sources(${target} PRIVATE ${base}.h ${base}.cpp)
  endif()
endfunction()
