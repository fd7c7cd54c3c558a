#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace joulecast::cli {

struct WheelFile {
    std::string path;  ///< inside of the wheel
    std::string content;
    bool is_program = false;
};

struct Wheel {
    std::string name;      ///< "joulecast_onnxruntime"
    std::string version;   ///< "0.1.0"
    std::string platform;  ///< "linux_aarch64"
    std::string summary;
    std::string python;                 ///< that it needs: ">=3.9"
    std::vector<std::string> needs;     ///< other packages, as pip names them
    std::vector<std::string> programs;  ///< "joulecast-onnxruntime = joulecast_onnxruntime.__main__:main"
    std::vector<WheelFile> files;
};

/// The name that pip asks for: "joulecast_onnxruntime-0.1.0-py3-none-linux_aarch64.whl".
std::string file_name(const Wheel& wheel);

/// The bytes of a wheel (PEP 427): a zip with its files uncompressed and the lists that pip reads. The same wheel gives
/// the same bytes.
std::string wheel_bytes(const Wheel& wheel);

}  // namespace joulecast::cli
