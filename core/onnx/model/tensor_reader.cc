// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/model/tensor_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "stria/base/number_text.h"
#include "stria/base/shown_text.h"
#include "stria/onnx/model/packed_elements.h"

namespace stria::onnx {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// Bytes of `count` elements, the last byte filled up; nothing if that is beyond int64. Eight
// elements of so many bits are so many bytes.
std::optional<int64_t> bytes_of(int64_t count, int bits) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count / 8, int64_t{bits}, &bytes) ||
      __builtin_add_overflow(bytes, (count % 8 * bits + 7) / 8, &bytes))
    return std::nullopt;
  return bytes;
}

// The product of the dims. One that is beyond int64 is refused also where a 0 among them makes it
// small: strides are products of some of them.
std::optional<int64_t> count_of(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  bool none = false;
  for (int64_t dim : dims) {
    none |= dim == 0;
    if (dim != 0 && __builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  }
  return none ? 0 : count;
}

bool check_dims(WireReader& reader, const std::vector<int64_t>& dims) {
  const auto negative = std::find_if(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; });
  if (negative != dims.end()) reader.fail(fmt::format("dims: {} is negative", *negative));
  if (!count_of(dims)) reader.fail("dims: the number of elements is beyond 64 bits");
  return !reader.failed();
}

struct External {
  std::string_view location;
  std::string_view offset = "0";
  std::string_view length;  // "": as long as the tensor
};

// One StringStringEntryProto. Of other keys the reader needs nothing: a checksum is one of a whole
// file, which nobody may want to read.
void read_external(WireReader reader, External& out) {
  std::string_view key, value;
  while (reader.next()) switch (reader.field()) {
      case 1: key = reader.bytes("key"); break;
      case 2: value = reader.bytes("value"); break;
    }
  if (key == "location") out.location = value;
  if (key == "offset") out.offset = value;
  if (key == "length") out.length = value;
}

// Sets the tensor's bytes, `needed` of them, to a part of a file.
Status map_external(const External& data, int64_t needed, ReadContext& context, TensorData& out) {
  if (context.external == nullptr)
    return invalid_argument("the data lies in another file, and there is no folder to look into");
  const auto number = [&](std::string_view key, std::string_view text) -> Result<int64_t> {
    auto parsed = parse_integer(text, 0, kMost);
    if (!parsed.ok()) return parsed.status().with_context(key);
    return parsed;
  };
  STRIA_ASSIGN(const int64_t offset, number("offset", data.offset));
  if (!data.length.empty()) {
    STRIA_ASSIGN(const int64_t length, number("length", data.length));
    if (length != needed)
      return invalid_argument("length: {} bytes, but the tensor has {}", length, needed);
  }
  STRIA_ASSIGN(const auto file, context.external->file(data.location));
  const auto size = static_cast<int64_t>(file->bytes().size());
  if (offset > size || needed > size - offset)
    return invalid_argument("'{}' has {} bytes, but the tensor lies at {} and has {}",
                            shown_name(data.location), size, offset, needed);
  out.bytes = file->bytes().substr(static_cast<size_t>(offset), static_cast<size_t>(needed));
  out.owner = file;
  return Status();
}

// Booleans are used as numbers, so each is 0 or 1.
void check_booleans(WireReader& reader, const TensorData& tensor) {
  if (tensor.type != ElementType::boolean) return;
  const auto wrong = std::find_if(tensor.bytes.begin(), tensor.bytes.end(),
                                  [](char byte) { return byte != 0 && byte != 1; });
  if (wrong != tensor.bytes.end())
    reader.fail(fmt::format("element {} is no bool: {}", wrong - tensor.bytes.begin(),
                            static_cast<uint8_t>(*wrong)));
}

// What is known of a tensor before its elements are read.
struct Head {
  uint64_t data_fields = 0;  // those that hold elements: a bit each
  std::string_view raw;
  External external;
  bool is_external = false;
};

Head read_head(WireReader& reader, TensorData& out) {
  Head head;
  size_t entries = 0;
  while (reader.next()) switch (reader.field()) {
      case 1: reader.integers("dims", [&](int64_t dim) { out.dims.push_back(dim); }); break;
      case 2: out.type = static_cast<ElementType>(reader.integer32("data_type")); break;
      case 3:
        reader.fail("segment: tensors in parts are not supported", StatusCode::unsupported);
        break;
      case 4:
      case 5:
      case 6:
      case 7:
      case 10:
      case 11:
        // An empty packed list holds nothing; an empty text is one.
        if (reader.type() != WireType::bytes || reader.field() == 6 ||
            !reader.bytes("data").empty())
          head.data_fields |= uint64_t{1} << reader.field();
        break;
      case 8: out.name = reader.bytes("name"); break;
      case 9:
        head.raw = reader.bytes("raw_data");
        if (!head.raw.empty()) head.data_fields |= uint64_t{1} << 9;
        break;
      case 13: read_external(reader.message("external_data", entries++), head.external); break;
      case 14: {
        const int32_t place = reader.integer32("data_location");
        if (place != 0 && place != 1)
          reader.fail(fmt::format("there is no data_location {}", place));
        head.is_external = place == 1;
        break;
      }
    }
  return head;
}

// The data lies in one place, which is one for elements of the type.
void check_place(WireReader& reader, const Head& head, ElementType type) {
  constexpr uint64_t kRaw = uint64_t{1} << 9;
  const bool strings = type == ElementType::string;
  const uint64_t own = uint64_t{1} << field_of_elements(type);
  if ((head.data_fields & ~(strings ? own : own | kRaw)) != 0)
    reader.fail(fmt::format("data in a field that is not for elements of {}", name_of(type)));
  else if (head.is_external && (strings || head.data_fields != 0))
    reader.fail(strings ? "texts in another file" : "data here and in another file");
  else if ((head.data_fields & own) != 0 && (head.data_fields & kRaw) != 0)
    reader.fail("data in raw_data and in another field");
}

void check_count(WireReader& reader, std::string_view what, size_t is, int64_t needed,
                 const TensorData& tensor) {
  if (static_cast<int64_t>(is) != needed)
    reader.fail(fmt::format("the data has {} {}, but {} elements of type {} have {}", is, what,
                            tensor.element_count(), name_of(tensor.type), needed));
}

// The indices are int64, in `dims` and ascend: flat, or a row of coordinates for each value.
void check_indices(WireReader& reader, const SparseTensorData& sparse) {
  const TensorData& indices = sparse.indices;
  const int64_t values = sparse.values.element_count();
  const size_t rank = sparse.dims.size();
  const bool rows = indices.dims.size() == 2;
  if (sparse.values.dims.size() != 1) return reader.fail("values: they have one dim");
  if (indices.type != ElementType::i64 || indices.dims.empty() || indices.dims[0] != values ||
      indices.dims.size() > 2 || (rows && indices.dims[1] != static_cast<int64_t>(rank)))
    return reader.fail("indices: they are int64, one for each value, or one for each of its dims");
  const int64_t size = *count_of(sparse.dims);
  const char* at = indices.bytes.data();
  const auto next = [&] {
    int64_t index = 0;
    std::memcpy(&index, at, sizeof index);
    at += sizeof index;
    return index;
  };
  int64_t last = -1;
  for (int64_t value = 0; value < values; ++value) {
    int64_t flat = 0;
    bool inside = size > 0;
    if (rows) {
      for (int64_t dim : sparse.dims) {
        const int64_t index = next();
        inside = inside && index >= 0 && index < dim;
        if (inside) flat = flat * dim + index;
      }
    } else {
      flat = next();
      inside = inside && flat >= 0 && flat < size;
    }
    if (!inside) return reader.fail(fmt::format("indices: number {} is outside of dims", value));
    if (flat <= last) return reader.fail(fmt::format("indices: number {} does not ascend", value));
    last = flat;
  }
}

}  // namespace

TensorData read_tensor(WireReader reader, ReadContext& context) {
  WireReader again = reader;
  TensorData out;
  const Head head = read_head(reader, out);
  if (reader.failed() || !check_dims(reader, out.dims)) return out;
  const bool strings = out.type == ElementType::string;
  const int bits = bits_of(out.type);
  if (bits == 0 && !strings) {
    reader.fail(fmt::format("data_type: {} has no elements", name_of(out.type)));
    return out;
  }
  const std::optional<int64_t> needed = bytes_of(out.element_count(), bits);
  if (!needed) reader.fail("dims: the number of bytes is beyond 64 bits");
  check_place(reader, head, out.type);
  if (reader.failed()) return out;
  if (head.is_external) {
    const Status mapped = map_external(head.external, *needed, context, out);
    if (!mapped.ok()) reader.fail("external_data: " + mapped.message(), mapped.code());
  } else if (strings) {
    while (again.next())
      if (again.field() == 6)
        out.strings.emplace_back(again.bytes("string_data", out.strings.size()));
    check_count(reader, "texts", out.strings.size(), out.element_count(), out);
  } else {
    out.bytes = head.raw;
    out.owner = context.owner;
    if (head.data_fields != 0 && head.raw.empty()) read_elements(again, *needed, out);
    check_count(reader, "bytes", out.bytes.size(), *needed, out);
  }
  if (!reader.failed()) check_booleans(reader, out);
  return out;
}

SparseTensorData read_sparse_tensor(WireReader reader, ReadContext& context) {
  SparseTensorData out;
  bool values = false, indices = false;
  while (reader.next()) switch (reader.field()) {
      case 1:
        out.values = read_tensor(reader.message("values"), context);
        values = true;
        break;
      case 2:
        out.indices = read_tensor(reader.message("indices"), context);
        indices = true;
        break;
      case 3: reader.integers("dims", [&](int64_t dim) { out.dims.push_back(dim); }); break;
    }
  if (!values || !indices) reader.fail("a sparse tensor without values or indices");
  if (!reader.failed() && check_dims(reader, out.dims)) check_indices(reader, out);
  return out;
}

}  // namespace stria::onnx
