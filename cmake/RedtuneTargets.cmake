# How this project makes a library, a binary and a test. Sources are always listed, never globbed: a build that
# silently misses a file is worse than a line to add.

include(GNUInstallDirs)

# Flags that every target of the project has, and nobody outside it.
add_library(redtune_options INTERFACE)
target_compile_features(redtune_options INTERFACE cxx_std_20)
target_compile_options(redtune_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
  # GCC 12 and 13 see overlaps in std::string's own code that are not there (GCC bug 105329).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # __FILE__ in messages is the path from the root, wherever the tree lies.
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(REDTUNE_WERROR)
  target_compile_options(redtune_options INTERFACE -Werror)
endif()
target_include_directories(redtune_options INTERFACE
  ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# redtune_library(NAME SOURCES file... DEPENDS target...)
# Makes redtune_NAME (alias redtune::NAME). Without sources it is an INTERFACE library that passes its
# dependencies on, so that a folder of headers, or one still empty, needs no special case.
function(redtune_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  if(arg_SOURCES)
    add_library(redtune_${name} STATIC ${arg_SOURCES})
    target_link_libraries(redtune_${name} PUBLIC redtune_options ${arg_DEPENDS})
  else()
    add_library(redtune_${name} INTERFACE)
    target_link_libraries(redtune_${name} INTERFACE redtune_options ${arg_DEPENDS})
  endif()
  add_library(redtune::${name} ALIAS redtune_${name})
endfunction()

# redtune_binary(NAME SOURCES file... DEPENDS target...)
# A program in build/bin, installed beside the others, which finds its libraries in ../lib.
function(redtune_binary name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE redtune_options ${arg_DEPENDS})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  set_property(GLOBAL APPEND PROPERTY REDTUNE_BINARIES ${name})
endfunction()
