# Options for our own code: warnings are errors, includes start at the source root. For CUDA, -Werror=all-warnings
# covers ptxas too, so a spill fails the build; what ptxas only calls "info" is left to nvcc_strict.sh.
set(skgemm_host_warnings -Wall -Wextra -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND skgemm_host_warnings -Wno-restrict)  # wrong on std::string in g++ 12 (GCC bug 105651)
endif()
list(JOIN skgemm_host_warnings "," skgemm_nvcc_host_warnings)

add_library(skgemm_options INTERFACE)
target_include_directories(skgemm_options INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
target_compile_options(skgemm_options INTERFACE
  "$<$<COMPILE_LANGUAGE:C,CXX>:${skgemm_host_warnings}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=${skgemm_nvcc_host_warnings};-Xptxas=-warn-spills>")
if(SKGEMM_SANITIZE)
  # Warnings are no errors here: g++ sees things that aren't there in sanitised code (its manual, -fsanitize).
  set(sanitizer -fsanitize=${SKGEMM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g -Wno-error)
  target_compile_options(skgemm_options INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${sanitizer}>")
  target_link_options(skgemm_options INTERFACE "-fsanitize=${SKGEMM_SANITIZE}")
endif()
