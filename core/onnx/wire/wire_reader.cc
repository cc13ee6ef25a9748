// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/wire/wire_reader.h"

#include <bit>
#include <cstring>

#include "stria/base/shown_text.h"

namespace stria::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "fixed numbers are read as they lie");

std::string_view name_of(WireType type) {
  switch (type) {
    case WireType::varint: return "a varint";
    case WireType::fixed64: return "8 bytes";
    case WireType::bytes: return "a length and bytes";
    case WireType::fixed32: return "4 bytes";
  }
  return "nothing";
}

}  // namespace

bool WireReader::take_varint(std::string_view& from, uint64_t& out) {
  uint64_t number = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    const auto byte = static_cast<uint8_t>(from[i]);
    if (i == 9 && byte > 1) return false;  // a 65th bit, or an 11th byte
    number |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      from.remove_prefix(i + 1);
      out = number;
      return true;
    }
  }
  return false;
}

bool WireReader::next() {
  number_ = 0;
  value_ = {};
  if (failed() || bytes_.empty()) return false;
  at_ = bytes_.data();
  const auto failure = [&](const std::string& message) {
    fail_at(at_, "", kSingle, message);
    return false;
  };
  uint64_t tag = 0;
  if (!take_varint(bytes_, tag)) return failure(std::string(kNoVarint));
  if (tag >> 3 == 0 || tag >> 32 != 0)
    return failure(fmt::format("there is no field {}", tag >> 3));
  field_ = static_cast<uint32_t>(tag >> 3);
  const auto type = static_cast<unsigned>(tag & 7);
  uint64_t size = 0;
  switch (type) {
    case 0:
      if (!take_varint(bytes_, number_))
        return failure(fmt::format("field {}: {}", field_, kNoVarint));
      break;
    case 1: size = 8; break;
    case 2:
      if (!take_varint(bytes_, size))
        return failure(fmt::format("field {}: {}", field_, kNoVarint));
      break;
    case 5: size = 4; break;
    default: return failure(fmt::format("field {} has the unknown wire type {}", field_, type));
  }
  if (size > bytes_.size())
    return failure(
        fmt::format("field {} has {} bytes, but {} are left", field_, size, bytes_.size()));
  type_ = static_cast<WireType>(type);
  value_ = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return true;
}

bool WireReader::expect(WireType type, std::string_view name, size_t index) {
  if (type_ == type) return !failed();
  fail_at(at_, name, index,
          fmt::format("here is {}, but the field is {}", name_of(type_), name_of(type)));
  return false;
}

int64_t WireReader::integer(std::string_view name, size_t index) {
  return expect(WireType::varint, name, index) ? static_cast<int64_t>(number_) : 0;
}

int32_t WireReader::integer32(std::string_view name) {
  const int64_t number = integer(name);
  if (number == static_cast<int32_t>(number)) return static_cast<int32_t>(number);
  fail_at(at_, name, kSingle, fmt::format("{} is not a number of 32 bits", number));
  return 0;
}

float WireReader::float32(std::string_view name) {
  float out = 0;
  if (expect(WireType::fixed32, name, kSingle)) std::memcpy(&out, value_.data(), sizeof out);
  return out;
}

std::string_view WireReader::bytes(std::string_view name, size_t index) {
  return expect(WireType::bytes, name, index) ? value_ : std::string_view();
}

WireReader WireReader::message(std::string_view name, size_t index) {
  if (index == kSingle && field_ < 64) {
    const uint64_t bit = uint64_t{1} << field_;
    if ((single_ & bit) != 0) fail_at(at_, name, index, "the field is there twice");
    single_ |= bit;
  }
  WireReader out(*source_);
  out.bytes_ = bytes(name, index);
  out.above_ = this;
  out.name_ = name;
  out.index_ = index;
  out.depth_ = depth_ + 1;
  out.at_ = at_;
  if (out.depth_ > source_->most_nesting)
    out.fail(fmt::format("more than {} messages in one another", source_->most_nesting));
  return out;
}

std::string_view WireReader::fixed(std::string_view name, size_t width_bytes) {
  if (type_ == (width_bytes == 4 ? WireType::fixed32 : WireType::fixed64)) return value_;
  const std::string_view packed = bytes(name);
  if (packed.size() % width_bytes == 0) return packed;
  fail_at(at_, name, kSingle,
          fmt::format("{} bytes are not numbers of {} each", packed.size(), width_bytes));
  return {};
}

std::string WireReader::path() const {
  if (above_ == nullptr) return "";
  std::string out = above_->path();
  if (!out.empty()) out += '.';
  out += name_;
  if (index_ != kSingle) out += fmt::format("[{}]", index_);
  return out;
}

void WireReader::fail(std::string_view message, StatusCode code) {
  fail_at(at_ != nullptr ? at_ : bytes_.data(), "", kSingle, message, code);
}

void WireReader::fail_at(const char* at, std::string_view name, size_t index,
                         std::string_view message, StatusCode code) {
  if (failed()) return;
  std::string where = path();
  if (!name.empty()) {
    if (!where.empty()) where += '.';
    where += name;
    if (index != kSingle) where += fmt::format("[{}]", index);
  }
  // Of a deep place, where it begins and where it ends.
  if (!where.empty()) where = cut_text(where, kMaxNameBytes) + ": ";
  source_->failure = make_error(code, "{}: byte {}: {}{}", source_->name,
                                at - source_->bytes.data(), where, message);
}

}  // namespace stria::onnx
