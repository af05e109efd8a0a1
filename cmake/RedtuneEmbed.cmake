# redtune_embed(TARGET HEADER_NAME file...)
# Puts the text of each file into TARGET. Generates codegen/HEADER_NAME.h and .cpp in the build tree with
#   std::string_view embedded_device_file(std::string_view name);   // by the path below codegen/device/; "" when unknown
#   std::span<const EmbeddedFile> embedded_device_files();           // all, in the order listed
# and makes them anew when a file changes.
set(REDTUNE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_script.cmake)

function(redtune_embed target header_name)
  set(base ${PROJECT_BINARY_DIR}/generated/codegen/${header_name})
  set(inputs ${ARGN})
  list(TRANSFORM inputs PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  add_custom_command(
    OUTPUT ${base}.h ${base}.cpp
    COMMAND ${CMAKE_COMMAND} "-DBASE=${base}" "-DHEADER=codegen/${header_name}.h"
            "-DROOT=${CMAKE_CURRENT_SOURCE_DIR}/device" "-DINPUTS=${inputs}" -P ${REDTUNE_EMBED_SCRIPT}
    DEPENDS ${inputs} ${REDTUNE_EMBED_SCRIPT}
    COMMENT "Embedding device files"
    VERBATIM)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_sources(${target} INTERFACE ${base}.cpp)
  else()
    target_sources(${target} PRIVATE ${base}.h ${base}.cpp)
  endif()
endfunction()
