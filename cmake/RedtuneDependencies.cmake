# Finds what the project links. Every miss is one line that names the package and the version.
# NVRTC, the CUDA driver and CUPTI are opened at run time: a machine without a GPU must be able to start the tool.

function(redtune_need_package package target debian)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "VERSION" "")
  find_package(${package} ${arg_VERSION} QUIET)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "package ${debian}: needed ${arg_VERSION}, found none (CMake package ${package})")
  endif()
endfunction()

find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
if(NOT PKG_CONFIG_FOUND)
  message(FATAL_ERROR "package pkg-config: needed, found none")
endif()

# isl: 0.22 is the first whose C++ interface (isl/cpp.h) has the schedule tree.
set(redtune_isl_needed 0.22)
pkg_check_modules(ISL QUIET IMPORTED_TARGET isl)
if(NOT ISL_FOUND)
  message(FATAL_ERROR "package libisl-dev: needed >= ${redtune_isl_needed}, found none")
elseif(ISL_VERSION VERSION_LESS redtune_isl_needed)
  message(FATAL_ERROR "package libisl-dev: needed >= ${redtune_isl_needed}, found ${ISL_VERSION}")
endif()
add_library(redtune::isl ALIAS PkgConfig::ISL)

find_path(REDTUNE_GMP_INCLUDE_DIR gmp.h)
if(NOT REDTUNE_GMP_INCLUDE_DIR)
  message(FATAL_ERROR "package libgmp-dev: needed, found none (gmp.h)")
endif()

find_package(OpenCL QUIET)
if(NOT TARGET OpenCL::OpenCL)
  message(FATAL_ERROR "packages ocl-icd-opencl-dev opencl-headers: needed >= 1.2, found none")
endif()
# The version that every device has; its header asks for the number.
set_property(TARGET OpenCL::OpenCL APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS CL_TARGET_OPENCL_VERSION=120)

redtune_need_package(nlohmann_json nlohmann_json::nlohmann_json nlohmann-json3-dev VERSION 3.10)
redtune_need_package(CLI11 CLI11::CLI11 libcli11-dev VERSION 2.1)
redtune_need_package(fmt fmt::fmt libfmt-dev VERSION 8)
redtune_need_package(spdlog spdlog::spdlog libspdlog-dev)
redtune_need_package(ZLIB ZLIB::ZLIB zlib1g-dev)

# Charts of the report, embedded in its page. No other version has been looked at than that of Debian 12 (3.9).
find_file(REDTUNE_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist NO_DEFAULT_PATH)
if(NOT REDTUNE_CHART_JS)
  message(FATAL_ERROR "package libjs-chart.js: needed 3.x, found none (chart.min.js)")
endif()

# Optional: only tests check files against their JSON schemas with it (Debian's package brings all of Qt along).
add_library(redtune_valijson INTERFACE)
add_library(redtune::valijson ALIAS redtune_valijson)
find_path(REDTUNE_VALIJSON_INCLUDE_DIR valijson/validator.hpp)
if(REDTUNE_VALIJSON_INCLUDE_DIR)
  target_include_directories(redtune_valijson SYSTEM INTERFACE ${REDTUNE_VALIJSON_INCLUDE_DIR})
  target_compile_definitions(redtune_valijson INTERFACE REDTUNE_HAVE_VALIJSON)
endif()

# Optional: without it the learned model reports that it was built without XGBoost, and the rest works.
add_library(redtune_xgboost INTERFACE)
add_library(redtune::xgboost ALIAS redtune_xgboost)
if(REDTUNE_WITH_XGBOOST)
  find_package(XGBoost MODULE)
  if(XGBoost_FOUND)
    target_link_libraries(redtune_xgboost INTERFACE XGBoost::XGBoost)
    target_compile_definitions(redtune_xgboost INTERFACE REDTUNE_HAVE_XGBOOST)
  else()
    message(STATUS "package libxgboost-dev: found none; the learned cost model is left out")
  endif()
endif()

mark_as_advanced(REDTUNE_GMP_INCLUDE_DIR REDTUNE_CHART_JS REDTUNE_VALIJSON_INCLUDE_DIR REDTUNE_CUDA_INCLUDE_DIR
                 REDTUNE_CUPTI_INCLUDE_DIR)

# Headers only: the libraries behind them are opened at run time.
add_library(redtune_cuda_headers INTERFACE)
add_library(redtune::cuda_headers ALIAS redtune_cuda_headers)
target_link_libraries(redtune_cuda_headers INTERFACE ${CMAKE_DL_LIBS})
find_path(REDTUNE_CUDA_INCLUDE_DIR nvrtc.h
  HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES include)
find_path(REDTUNE_CUPTI_INCLUDE_DIR cupti.h
  HINTS ${REDTUNE_CUDA_INCLUDE_DIR} ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
  PATH_SUFFIXES include extras/CUPTI/include)
if(REDTUNE_CUDA_INCLUDE_DIR AND EXISTS ${REDTUNE_CUDA_INCLUDE_DIR}/cuda.h)
  target_include_directories(redtune_cuda_headers SYSTEM INTERFACE ${REDTUNE_CUDA_INCLUDE_DIR})
  target_compile_definitions(redtune_cuda_headers INTERFACE REDTUNE_HAVE_CUDA_HEADERS)
  if(REDTUNE_CUPTI_INCLUDE_DIR)
    target_include_directories(redtune_cuda_headers SYSTEM INTERFACE ${REDTUNE_CUPTI_INCLUDE_DIR})
    target_compile_definitions(redtune_cuda_headers INTERFACE REDTUNE_HAVE_CUPTI_HEADERS)
  endif()
else()
  message(STATUS "CUDA headers: found none; CUDA devices are left out of this build")
endif()

find_package(benchmark QUIET)  # optional: only bench/ uses it

if(REDTUNE_BUILD_TESTS)
  find_package(GTest QUIET)
  if(NOT TARGET GTest::gtest_main OR NOT TARGET GTest::gmock)
    message(FATAL_ERROR "packages libgtest-dev libgmock-dev: needed, found none (or set REDTUNE_BUILD_TESTS=OFF)")
  endif()
endif()
