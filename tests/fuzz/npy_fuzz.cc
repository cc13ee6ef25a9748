// SPDX-License-Identifier: Apache-2.0
// .npy files: what is read is written and read again to the same tensor; a file and a pipe give the
// same as the bytes.
#include <sys/mman.h>
#include <unistd.h>

#include "fuzzer.h"
#include "stria/tensor_io/npy.h"

namespace {

using namespace stria;

// Read as `descriptor` gives them, the bytes make the same tensor, or none.
void check_read(int descriptor, const std::string& bytes, std::optional<DataType> carried) {
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  const Result<HostTensor> read = read_npy(path, carried);
  const Result<HostTensor> parsed = parse_npy(bytes, path, carried);
  STRIA_CHECK(read.ok() == parsed.ok(), "read: {}, parsed: {}", read.status().message(),
              parsed.status().message());
  if (read.ok())
    STRIA_CHECK(read->type() == parsed->type() && read->sizes() == parsed->sizes() &&
                    read->bytes() == parsed->bytes(),
                "what was read is another tensor");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes = fuzz::text_of(data, size);
  constexpr size_t kPipeBytes = 4096;  // that a pipe takes at once
  for (const std::optional<DataType> carried :
       {std::optional<DataType>(), std::optional(DataType::bf16), std::optional(DataType::i4),
        std::optional(DataType::fp8_e4m3)}) {
    const int file = ::memfd_create("fuzz.npy", MFD_CLOEXEC);
    STRIA_CHECK(file >= 0 && ::pwrite(file, bytes.data(), size, 0) == static_cast<ssize_t>(size),
                "no file");
    check_read(file, bytes, carried);
    ::close(file);
    int ends[2];
    if (size <= kPipeBytes && ::pipe(ends) == 0) {
      STRIA_CHECK(::write(ends[1], bytes.data(), size) == static_cast<ssize_t>(size), "no pipe");
      ::close(ends[1]);
      check_read(ends[0], bytes, carried);
      ::close(ends[0]);
    }
    Result<HostTensor> tensor = parse_npy(bytes, "fuzz.npy", carried);
    if (!tensor.ok()) {
      STRIA_CHECK(!tensor.status().message().empty(), "a failure without a message");
      continue;
    }
    STRIA_CHECK(tensor->byte_count() < size, "more data than the file has");
    // A file that is written does not say what its elements carry.
    const DataType type = tensor->type();
    const bool carries = type == DataType::bf16 || is_packed(type);
    Result<HostTensor> again =
        parse_npy(format_npy(*tensor), "again.npy", carries ? std::optional(type) : std::nullopt);
    STRIA_CHECK(again.ok(), "what was written cannot be read: {}", again.status().message());
    STRIA_CHECK(again->type() == tensor->type() && again->sizes() == tensor->sizes() &&
                    again->bytes() == tensor->bytes(),
                "what was written is another tensor");
  }
  return 0;
}
