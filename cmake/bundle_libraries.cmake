# Run at install time with PROGRAMS (below the prefix) and PATCHELF: copies what the programs link into lib/ and lets
# each find the others beside it.
set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
if(NOT PATCHELF)
  message(FATAL_ERROR "package patchelf: needed to install, found none")
endif()

# The C library stays behind: it belongs to the kernel and the loader of the machine that runs the program.
set(base_system
  "^ld-linux" "^linux-vdso" "^libc\\.so" "^libm\\.so" "^libmvec\\.so" "^libpthread\\.so" "^libdl\\.so"
  "^librt\\.so" "^libresolv\\.so" "^libutil\\.so")

set(executables ${PROGRAMS})
list(TRANSFORM executables PREPEND "${prefix}/")
file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES ${executables}
  PRE_EXCLUDE_REGEXES ${base_system}
  RESOLVED_DEPENDENCIES_VAR libraries
  UNRESOLVED_DEPENDENCIES_VAR missing
  CONFLICTING_DEPENDENCIES_PREFIX conflicts)
if(missing)
  message(FATAL_ERROR "libraries not found: ${missing}")
endif()

file(MAKE_DIRECTORY "${prefix}/lib")
# An earlier installation over the same prefix is found first and would copy a library onto itself.
foreach(library IN LISTS libraries conflicts_FILENAMES)
  get_filename_component(name "${library}" NAME)
  set(copy "${prefix}/lib/${name}")
  if(IS_ABSOLUTE "${library}" AND NOT library STREQUAL copy)
    get_filename_component(real "${library}" REALPATH)
    message(STATUS "Bundling: ${copy}")
    file(COPY_FILE "${real}" "${copy}")
    file(CHMOD "${copy}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endif()
  if(EXISTS "${copy}")
    execute_process(COMMAND "${PATCHELF}" --set-rpath "\$ORIGIN" "${copy}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
