// SPDX-License-Identifier: Apache-2.0
// Reads ONNX files (ModelProto of protobuf's wire format) without the schema's generated code.
//
// Errors name the file, the byte and the field ("model.onnx: byte 70: graph.node[3].attribute[1]:
// …"). invalid_argument: not such a file, it breaks the format, or it is beyond a limit below.
// unsupported: the standard has it, this reader does not. not_found, permission_denied: of files
// with external data. Time and memory are bounded by the size of the file, and no size that it
// claims is believed before the bytes are there. Tensors are views of the mapped bytes; a file of
// nothing but empty messages takes about 70 times its size.
#pragma once

#include <filesystem>

#include "stria/base/result.h"
#include "stria/onnx/model/model.h"

namespace stria::onnx {

// Messages may hold messages so deep: graphs in attributes, types in types.
inline constexpr int kMostNesting = 64;
// The newest version of the format that is read.
inline constexpr int64_t kLastIrVersion = 14;

// Maps the file. External data is read from files in the model's folder or below it, and nowhere
// else: absolute paths, "..", and links that lead out are refused.
Result<Model> read_model(const std::filesystem::path& path);
// The same of bytes in memory, which `owner` keeps alive; external data is refused unless `folder`
// is given. `name` is used in messages.
Result<Model> parse_model(std::string_view bytes, std::shared_ptr<const void> owner,
                          std::string_view name, const std::filesystem::path* folder = nullptr);
// One TensorProto: files of test data (input_0.pb).
Result<TensorData> parse_tensor(std::string_view bytes, std::shared_ptr<const void> owner,
                                std::string_view name);

}  // namespace stria::onnx
