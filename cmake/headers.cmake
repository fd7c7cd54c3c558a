# What a program that links joulecast includes (docs/cpp.md). They are installed with all that they include, and each of
# those is compiled alone by the target all_verify_interface_header_sets. The other headers are joulecast's own.
set(joulecast_doors
    joulecast/answer/session.h # forecasts, as `joulecast predict` makes them
    joulecast/device/device_table.h # the data sheets of known devices
    joulecast/error.h # what is thrown
    joulecast/forecast/forecaster.h # the same for searches: a million operations
    joulecast/graph/graph_json.h # networks as .graph.json
    joulecast/graph/readers/read_graph.h # networks of .pt2, .onnx and the zoo
    joulecast/model/jcp.h # predictor files
    joulecast/recommend/recommend.h # the choice among forecasts
    joulecast/worker/serve.h # a worker for another framework
)

# Those of `headers` and all of ours that they include, in `result`.
function(with_included_headers result)
    set(all "")
    set(waiting ${ARGN})
    while(waiting)
        list(POP_FRONT waiting header)
        if(header IN_LIST all)
            continue()
        endif()
        list(APPEND all ${header})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
        file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include \"joulecast/")
        list(TRANSFORM includes REPLACE "^#include \"(.*)\".*$" "\\1")
        list(APPEND waiting ${includes})
    endwhile()
    set(${result} ${all} PARENT_SCOPE)
endfunction()

with_included_headers(joulecast_headers ${joulecast_doors})
