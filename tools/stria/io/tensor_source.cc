// SPDX-License-Identifier: Apache-2.0
#include "stria/tensor_io/tensor_source.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "stria/base/file.h"
#include "stria/base/number_text.h"
#include "stria/base/text.h"
#include "stria/tensor_io/npy.h"
#include "stria/tensor_io/png.h"
#include "stria/tensor_io/random.h"

namespace stria {
namespace {

Result<TensorSource> parse_random(std::string_view text) {
  std::vector<std::string> parts = split(text, ':');
  TensorSource source;
  source.kind = TensorSource::Kind::random;
  if (parts.size() > 3)
    return invalid_argument("'{}' has too many parts; it is random:SEED or random:SEED:TYPE", text);
  const std::string& seed = parts[1];
  const Result<uint64_t> number = parse_unsigned(seed, 0, UINT64_MAX);
  if (!number.ok()) return number.status().with_context(fmt::format("'{}': the seed", text));
  source.seed = *number;
  if (parts.size() == 3) {
    source.type = parse_data_type(parts[2]);
    if (!source.type)
      return invalid_argument("'{}': unknown type '{}'{}", text, parts[2],
                              did_you_mean(parts[2], data_type_names()));
  }
  return source;
}

}  // namespace

Result<TensorSource> parse_tensor_source(std::string_view text) {
  if (text.starts_with("random:")) return parse_random(text);
  TensorSource source;
  source.path = std::string(text);
  if (size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    source.type = parse_data_type(text.substr(colon + 1));
    std::string_view before = text.substr(0, colon);
    bool suffix = source.type || before.ends_with(".npy") || before.ends_with(".png");
    if (suffix && !source.type)
      return invalid_argument("'{}': unknown type '{}'{}", text, text.substr(colon + 1),
                              did_you_mean(text.substr(colon + 1), data_type_names()));
    if (suffix) source.path = std::string(before);
  }
  if (source.path.ends_with(".npy")) {
    source.kind = TensorSource::Kind::npy;
    if (source.type && source.type != DataType::bf16)
      return invalid_argument(
          "'{}': a .npy file says its own type; ':bf16' (bf16 carried as u16) is "
          "the only suffix, not ':{}'",
          text, name_of(*source.type));
    return source;
  }
  if (source.path.ends_with(".png")) {
    source.kind = TensorSource::Kind::png;
    if (source.type && source.type != DataType::u8 && source.type != DataType::u16 &&
        source.type != DataType::fp32)
      return invalid_argument(
          "'{}': a .png file is read as fp32 (no suffix), ':u8' or ':u16', not "
          "':{}'",
          text, name_of(*source.type));
    return source;
  }
  return invalid_argument(
      "'{}' is no tensor: it must end in .npy or .png, or be random:SEED[:TYPE]", text);
}

Result<HostTensor> read_tensor(const TensorSource& source, const std::vector<int64_t>& sizes,
                               DataType type, std::string_view what) {
  switch (source.kind) {
    case TensorSource::Kind::npy: return read_npy(source.path, source.type.has_value());
    case TensorSource::Kind::png:
      return read_png(source.path, source.type.value_or(DataType::fp32));
    case TensorSource::Kind::random: return random_tensor(type, sizes, source.seed, what);
  }
  return internal_error("tensor source of kind {}", static_cast<int>(source.kind));
}

Status check_tensor_path(std::string_view path) {
  if (path.ends_with(".npy") || path.ends_with(".png")) return Status();
  return invalid_argument("'{}' cannot be written: the name must end in .npy or .png", path);
}

Status check_writable(const std::string& path, DataType type, const std::vector<int64_t>& sizes) {
  STRIA_RETURN_IF_ERROR(check_tensor_path(path));
  if (path.ends_with(".png")) STRIA_RETURN_IF_ERROR(check_png_shape(type, sizes, path));
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return invalid_argument("cannot write '{}': it is a folder", path);
  const bool exists = std::filesystem::exists(path, error);
  std::string folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  // A regular file is replaced by one made beside it, so its folder must let us; anything else
  // (/dev/null) is written in place.
  const bool replaced = !exists || std::filesystem::is_regular_file(path, error);
  if ((exists && ::access(path.c_str(), W_OK) != 0) ||
      (replaced && ::access(folder.c_str(), W_OK | X_OK) != 0))
    return make_error(StatusCode::permission_denied, "cannot write '{}': {}", path,
                      std::strerror(errno));
  return Status();
}

Result<FileText> format_tensor(const std::string& path, const HostTensor& tensor) {
  STRIA_RETURN_IF_ERROR(check_tensor_path(path));
  if (path.ends_with(".npy")) return FileText{path, format_npy(tensor)};
  STRIA_ASSIGN(std::string bytes, format_png(tensor, path));
  return FileText{path, std::move(bytes)};
}

}  // namespace stria
