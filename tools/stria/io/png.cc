// SPDX-License-Identifier: Apache-2.0
// libpng reports errors by longjmp. Every function with a setjmp keeps what outlives the jump in a
// struct of its caller, so the jump crosses no destructor.
#include "stria/tensor_io/png.h"

#include <png.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "stria/base/input_file.h"
#include "stria/base/shown_text.h"
#include "stria/type/scalar.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

static_assert(std::endian::native == std::endian::little, "png.cc swaps 16-bit samples");

constexpr size_t kMessageBytes = 200;
constexpr size_t kMaxBytes = size_t{4} << 30;  // of a file
constexpr int64_t kMaxDeflateRatio = 1040;     // deflate cannot shrink by more than 1032

void copy_message(char* to, const char* from) {
  std::strncpy(to, from, kMessageBytes - 1);
  to[kMessageBytes - 1] = '\0';
}
void on_warning(png_structp, png_const_charp) {}

// ---- reading ----

struct ReadState {
  std::string_view bytes;
  size_t at = 0;
  bool ended = false;  // asked for bytes beyond the end
  char message[kMessageBytes] = "";
  png_structp png = nullptr;
  png_infop info = nullptr;
  uint32_t width = 0, height = 0;
  int pixel_bits = 0;  // as in the file
  int channels = 0;    // after the transformations
  int depth = 0;       // 8 or 16, after the transformations
  std::string pixels;
  std::vector<png_bytep> rows;

  ~ReadState() { png_destroy_read_struct(&png, &info, nullptr); }
};

void on_read_error(png_structp png, png_const_charp message) {
  copy_message(static_cast<ReadState*>(png_get_error_ptr(png))->message, message);
  longjmp(png_jmpbuf(png), 1);
}

void on_read(png_structp png, png_bytep to, size_t count) {
  auto* state = static_cast<ReadState*>(png_get_io_ptr(png));
  if (state->bytes.size() - state->at < count) {
    state->ended = true;
    png_error(png, "the file ends");
  }
  std::memcpy(to, state->bytes.data() + state->at, count);
  state->at += count;
}

// The header and what precedes the pixels. False after an error.
bool read_info(ReadState& state) {
  if (setjmp(png_jmpbuf(state.png))) return false;
  png_set_read_fn(state.png, &state, on_read);
  png_set_user_limits(state.png, 0x7fffffff, 0x7fffffff);
  // Texts, profiles and the like: nothing of them is used, and libpng would take the memory that a
  // chunk claims before it looks whether the file has so much.
  png_set_keep_unknown_chunks(state.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_crc_action(state.png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_read_info(state.png, state.info);
  state.width = png_get_image_width(state.png, state.info);
  state.height = png_get_image_height(state.png, state.info);
  state.pixel_bits =
      png_get_bit_depth(state.png, state.info) * png_get_channels(state.png, state.info);
  return true;
}

// Sets up the transformations; libpng takes memory for its rows here.
bool start_pixels(ReadState& state) {
  if (setjmp(png_jmpbuf(state.png))) return false;
  png_set_expand(state.png);  // palette to RGB, grey to 8 bits, transparent colour to alpha
  if (png_get_bit_depth(state.png, state.info) == 16) png_set_swap(state.png);
  png_set_interlace_handling(state.png);
  png_read_update_info(state.png, state.info);
  state.channels = png_get_channels(state.png, state.info);
  state.depth = png_get_bit_depth(state.png, state.info);
  return true;
}

bool read_pixels(ReadState& state) {
  if (setjmp(png_jmpbuf(state.png))) return false;
  png_read_image(state.png, state.rows.data());
  png_read_end(state.png, nullptr);
  return true;
}

Status read_failure(const ReadState& state, std::string_view name) {
  if (state.ended)
    return make_error(StatusCode::data_loss, "'{}' is truncated: the PNG ends at byte {} too early",
                      name, state.bytes.size());
  return make_error(StatusCode::data_loss, "'{}' is a damaged PNG: {} (near byte {})", name,
                    state.message, state.at);
}

template <typename Sample>
void copy_samples(const ReadState& state, HostTensor& tensor) {
  const auto* from = reinterpret_cast<const Sample*>(state.pixels.data());
  const int64_t count = tensor.element_count();
  if (tensor.type() == DataType::fp32) {
    auto* to = reinterpret_cast<float*>(tensor.data());
    const float scale = sizeof(Sample) == 1 ? 255.0f : 65535.0f;
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]) / scale;
  } else if (tensor.type() == DataType::u16) {
    std::copy(from, from + count, reinterpret_cast<uint16_t*>(tensor.data()));
  } else {
    std::copy(from, from + count, reinterpret_cast<uint8_t*>(tensor.data()));
  }
}

Status check_signature(std::string_view bytes, std::string_view name) {
  const size_t length = std::min<size_t>(bytes.size(), 8);
  if (length > 0 && png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, length) == 0)
    return Status();
  return invalid_argument("'{}' is not a PNG file", name);
}

// ---- writing ----

struct WriteState {
  std::string bytes;
  char message[kMessageBytes] = "";
  png_structp png = nullptr;
  png_infop info = nullptr;

  ~WriteState() { png_destroy_write_struct(&png, &info); }
};

void on_write_error(png_structp png, png_const_charp message) {
  copy_message(static_cast<WriteState*>(png_get_error_ptr(png))->message, message);
  longjmp(png_jmpbuf(png), 1);
}
void on_write(png_structp png, png_bytep from, size_t count) {
  static_cast<WriteState*>(png_get_io_ptr(png))->bytes.append(reinterpret_cast<char*>(from), count);
}
void on_flush(png_structp) {}

struct Picture {
  uint32_t width, height;
  int channels, depth;
  const std::byte* pixels;
};

bool write_picture(WriteState& state, const Picture& picture) {
  if (setjmp(png_jmpbuf(state.png))) return false;
  const int colour = picture.channels == 1   ? PNG_COLOR_TYPE_GRAY
                     : picture.channels == 3 ? PNG_COLOR_TYPE_RGB
                                             : PNG_COLOR_TYPE_RGB_ALPHA;
  png_set_write_fn(state.png, &state, on_write, on_flush);
  png_set_user_limits(state.png, 0x7fffffff, 0x7fffffff);
  png_set_IHDR(state.png, state.info, picture.width, picture.height, picture.depth, colour,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(state.png, state.info);
  if (picture.depth == 16) png_set_swap(state.png);
  const size_t row = static_cast<size_t>(picture.width) * picture.channels * picture.depth / 8;
  for (uint32_t y = 0; y < picture.height; ++y)
    png_write_row(state.png, reinterpret_cast<png_const_bytep>(picture.pixels) + y * row);
  png_write_end(state.png, nullptr);
  return true;
}

uint8_t to_byte(double value) {
  if (!(value > 0)) return 0;  // NaN too
  // nearbyint rounds half to even in the default rounding mode.
  return static_cast<uint8_t>(std::nearbyint(std::min(value, 1.0) * 255));
}

}  // namespace

Result<HostTensor> parse_png(std::string_view bytes, std::string_view name, DataType type) {
  if (type != DataType::fp32 && type != DataType::u8 && type != DataType::u16)
    return invalid_argument("'{}': a PNG is read as fp32, u8 or u16, not as {}", name,
                            name_of(type));
  STRIA_RETURN_IF_ERROR(check_signature(bytes, name));
  ReadState state;
  state.bytes = bytes;
  state.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, on_read_error, on_warning);
  if (state.png) state.info = png_create_info_struct(state.png);
  if (!state.info) return make_error(StatusCode::out_of_memory, "'{}': no memory for libpng", name);
  if (!read_info(state)) return read_failure(state, name);
  // Before memory is asked for: a header can claim what it likes.
  const double least_bytes = double{1} * state.width * state.height * state.pixel_bits / 8;
  if (least_bytes > static_cast<double>(bytes.size()) * kMaxDeflateRatio)
    return make_error(StatusCode::data_loss,
                      "'{}' is truncated: {} bytes cannot hold {} x {} pixels", name, bytes.size(),
                      state.width, state.height);
  if (!start_pixels(state)) return read_failure(state, name);
  if (state.depth == 16 && type == DataType::u8)
    return invalid_argument(
        "'{}' has 16 bits per sample, ':u8' would lose half of them; use ':u16' or "
        "no suffix",
        name);

  const int64_t row = static_cast<int64_t>(state.width) * state.channels * (state.depth / 8);
  const std::vector<int64_t> sizes = {state.height, state.width, state.channels};
  std::string what = fmt::format("'{}'", name);
  STRIA_RETURN_IF_ERROR(check_sizes(DataType::fp32, sizes, what));
  STRIA_ASSIGN(HostTensor tensor, HostTensor::create(type, sizes, what));
  state.pixels.resize(static_cast<size_t>(row * state.height));
  state.rows.resize(state.height);
  for (uint32_t y = 0; y < state.height; ++y)
    state.rows[y] = reinterpret_cast<png_bytep>(state.pixels.data() + y * row);
  if (!read_pixels(state)) return read_failure(state, name);
  if (state.depth == 16) {
    copy_samples<uint16_t>(state, tensor);
  } else {
    copy_samples<uint8_t>(state, tensor);
  }
  return tensor;
}

Result<HostTensor> read_png(const std::filesystem::path& path, DataType type) {
  const std::string name = shown_name(path.string());
  STRIA_ASSIGN(InputFile file, InputFile::open(path));
  // What is no picture is not read to its end.
  std::string bytes(8, '\0');
  STRIA_ASSIGN(const size_t got, file.read(bytes.data(), bytes.size()));
  bytes.resize(got);
  STRIA_RETURN_IF_ERROR(check_signature(bytes, name));
  STRIA_ASSIGN(const std::string rest, file.read_rest(kMaxBytes));
  STRIA_RETURN_IF_ERROR(file.check_unchanged());
  return parse_png(bytes + rest, name, type);
}

Status check_png_shape(DataType type, const std::vector<int64_t>& sizes, std::string_view name) {
  const int64_t channels = sizes.size() == 3 ? sizes[2] : 1;
  const bool shape_fits = (sizes.size() == 2 || sizes.size() == 3) &&
                          (channels == 1 || channels == 3 || channels == 4) && sizes[0] > 0 &&
                          sizes[1] > 0 && sizes[0] <= 0x7fffffff && sizes[1] <= 0x7fffffff;
  if (shape_fits && (is_float(type) || type == DataType::u8 || type == DataType::u16))
    return Status();
  return invalid_argument(
      "'{}': {} cannot be written as PNG, which takes [H, W] or [H, W, 1|3|4] of floats in 0..1, "
      "u8 or "
      "u16",
      name, to_string(type, sizes));
}

Result<std::string> format_png(const HostTensor& tensor, std::string_view name) {
  const std::vector<int64_t>& sizes = tensor.sizes();
  const DataType type = tensor.type();
  STRIA_RETURN_IF_ERROR(check_png_shape(type, sizes, name));
  const int64_t channels = sizes.size() == 3 ? sizes[2] : 1;

  std::string levels;
  const std::byte* pixels = tensor.data();
  if (is_float(type)) {
    const int64_t count = tensor.element_count();
    levels.resize(static_cast<size_t>(count));
    if (type == DataType::fp32) {
      const auto* from = reinterpret_cast<const float*>(tensor.data());
      for (int64_t i = 0; i < count; ++i) levels[i] = static_cast<char>(to_byte(from[i]));
    } else {
      for (int64_t i = 0; i < count; ++i)
        levels[i] = static_cast<char>(to_byte(load_scalar(type, tensor.data(), i).f));
    }
    pixels = reinterpret_cast<const std::byte*>(levels.data());
  }
  WriteState state;
  state.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &state, on_write_error, on_warning);
  if (state.png) state.info = png_create_info_struct(state.png);
  if (!state.info) return make_error(StatusCode::out_of_memory, "'{}': no memory for libpng", name);
  Picture picture{static_cast<uint32_t>(sizes[1]), static_cast<uint32_t>(sizes[0]),
                  static_cast<int>(channels), type == DataType::u16 ? 16 : 8, pixels};
  if (!write_picture(state, picture))
    return invalid_argument("'{}' cannot be written as PNG: {}", name, state.message);
  return std::move(state.bytes);
}

}  // namespace stria
