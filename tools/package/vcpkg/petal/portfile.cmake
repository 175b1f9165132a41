# Petal, built from the tree that contains this port: see README.md two folders above. The triplet decides the form of the library.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

if(VCPKG_LIBRARY_LINKAGE STREQUAL "dynamic")
    set(PETAL_FORM so)
else()
    set(PETAL_FORM a)
endif()

find_program(MAKE make REQUIRED)
include(ProcessorCount)
ProcessorCount(PETAL_JOBS)

# Builds the libraries of configuration $1, with dependencies below $2, into $3.
function(petal_build configuration dependencies place)
    set(build "${CURRENT_BUILDTREES_DIR}/${configuration}")
    file(MAKE_DIRECTORY "${build}")
    set(optimize "OPTIMIZE=-O2 -g -DNDEBUG")
    if(configuration MATCHES "dbg$")
        set(optimize "OPTIMIZE=-O0 -g")
    endif()
    vcpkg_execute_required_process(
        COMMAND "${CMAKE_COMMAND}" -E env "CPPFLAGS=-I${CURRENT_INSTALLED_DIR}/include" "LDFLAGS=-L${dependencies}/lib"
            "${MAKE}" "-j${PETAL_JOBS}" "BUILD=${build}" "${optimize}"
            "${build}/libpetal-bloom.${PETAL_FORM}" "${build}/libpetal.${PETAL_FORM}"
        WORKING_DIRECTORY "${SOURCE_PATH}"
        LOGNAME "build-${configuration}")
    file(GLOB libraries "${build}/libpetal.${PETAL_FORM}*" "${build}/libpetal-bloom.${PETAL_FORM}*")
    file(COPY ${libraries} DESTINATION "${place}/lib")
endfunction()

if(NOT VCPKG_BUILD_TYPE OR VCPKG_BUILD_TYPE STREQUAL "release")
    petal_build("${TARGET_TRIPLET}-rel" "${CURRENT_INSTALLED_DIR}" "${CURRENT_PACKAGES_DIR}")
endif()
if(NOT VCPKG_BUILD_TYPE OR VCPKG_BUILD_TYPE STREQUAL "debug")
    petal_build("${TARGET_TRIPLET}-dbg" "${CURRENT_INSTALLED_DIR}/debug" "${CURRENT_PACKAGES_DIR}/debug")
endif()

file(INSTALL "${SOURCE_PATH}/engine/petal.h" "${SOURCE_PATH}/bloom/petal_bloom.h" DESTINATION "${CURRENT_PACKAGES_DIR}/include")
file(INSTALL "${SOURCE_PATH}/LICENSE" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}" RENAME copyright)
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")

# The files for find_package(petal) go to share/petal, where vcpkg keeps them; the libraries are in ../../lib from there.
foreach(number IN ITEMS MAJOR MINOR PATCH)
    file(STRINGS "${SOURCE_PATH}/engine/petal.h" line REGEX "^#define PETAL_VERSION_${number} ")
    string(REGEX REPLACE ".* " "" PETAL_${number} "${line}")
endforeach()
set(VERSION "${PETAL_MAJOR}.${PETAL_MINOR}.${PETAL_PATCH}")
set(SOVERSION "${PETAL_MAJOR}")
set(LIBRARIES "../../lib")
set(HEADERS "../../include")
set(HFILE_NEEDS "")
foreach(file IN ITEMS petal-config petal-config-version)
    configure_file("${SOURCE_PATH}/tools/package/cmake/${file}.cmake.in" "${CURRENT_PACKAGES_DIR}/share/${PORT}/${file}.cmake" @ONLY)
endforeach()
