# cmake --install: a tree that can be moved and run where nothing else is installed but the base system.
#   bin/            the programs
#   lib/            every library they need outside the base system
#   share/redtune/  targets and suites
include(GNUInstallDirs)
get_property(redtune_binaries GLOBAL PROPERTY REDTUNE_BINARIES)

if(redtune_binaries)
  install(TARGETS ${redtune_binaries} RUNTIME DESTINATION bin)
  list(TRANSFORM redtune_binaries PREPEND "bin/" OUTPUT_VARIABLE redtune_installed)
  find_program(REDTUNE_PATCHELF patchelf)
  mark_as_advanced(REDTUNE_PATCHELF)
  install(CODE "
    set(PROGRAMS \"${redtune_installed}\")
    set(PATCHELF \"${REDTUNE_PATCHELF}\")
    include(\"${CMAKE_CURRENT_LIST_DIR}/bundle_libraries.cmake\")")
endif()

foreach(data targets suites)
  if(EXISTS ${PROJECT_SOURCE_DIR}/configs/${data})
    install(DIRECTORY configs/${data} DESTINATION share/redtune FILES_MATCHING PATTERN "*.json")
  endif()
endforeach()
