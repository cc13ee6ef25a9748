// SPDX-License-Identifier: Apache-2.0
#include "stria/tensor_io/tensor_source.h"

#include "stria/base/file.h"
#include "stria/base/number_text.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/tensor_io/jpeg.h"
#include "stria/tensor_io/numbers.h"
#include "stria/tensor_io/png.h"
#include "stria/tensor_io/random.h"

namespace stria {
namespace {

bool is_jpeg(std::string_view path) { return path.ends_with(".jpg") || path.ends_with(".jpeg"); }

Result<TensorSource> parse_random(std::string_view text) {
  std::vector<std::string> parts = split(text, ':');
  TensorSource source;
  source.kind = TensorSource::Kind::random;
  if (parts.size() > 3)
    return invalid_argument("'{}' has too many parts; it is random:SEED or random:SEED:TYPE",
                            shown_name(text));
  const std::string& seed = parts[1];
  const std::string shown = shown_name(text);
  const Result<uint64_t> number = parse_unsigned(seed, 0, UINT64_MAX);
  if (!number.ok()) return number.status().with_context(fmt::format("'{}': the seed", shown));
  source.seed = *number;
  if (parts.size() == 3) {
    source.type = parse_tensor_type(parts[2]);
    if (!source.type)
      return invalid_argument("'{}': unknown type '{}'{}", shown, shown_name(parts[2]),
                              did_you_mean(parts[2], tensor_type_names()));
  }
  return source;
}

}  // namespace

Result<TensorSource> parse_tensor_source(std::string_view text) {
  if (text.starts_with("random:")) return parse_random(text);
  const std::string shown = shown_name(text);
  TensorSource source;
  if (constexpr std::string_view kTexts = "text:"; text.starts_with(kTexts)) {
    source.kind = TensorSource::Kind::texts;
    source.texts = split(text.substr(kTexts.size()), ',');
    return source;
  }
  const std::string_view before_type = text.substr(0, text.find(':'));
  if (auto numbers = split_numbers(before_type)) {
    source.kind = TensorSource::Kind::numbers;
    source.numbers = std::move(*numbers);
    if (before_type.size() == text.size()) return source;
    const std::string_view type = text.substr(before_type.size() + 1);
    source.type = parse_tensor_type(type);
    if (source.type) return source;
    return invalid_argument("'{}': unknown type '{}'{}", shown, shown_name(type),
                            did_you_mean(type, tensor_type_names()));
  }
  source.path = std::string(text);
  if (size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    source.type = parse_tensor_type(text.substr(colon + 1));
    std::string_view before = text.substr(0, colon);
    bool suffix =
        source.type || before.ends_with(".npy") || before.ends_with(".png") || is_jpeg(before);
    if (suffix && !source.type)
      return invalid_argument("'{}': unknown type '{}'{}", shown,
                              shown_name(text.substr(colon + 1)),
                              did_you_mean(text.substr(colon + 1), tensor_type_names()));
    if (suffix) source.path = std::string(before);
  }
  if (source.path.ends_with(".npy")) {
    source.kind = TensorSource::Kind::npy;
    if (source.type && source.type != DataType::bf16 && !is_packed(*source.type))
      return invalid_argument(
          "'{}': a .npy file says its own type; ':bf16' (bf16 carried as u16) and packed types as "
          "':i4' (one in each byte) are the only suffixes, not ':{}'",
          shown, name_of(*source.type));
    return source;
  }
  if (source.path.ends_with(".png")) {
    source.kind = TensorSource::Kind::png;
    if (source.type && source.type != DataType::u8 && source.type != DataType::u16 &&
        source.type != DataType::fp32)
      return invalid_argument(
          "'{}': a .png file is read as fp32 (no suffix), ':u8' or ':u16', not "
          "':{}'",
          shown, name_of(*source.type));
    return source;
  }
  if (is_jpeg(source.path)) {
    source.kind = TensorSource::Kind::jpeg;
    if (source.type && source.type != DataType::u8 && source.type != DataType::fp32)
      return invalid_argument("'{}': a JPEG is read as fp32 (no suffix) or ':u8', not as ':{}'",
                              shown, name_of(*source.type));
    return source;
  }
  return invalid_argument(
      "'{}' is no tensor: it must end in .npy, .png or .jpg, be random:SEED[:TYPE], or be numbers "
      "as 16000, 0.5 or 1,2,3, or text:A,B for a model that takes text",
      shown);
}

Result<HostTensor> read_picture(const TensorSource& source) {
  return source.kind == TensorSource::Kind::png ? read_png(source.path, DataType::fp32)
                                                : read_jpeg(source.path, DataType::fp32);
}

Result<HostTensor> read_tensor(const TensorSource& source, const std::vector<int64_t>& sizes,
                               DataType type, std::string_view what, const NpyCheck& check) {
  if (source.is_picture() && source.picture) {
    STRIA_ASSIGN(const HostTensor picture, read_picture(source));
    PictureTarget target;
    target.type = source.type.value_or(DataType::fp32);
    return picture_tensor(picture, *source.picture, target);
  }
  switch (source.kind) {
    case TensorSource::Kind::npy: return read_npy(source.path, source.type, check);
    case TensorSource::Kind::png:
      return read_png(source.path, source.type.value_or(DataType::fp32));
    case TensorSource::Kind::jpeg:
      return read_jpeg(source.path, source.type.value_or(DataType::fp32));
    case TensorSource::Kind::random: return random_tensor(type, sizes, source.seed, what);
    case TensorSource::Kind::texts: return invalid_argument("{} takes numbers, not text", what);
    case TensorSource::Kind::numbers: return number_tensor(source.numbers, type, sizes, what);
  }
  return internal_error("tensor source of kind {}", static_cast<int>(source.kind));
}

Status check_tensor_path(std::string_view path) {
  if (path.ends_with(".npy") || path.ends_with(".png")) return Status();
  return invalid_argument("'{}' cannot be written: the name must end in .npy or .png",
                          shown_name(path));
}

Status check_writable(const std::string& path, DataType type, const std::vector<int64_t>& sizes) {
  STRIA_RETURN_IF_ERROR(check_tensor_path(path));
  if (path.ends_with(".png")) STRIA_RETURN_IF_ERROR(check_png_shape(type, sizes, shown_name(path)));
  return stria::check_writable(path);
}

Result<FileText> format_tensor(const std::string& path, const HostTensor& tensor) {
  STRIA_RETURN_IF_ERROR(check_tensor_path(path));
  if (path.ends_with(".npy")) return FileText{path, format_npy(tensor)};
  STRIA_ASSIGN(std::string bytes, format_png(tensor, shown_name(path)));
  return FileText{path, std::move(bytes)};
}

}  // namespace stria
