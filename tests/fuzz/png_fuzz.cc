// SPDX-License-Identifier: Apache-2.0
// PNG files: read as they are, and with the checksum of each chunk mended, so that mutations reach
// what lies behind it. What is read as u8 or u16 and can be written is written and read again to
// the same.
#include <zlib.h>

#include "fuzzer.h"
#include "stria/tensor_io/png.h"

namespace stria {
namespace {

constexpr size_t kSignatureBytes = 8;

uint32_t big_endian(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// Chunks are: length, kind, data, CRC of kind and data.
std::string mend_checksums(std::string bytes) {
  size_t at = kSignatureBytes;
  while (at + 12 <= bytes.size()) {
    const size_t length = big_endian(bytes, at);
    if (length > bytes.size() - at - 12) break;
    const uint32_t crc = static_cast<uint32_t>(crc32(
        0, reinterpret_cast<const Bytef*>(bytes.data() + at + 4), static_cast<uInt>(length + 4)));
    for (size_t i = 0; i < 4; ++i)
      bytes[at + 8 + length + i] = static_cast<char>(crc >> (24 - 8 * i));
    at += 12 + length;
  }
  return bytes;
}

void read_and_write(const std::string& bytes) {
  for (DataType type : {DataType::fp32, DataType::u8, DataType::u16}) {
    Result<HostTensor> tensor = parse_png(bytes, "fuzz.png", type);
    if (!tensor.ok()) {
      STRIA_CHECK(!tensor.status().message().empty(), "a failure without a message");
      continue;
    }
    if (!check_png_shape(type, tensor->sizes(), "again.png").ok()) continue;
    Result<std::string> written = format_png(*tensor, "again.png");
    STRIA_CHECK(written.ok(), "cannot be written: {}", written.status().message());
    if (type == DataType::fp32) continue;  // written with 8 bits, whatever was read
    Result<HostTensor> again = parse_png(*written, "again.png", type);
    STRIA_CHECK(again.ok(), "what was written cannot be read: {}", again.status().message());
    STRIA_CHECK(again->sizes() == tensor->sizes() && again->bytes() == tensor->bytes(),
                "what was written is another picture");
  }
}

}  // namespace
}  // namespace stria

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes = stria::fuzz::text_of(data, size);
  stria::read_and_write(bytes);
  const std::string mended = stria::mend_checksums(bytes);
  if (mended != bytes) stria::read_and_write(mended);
  return 0;
}
