# Fails when PRINTER does not print what DOCUMENT holds.
execute_process(COMMAND "${PRINTER}" OUTPUT_VARIABLE printed RESULT_VARIABLE result)
file(READ "${DOCUMENT}" written)
if(NOT result EQUAL 0 OR NOT printed STREQUAL written)
    message(FATAL_ERROR "${DOCUMENT} is out of date: write into it what ${PRINTER} prints")
endif()
