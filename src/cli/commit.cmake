# Writes FILE, a header with the commit that SOURCE is at; run at every build, rewritten only when it changes.
find_package(Git QUIET)
set(commit unknown)
if(Git_FOUND)
  execute_process(COMMAND "${GIT_EXECUTABLE}" describe --always --dirty WORKING_DIRECTORY "${SOURCE}"
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed EQUAL 0)
    set(commit "${described}")
  endif()
endif()
file(CONFIGURE OUTPUT "${FILE}" CONTENT "#define SKGEMM_COMMIT \"${commit}\"\n")
