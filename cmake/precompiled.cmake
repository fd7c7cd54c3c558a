# Standard headers that half of all files include, compiled once per target: a third of the time of a whole build.
# A compiler launcher (ccache) knows each file alone and would lose track of them; there they stay out. So they do
# under clang-tidy (./check), which finds the file that leans on them instead of including what it uses.
set(precompiled_by_default ON)
if(CMAKE_CXX_COMPILER_LAUNCHER)
    set(precompiled_by_default OFF)
endif()
option(JOULECAST_PRECOMPILED "Precompile the headers that most files share" ${precompiled_by_default})

# Not <filesystem>: it brings std::quoted, which would be found beside functions of that name.
set(joulecast_common_headers <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <span> <string>
                             <string_view> <utility> <vector>)

# precompile_headers(TARGET HEADER...) : the common ones and those.
function(precompile_headers target)
    if(JOULECAST_PRECOMPILED)
        target_precompile_headers(${target} PRIVATE ${joulecast_common_headers} ${ARGN})
    endif()
endfunction()
