// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/isolation/wire.h"

#include <fmt/format.h>

namespace stria::hal::isolation {

std::string Writer::finish(uint16_t kind, uint64_t request) {
  std::string message = std::move(bytes_);
  if (message.size() > kMaxMessageBytes)
    throw Malformed(fmt::format("a message of kind {} would have {} bytes, the limit is {}", kind,
                                message.size(), kMaxMessageBytes));
  bytes_.clear();
  put(static_cast<uint32_t>(message.size()));
  put(kind);
  put(kVersion);
  put(request);
  std::memcpy(message.data(), bytes_.data(), Header::kBytes);
  return message;
}

// 1 and the failure, or 0; a failure ends with its cause in the same way.
void Writer::put(const sdk::Outcome& failure) {
  const sdk::Failure* one = failure.get();
  for (int causes = 0; one && causes <= sdk::kMaxCauses; ++causes, one = one->cause.get()) {
    put(true);
    const bool known = one->code > STRIA_OK && one->code <= STRIA_INTERNAL;
    put(known ? one->code : stria_code{STRIA_INTERNAL});
    put(one->native_code);
    put(one->message);
    put(one->native_message);
    put(one->place);
    put(one->suggestion);
  }
  put(false);
}

std::string_view Reader::take(size_t bytes) {
  if (bytes > bytes_.size())
    throw Malformed(fmt::format("a field needs {} bytes where {} are left", bytes, bytes_.size()));
  const std::string_view taken = bytes_.substr(0, bytes);
  bytes_.remove_prefix(bytes);
  return taken;
}

uint32_t Reader::count(size_t least_item_bytes) {
  uint32_t items = 0;
  get(items);
  if (items > kMaxItems || items > bytes_.size() / least_item_bytes)
    throw Malformed(fmt::format("a list of {} items where {} bytes are left, the limit is {} items",
                                items, bytes_.size(), kMaxItems));
  return items;
}

void Reader::get(bool& value) {
  uint8_t byte = 0;
  get(byte);
  if (byte > 1) throw Malformed(fmt::format("{} is no boolean, which is 0 or 1", byte));
  value = byte == 1;
}

void Reader::get(std::string& text) {
  uint32_t bytes = 0;
  get(bytes);
  text = take(bytes);
}

void Reader::get(sdk::Outcome& outcome) { outcome = failure(sdk::kMaxCauses); }

std::shared_ptr<sdk::Failure> Reader::failure(int most_causes) {
  bool there = false;
  get(there);
  if (!there) return nullptr;
  if (most_causes < 0)
    throw Malformed(fmt::format("a failure has more than {} causes", sdk::kMaxCauses));
  auto out = std::make_shared<sdk::Failure>();
  get(out->code);
  if (out->code <= STRIA_OK || out->code > STRIA_INTERNAL)
    throw Malformed(fmt::format("{} is no code of a failure", out->code));
  get(out->native_code);
  get(out->message);
  get(out->native_message);
  get(out->place);
  get(out->suggestion);
  out->cause = failure(most_causes - 1);
  return out;
}

void Reader::finish() const {
  if (!bytes_.empty())
    throw Malformed(fmt::format("{} bytes are left behind the last field", bytes_.size()));
}

Header read_header(std::string_view bytes) {
  Header header;
  Reader reader(bytes.substr(0, Header::kBytes));
  reader(header.size, header.kind, header.version, header.request);
  if (header.version != kVersion)
    throw Malformed(fmt::format("a message of version {}, this side speaks version {}",
                                header.version, kVersion));
  if (header.size < Header::kBytes || header.size > kMaxMessageBytes)
    throw Malformed(fmt::format("a message of {} bytes, of which {} to {} are allowed", header.size,
                                Header::kBytes, kMaxMessageBytes));
  return header;
}

}  // namespace stria::hal::isolation
