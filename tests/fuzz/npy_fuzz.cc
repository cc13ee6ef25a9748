// SPDX-License-Identifier: Apache-2.0
// .npy files: what is read is written and read again to the same tensor.
#include "fuzzer.h"
#include "stria/tensor_io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stria;
  const std::string bytes = fuzz::text_of(data, size);
  for (bool as_bf16 : {false, true}) {
    Result<HostTensor> tensor = parse_npy(bytes, "fuzz.npy", as_bf16);
    if (!tensor.ok()) {
      STRIA_CHECK(!tensor.status().message().empty(), "a failure without a message");
      continue;
    }
    STRIA_CHECK(tensor->byte_count() < size, "more data than the file has");
    Result<HostTensor> again = parse_npy(format_npy(*tensor), "again.npy", as_bf16);
    STRIA_CHECK(again.ok(), "what was written cannot be read: {}", again.status().message());
    STRIA_CHECK(again->type() == tensor->type() && again->sizes() == tensor->sizes() &&
                    again->bytes() == tensor->bytes(),
                "what was written is another tensor");
  }
  return 0;
}
