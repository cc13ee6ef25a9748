// SPDX-License-Identifier: Apache-2.0
// libjpeg reports errors by a function that must not return. Every function with a setjmp keeps
// what outlives the jump in a struct of its caller, so the jump crosses no destructor.
#include "stria/tensor_io/jpeg.h"

#include <csetjmp>
#include <cstdio>
#include <string>
#include <vector>
// Behind <cstdio>, which they need.
#include <jerror.h>
#include <jpeglib.h>

#include "stria/base/input_file.h"
#include "stria/base/shown_text.h"
#include "stria/base/status.h"

namespace stria {
namespace {

constexpr size_t kMaxBytes = size_t{4} << 30;  // of a file
// A block of 8 x 8 pixels takes a bit at least.
constexpr int64_t kMaxPixelsPerByte = 512;

struct ReadState {
  jpeg_error_mgr errors;
  jpeg_decompress_struct jpeg;
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX] = "";
  bool ended = false;  // the file, before the picture
  std::vector<uint8_t> pixels;

  ReadState() {
    jpeg.err = jpeg_std_error(&errors);
    jpeg.client_data = this;
    jpeg_create_decompress(&jpeg);
  }
  ~ReadState() { jpeg_destroy_decompress(&jpeg); }
  ReadState(const ReadState&) = delete;
  ReadState& operator=(const ReadState&) = delete;
};

[[noreturn]] void on_error(j_common_ptr jpeg) {
  auto* state = static_cast<ReadState*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, state->message);
  std::longjmp(state->back, 1);
}

// libjpeg fills up with grey what is missing, and warns.
void on_message(j_common_ptr jpeg, int level) {
  if (level >= 0 || jpeg->err->msg_code == JWRN_EXTRANEOUS_DATA) return;
  auto* state = static_cast<ReadState*>(jpeg->client_data);
  state->ended = jpeg->err->msg_code == JWRN_JPEG_EOF;
  on_error(jpeg);
}

void on_output(j_common_ptr) {}

// False after an error.
bool read_header(ReadState& state, std::string_view bytes) {
  if (setjmp(state.back)) return false;
  jpeg_mem_src(&state.jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&state.jpeg, TRUE);
  return true;
}

bool read_pixels(ReadState& state) {
  if (setjmp(state.back)) return false;
  jpeg_start_decompress(&state.jpeg);
  const size_t row =
      size_t{state.jpeg.output_width} * static_cast<size_t>(state.jpeg.output_components);
  while (state.jpeg.output_scanline < state.jpeg.output_height) {
    JSAMPROW to = state.pixels.data() + state.jpeg.output_scanline * row;
    jpeg_read_scanlines(&state.jpeg, &to, 1);
  }
  jpeg_finish_decompress(&state.jpeg);
  return true;
}

Status read_failure(const ReadState& state, std::string_view name, size_t bytes) {
  if (state.ended)
    return make_error(StatusCode::data_loss,
                      "'{}' is truncated: the JPEG ends at byte {} too early", name, bytes);
  return make_error(StatusCode::data_loss, "'{}' is a damaged JPEG: {}", name, state.message);
}

Status check_signature(std::string_view bytes, std::string_view name) {
  if (bytes.starts_with("\xff\xd8\xff")) return Status();
  return invalid_argument("'{}' is not a JPEG file", name);
}

}  // namespace

Result<HostTensor> parse_jpeg(std::string_view bytes, std::string_view name, DataType type) {
  if (type != DataType::fp32 && type != DataType::u8)
    return invalid_argument("'{}': a JPEG is read as fp32 or u8, not as {}", name, name_of(type));
  STRIA_RETURN_IF_ERROR(check_signature(bytes, name));
  ReadState state;
  state.errors.error_exit = on_error;
  state.errors.emit_message = on_message;
  state.errors.output_message = on_output;
  if (!read_header(state, bytes)) return read_failure(state, name, bytes.size());
  jpeg_decompress_struct& jpeg = state.jpeg;
  if (jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK)
    return unsupported("'{}' is a JPEG of printing inks (CMYK): grey and RGB are read", name);
  const int64_t channels = jpeg.jpeg_color_space == JCS_GRAYSCALE ? 1 : 3;
  jpeg.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  const int64_t height = jpeg.image_height, width = jpeg.image_width;
  // Before memory is asked for: a header can claim what it likes.
  if (height * width / kMaxPixelsPerByte > static_cast<int64_t>(bytes.size()))
    return make_error(StatusCode::data_loss,
                      "'{}' is truncated: {} bytes cannot hold {} x {} pixels", name, bytes.size(),
                      width, height);
  STRIA_ASSIGN(HostTensor tensor,
               HostTensor::create(type, {height, width, channels}, fmt::format("'{}'", name)));
  state.pixels.resize(static_cast<size_t>(height * width * channels));
  if (!read_pixels(state)) return read_failure(state, name, bytes.size());
  if (type == DataType::u8) {
    std::copy(state.pixels.begin(), state.pixels.end(), reinterpret_cast<uint8_t*>(tensor.data()));
  } else {
    auto* to = reinterpret_cast<float*>(tensor.data());
    for (size_t i = 0; i < state.pixels.size(); ++i)
      to[i] = static_cast<float>(state.pixels[i]) / 255.0f;
  }
  return tensor;
}

Result<HostTensor> read_jpeg(const std::filesystem::path& path, DataType type) {
  const std::string name = shown_name(path.string());
  STRIA_ASSIGN(InputFile file, InputFile::open(path));
  // What is no picture is not read to its end.
  std::string bytes(3, '\0');
  STRIA_ASSIGN(const size_t got, file.read(bytes.data(), bytes.size()));
  bytes.resize(got);
  STRIA_RETURN_IF_ERROR(check_signature(bytes, name));
  STRIA_ASSIGN(const std::string rest, file.read_rest(kMaxBytes));
  STRIA_RETURN_IF_ERROR(file.check_unchanged());
  return parse_jpeg(bytes + rest, name, type);
}

}  // namespace stria
