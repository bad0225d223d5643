# Language, warnings and instrumentation, gathered in the target keyferry-flags that all our code links.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)

if(PROJECT_IS_TOP_LEVEL)
    if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
        set(CMAKE_BUILD_TYPE Release)
    endif()
    string(REPLACE "-O3" "-O2" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")
endif()

# No more digits than the type has, for the same bytes on every machine: gcc takes them on the old floating-point unit of
# 32-bit x86, and for floats on s390x.
include(CheckSymbolExists)
check_symbol_exists(__i386__ "" KEYFERRY_I386)
if(KEYFERRY_I386 AND NOT MSVC)
    add_compile_options(-msse2 -mfpmath=sse)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^s390" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fexcess-precision=fast)
endif()

add_library(keyferry-flags INTERFACE)
if(MSVC)
    target_compile_options(keyferry-flags INTERFACE /W4 /utf-8 $<$<BOOL:${KEYFERRY_WERROR}>:/WX>)
    target_compile_definitions(keyferry-flags INTERFACE _CRT_SECURE_NO_WARNINGS)
else()
    # No fused multiply-add: the same input must give the same bytes on every machine.
    target_compile_options(keyferry-flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -ffp-contract=off
        $<$<BOOL:${KEYFERRY_WERROR}>:-Werror>)
    target_compile_definitions(keyferry-flags INTERFACE _XOPEN_SOURCE=700 _FILE_OFFSET_BITS=64)
    if(MINGW) # C99's printf and UTF-16 calls; its isfinite and the like are macros that mention float
        target_compile_definitions(keyferry-flags INTERFACE __USE_MINGW_ANSI_STDIO=1 _WIN32_WINNT=0x0601)
        target_compile_options(keyferry-flags INTERFACE -Wno-float-conversion)
    endif()
endif()

set(instrument "")
if(KEYFERRY_SANITIZE)
    list(APPEND instrument -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
endif()
if(KEYFERRY_TSAN)
    list(APPEND instrument -fsanitize=thread -fno-omit-frame-pointer)
endif()
if(KEYFERRY_COVERAGE)
    list(APPEND instrument --coverage -fprofile-update=atomic) # threads count too
endif()
if(KEYFERRY_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "KEYFERRY_FUZZ needs clang: configure with -DCMAKE_C_COMPILER=clang")
    endif()
    list(APPEND instrument -fsanitize=fuzzer-no-link)
endif()
target_compile_options(keyferry-flags INTERFACE ${instrument})
target_link_options(keyferry-flags INTERFACE ${instrument})
