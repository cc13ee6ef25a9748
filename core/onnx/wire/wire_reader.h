// SPDX-License-Identifier: Apache-2.0
// A cursor over a message in protobuf's wire format: fields, each a number and a value whose end
// the format tells. What the values mean, the caller knows.
//
//   for (; reader.next();) switch (reader.field()) {
//       case 1: node.inputs.emplace_back(reader.bytes("input", node.inputs.size())); break;
//       case 5: read_attribute(reader.message("attribute", node.attributes.size())); break;
//     }
//   STRIA_RETURN_IF_ERROR(reader.status());
//
// The first failure of a message or of one inside it ends them all: next() says false from then on,
// and every value is 0 or empty. So a caller asks for the status once, behind its loop.
// Fields that nobody asks for are skipped, once their bytes are known to be there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stria/base/status.h"

namespace stria::onnx {

// The numbers of the format. 3 and 4, groups, are refused.
enum class WireType : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// What the readers of one file share. It outlives them.
struct WireSource {
  std::string_view bytes;
  std::string name;  // for messages
  int most_nesting;  // messages in messages
  Status failure = {};
};

class WireReader {
 public:
  // The field is not one of a list.
  static constexpr size_t kSingle = ~size_t{0};

  // Of the whole file.
  explicit WireReader(WireSource& source) : source_(&source), bytes_(source.bytes) {}

  // The next field, whose value lies inside the message; false at the end or after a failure.
  bool next();
  uint32_t field() const { return field_; }
  WireType type() const { return type_; }

  // The value of the field that next() has found. Another wire type than the value's is a failure.
  // `name`, which lives as long as the reader, and `index` are for messages.
  int64_t integer(std::string_view name, size_t index = kSingle);
  // A number outside of int32 is a failure.
  int32_t integer32(std::string_view name);
  float float32(std::string_view name);
  std::string_view bytes(std::string_view name, size_t index = kSingle);
  // The reader of a message in this one, which stays where it is as long. Of a field that is not
  // one of a list, a second value is a failure: the format would merge the two, which no writer
  // wants.
  WireReader message(std::string_view name, size_t index = kSingle);

  // Repeated numbers come one to a field, or packed: many in one. `each` is called with an int64_t.
  template <typename Each>
  void integers(std::string_view name, Each&& each) {
    if (type_ == WireType::varint) return each(static_cast<int64_t>(number_));
    std::string_view packed = bytes(name);
    while (!packed.empty() && !failed()) {
      uint64_t number = 0;
      if (!take_varint(packed, number)) return fail_at(packed.data(), name, kSingle, kNoVarint);
      each(static_cast<int64_t>(number));
    }
  }
  // The little-endian bytes of the numbers of this field, 4 or 8 each.
  std::string_view fixed(std::string_view name, size_t width_bytes);

  // Makes the first failure: "file: byte 12: graph.node[3]: message", at the field that next() has
  // found, or at the message before the first call.
  void fail(std::string_view message, StatusCode code = StatusCode::invalid_argument);
  bool failed() const { return !source_->failure.ok(); }
  const Status& status() const { return source_->failure; }

 private:
  static constexpr std::string_view kNoVarint =
      "a number ends too early or has more than 64 bits (10 bytes)";
  // Takes a number from the front; false, and nothing is taken, if there is none.
  static bool take_varint(std::string_view& from, uint64_t& out);
  void fail_at(const char* at, std::string_view name, size_t index, std::string_view message,
               StatusCode code = StatusCode::invalid_argument);
  bool expect(WireType type, std::string_view name, size_t index);
  std::string path() const;

  WireSource* source_;
  const WireReader* above_ = nullptr;  // the message that holds this one
  std::string_view name_;              // of this message's field there
  size_t index_ = kSingle;
  int depth_ = 0;

  std::string_view bytes_;    // what is left
  const char* at_ = nullptr;  // where the field begins
  uint64_t single_ = 0;       // the fields that are no list and have occurred: a bit each
  uint32_t field_ = 0;
  WireType type_ = WireType::varint;
  uint64_t number_ = 0;     // of a varint
  std::string_view value_;  // of all others
};

}  // namespace stria::onnx
