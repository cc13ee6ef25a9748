// SPDX-License-Identifier: Apache-2.0
// How messages are spelled as bytes: little endian, no padding, numbers of fixed width, texts and
// lists behind their counts. docs/isolation.md is the format for others to write.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stria/sdk/error.h"

namespace stria::hal::isolation {

inline constexpr uint16_t kVersion = 1;
// Of one message with its header; far beyond the largest program.
inline constexpr uint32_t kMaxMessageBytes = uint32_t{256} << 20;
// Of one list.
inline constexpr uint32_t kMaxItems = uint32_t{1} << 18;

// Bytes that are no message. What it says names the field, the value and the limit.
class Malformed : public std::exception {
 public:
  explicit Malformed(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

// In front of every message.
struct Header {
  static constexpr size_t kBytes = 16;
  uint32_t size = 0;  // bytes of the message, this included
  uint16_t kind = 0;
  uint16_t version = kVersion;
  uint64_t request = 0;  // what an answer repeats; 0: nobody waits for one
};

// A message's struct lists its fields once, for both directions:
//   template <typename F> void fields(F& f) { f(executor, offset, waits); }
template <typename T, typename F>
concept HasFields = requires(T& value, F& f) { value.fields(f); };

class Writer {
 public:
  // The header's place is kept free; finish() fills it in.
  Writer() : bytes_(Header::kBytes, '\0') {}

  template <typename... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }
  // Throws Malformed if the message is longer than any may be.
  std::string finish(uint16_t kind, uint64_t request);

 private:
  template <std::integral T>
  void put(T value) {
    auto bits = static_cast<std::make_unsigned_t<T>>(value);
    char bytes[sizeof bits];
    for (char& byte : bytes) {
      byte = static_cast<char>(bits & 0xFF);
      if constexpr (sizeof bits > 1) bits = static_cast<decltype(bits)>(bits >> 8);
    }
    bytes_.append(bytes, sizeof bytes);
  }
  void put(bool value) { put(static_cast<uint8_t>(value)); }
  template <typename T>
    requires std::is_enum_v<T>
  void put(T value) {
    put(static_cast<std::underlying_type_t<T>>(value));
  }
  void put(std::string_view text) {
    put(static_cast<uint32_t>(text.size()));
    bytes_.append(text);
  }
  void put(const std::string& text) { put(std::string_view(text)); }
  template <typename T>
  void put(const std::vector<T>& list) {
    put(static_cast<uint32_t>(list.size()));
    for (const T& item : list) put(item);
  }
  void put(const sdk::Outcome& failure);
  template <typename T>
    requires HasFields<T, Writer>
  void put(const T& value) {
    const_cast<T&>(value).fields(*this);  // which only reads
  }

  std::string bytes_;
};

// Reads what a Writer wrote, or throws Malformed. Takes no memory for what is not there.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }
  // Throws Malformed if something is left.
  void finish() const;

 private:
  std::string_view take(size_t bytes);
  uint32_t count(size_t least_item_bytes);
  template <std::integral T>
  void get(T& value) {
    const std::string_view bytes = take(sizeof(T));
    std::make_unsigned_t<T> bits = 0;
    for (size_t i = sizeof(T); i-- > 0;)
      bits =
          static_cast<decltype(bits)>((uint64_t{bits} << 8) | static_cast<unsigned char>(bytes[i]));
    value = static_cast<T>(bits);
  }
  void get(bool& value);
  template <typename T>
    requires std::is_enum_v<T>
  void get(T& value) {
    std::underlying_type_t<T> number{};
    get(number);
    value = static_cast<T>(number);
  }
  void get(std::string& text);
  template <typename T>
  void get(std::vector<T>& list) {
    const uint32_t items = count(std::is_arithmetic_v<T> ? sizeof(T) : 1);
    list.clear();
    list.reserve(std::is_arithmetic_v<T> ? items : 0);
    for (uint32_t i = 0; i < items; ++i) get(list.emplace_back());
  }
  void get(sdk::Outcome& failure);
  std::shared_ptr<sdk::Failure> failure(int most_causes);
  template <typename T>
    requires HasFields<T, Reader>
  void get(T& value) {
    value.fields(*this);
  }

  std::string_view bytes_;
};

// The message of `kind` that is `M`.
template <typename M>
std::string encoded(const M& message, uint64_t request = 0) {
  Writer writer;
  const_cast<M&>(message).fields(writer);
  return writer.finish(static_cast<uint16_t>(M::kKind), request);
}
template <typename M>
M decoded(std::string_view body) {
  Reader reader(body);
  M message;
  message.fields(reader);
  reader.finish();
  return message;
}

// Of the first Header::kBytes of `bytes`. Throws Malformed for a size, or a version, that no
// message of ours has.
Header read_header(std::string_view bytes);

}  // namespace stria::hal::isolation
