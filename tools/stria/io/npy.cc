// SPDX-License-Identifier: Apache-2.0
#include "stria/tensor_io/npy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "stria/base/input_file.h"
#include "stria/base/shown_text.h"
#include "stria/type/scalar.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

static_assert(std::endian::native == std::endian::little, "npy.cc writes native bytes as '<'");

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kAlignment = 64;       // of the data in a file we write
constexpr size_t kMaxHeader = 1 << 20;  // longer headers are garbage, not tensors
constexpr size_t kMaxRank = 256;

// Reads the Python literal of a header: only what a header may hold.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Status read(NpyHeader& header) {
    bool seen[3] = {};
    STRIA_RETURN_IF_ERROR(expect('{'));
    while (!accept('}')) {
      STRIA_ASSIGN(std::string key, string("a key"));
      STRIA_RETURN_IF_ERROR(expect(':'));
      int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (which < 0) return malformed("unknown key '" + shown_name(key) + "'");
      if (seen[which]) return malformed("key '" + key + "' stands twice");
      seen[which] = true;
      if (which == 0) STRIA_RETURN_IF_ERROR(descr(header));
      if (which == 1) STRIA_RETURN_IF_ERROR(boolean(header.fortran_order));
      if (which == 2) STRIA_RETURN_IF_ERROR(shape(header.sizes));
      if (!accept(',')) {
        STRIA_RETURN_IF_ERROR(expect('}'));
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) return malformed("text after the closing '}'");
    const char* names[] = {"descr", "fortran_order", "shape"};
    for (int i = 0; i < 3; ++i)
      if (!seen[i]) return malformed(fmt::format("key '{}' is missing", names[i]));
    return Status();
  }

 private:
  Status malformed(std::string_view why) const {
    return invalid_argument("'{}' has a malformed .npy header: {} at header byte {}", name_, why,
                            at_);
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Status expect(char c) {
    return accept(c) ? Status() : malformed(fmt::format("expected '{}'", c));
  }
  Result<std::string> string(std::string_view what) {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      return malformed(fmt::format("expected {} in quotes", what));
    size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return malformed("a quote is not closed");
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }
  Status boolean(bool& out) {
    skip_space();
    for (auto [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      out = value;
      return Status();
    }
    return malformed("expected True or False");
  }
  Status shape(std::vector<int64_t>& sizes) {
    STRIA_RETURN_IF_ERROR(expect('('));
    while (!accept(')')) {
      skip_space();
      int64_t value = 0;
      size_t begin = at_;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text_[at_] - '0', &value))
          return malformed("a size does not fit 63 bits");
      }
      if (at_ == begin) return malformed("expected a size (a number, 0 or more)");
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
      sizes.push_back(value);
      if (sizes.size() > kMaxRank)
        return malformed(fmt::format("more than {} dimensions", kMaxRank));
      if (!accept(',')) {
        if (sizes.size() == 1) return malformed("expected ',' (a tuple of one)");
        STRIA_RETURN_IF_ERROR(expect(')'));
        break;
      }
    }
    return Status();
  }
  Status descr(NpyHeader& header) {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '[')
      return unsupported("'{}' holds records (structured elements); stria reads plain numbers",
                         name_);
    STRIA_ASSIGN(std::string text, string("an element type"));
    struct Known {
      std::string_view code;
      DataType type;
    };
    static constexpr Known kKnown[] = {
        {"b1", DataType::boolean}, {"i1", DataType::i8},   {"i2", DataType::i16},
        {"i4", DataType::i32},     {"i8", DataType::i64},  {"u1", DataType::u8},
        {"u2", DataType::u16},     {"u4", DataType::u32},  {"u8", DataType::u64},
        {"f2", DataType::fp16},    {"f4", DataType::fp32}, {"f8", DataType::fp64},
        {"V2", DataType::u16},     {"V1", DataType::u8},   {"f1", DataType::u8},
    };
    // One element in each byte, as ml_dtypes has them in memory.
    static constexpr Known kPacked[] = {
        {"float8_e4m3fn", DataType::fp8_e4m3},
        {"float8_e5m2", DataType::fp8_e5m2},
        {"float4_e2m1fn", DataType::fp4},
        {"int4", DataType::i4},
        {"uint4", DataType::u4},
        {"int2", DataType::i2},
        {"uint2", DataType::u2},
    };
    for (const Known& known : kPacked) {
      if (known.code != text) continue;
      header.type = DataType::u8;
      header.opaque = true;
      header.carried = known.type;
      return Status();
    }
    std::string_view code = text;
    if (!code.empty() && std::string_view("<>|=").find(code[0]) != std::string_view::npos) {
      header.big_endian = code[0] == '>';
      code.remove_prefix(1);
    }
    for (const Known& known : kKnown) {
      if (known.code != code) continue;
      header.type = known.type;
      header.opaque = code == "V2" || code == "V1" || code == "f1";
      return Status();
    }
    return unsupported("'{}' has elements of type '{}', which stria does not have (it has {})",
                       name_, shown_name(text), fmt::join(tensor_type_names(), " "));
  }

  std::string_view text_;
  std::string_view name_;
  size_t at_ = 0;
};

// Copies a dense column-major array to a dense row-major one. Runs along the last dimension of the
// target, the other dimensions as an odometer.
template <typename T>
void copy_transposed(const char* from, T* to, const std::vector<int64_t>& sizes, int64_t count) {
  const size_t rank = sizes.size();
  std::vector<int64_t> stride(rank), at(rank, 0);
  int64_t step = 1;
  for (size_t i = 0; i < rank; ++i) {
    stride[i] = step;
    step *= sizes[i];
  }
  const int64_t row = sizes[rank - 1];
  int64_t base = 0;
  for (int64_t done = 0; done < count; done += row) {
    for (int64_t j = 0; j < row; ++j)
      std::memcpy(&to[done + j], from + (base + j * stride[rank - 1]) * sizeof(T), sizeof(T));
    for (size_t d = rank - 1; d-- > 0;) {
      base += stride[d];
      if (++at[d] < sizes[d]) break;
      base -= sizes[d] * stride[d];
      at[d] = 0;
    }
  }
}

void transpose(const char* from, HostTensor& to) {
  const int64_t count = to.element_count();
  switch (byte_size(to.type())) {
    case 1: return copy_transposed(from, reinterpret_cast<uint8_t*>(to.data()), to.sizes(), count);
    case 2: return copy_transposed(from, reinterpret_cast<uint16_t*>(to.data()), to.sizes(), count);
    case 4: return copy_transposed(from, reinterpret_cast<uint32_t*>(to.data()), to.sizes(), count);
    default:
      return copy_transposed(from, reinterpret_cast<uint64_t*>(to.data()), to.sizes(), count);
  }
}

uint32_t little_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

Status cut_short(std::string_view name, std::string_view part, size_t have, size_t want) {
  return make_error(StatusCode::data_loss,
                    "'{}' is truncated: its {} needs {} bytes, the file has {}", name, part, want,
                    have);
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view bytes, std::string_view name) {
  if (bytes.substr(0, kMagic.size()) != kMagic.substr(0, std::min(bytes.size(), kMagic.size())) ||
      bytes.empty())
    return invalid_argument("'{}' is not a .npy file: it does not begin with \\x93NUMPY", name);
  if (bytes.size() < 8) return cut_short(name, ".npy header", bytes.size(), 8);
  const int major = static_cast<unsigned char>(bytes[6]);
  const int minor = static_cast<unsigned char>(bytes[7]);
  if (major < 1 || major > 3 || minor != 0)
    return unsupported("'{}' has .npy format version {}.{}; stria reads 1.0, 2.0 and 3.0", name,
                       major, minor);
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (bytes.size() < 8 + length_bytes)
    return cut_short(name, ".npy header", bytes.size(), 8 + length_bytes);
  const size_t length = little_endian(bytes.substr(8, length_bytes));
  if (length > kMaxHeader)
    return invalid_argument("'{}' has a malformed .npy header: {} bytes long, the limit is {}",
                            name, length, kMaxHeader);
  NpyHeader header;
  header.data_offset = 8 + length_bytes + length;
  if (bytes.size() < header.data_offset)
    return cut_short(name, ".npy header", bytes.size(), header.data_offset);
  STRIA_RETURN_IF_ERROR(HeaderReader(bytes.substr(8 + length_bytes, length), name).read(header));
  return header;
}

namespace {

// What the elements of the file are bits of; nothing if they are what they are.
Result<std::optional<DataType>> carried_type(const NpyHeader& header, std::string_view name,
                                             std::optional<DataType> asked) {
  const std::optional<DataType> type = header.carried ? header.carried : asked;
  if (header.carried && asked && *asked != *header.carried)
    return invalid_argument("'{}' holds {}, not {}", name, name_of(*header.carried),
                            name_of(*asked));
  if (!type) {
    if (!header.opaque) return std::optional<DataType>();
    const bool two = header.type == DataType::u16;
    return unsupported("'{}' holds opaque {} elements; if they are {}, say '{}:{}'", name,
                       two ? "two-byte" : "one-byte", two ? "bf16" : "fp8_e4m3", name,
                       two ? "bf16" : "fp8_e4m3");
  }
  const DataType carrier = *type == DataType::bf16    ? DataType::u16
                           : is_signed_integer(*type) ? DataType::i8
                                                      : DataType::u8;
  if (header.type == carrier || (header.opaque && header.type == DataType::u8 && is_packed(*type)))
    return type;
  return invalid_argument("'{}' holds {}, ':{}' needs {} carried as {}", name,
                          to_string(header.type, header.sizes), name_of(*type), name_of(*type),
                          name_of(carrier));
}

// The tensor of the file's elements. Before memory is asked for: a header can claim what it likes,
// so the file must have `have` bytes of data, where that is known.
Result<HostTensor> create_tensor(const NpyHeader& header, std::string_view name,
                                 std::optional<uint64_t> have) {
  const std::string what = fmt::format("'{}'", name);
  STRIA_RETURN_IF_ERROR(check_sizes(header.type, header.sizes, what));
  const auto want = static_cast<uint64_t>(dense_shape(header.type, header.sizes).element_count() *
                                          byte_size(header.type));
  if (have && *have < want)
    return make_error(StatusCode::data_loss,
                      "'{}' is truncated: {} needs {} bytes of data, the file has {}", name,
                      to_string(header.type, header.sizes), want, *have);
  if (have && *have > want)
    return invalid_argument("'{}' has {} bytes after its data: {} needs {} bytes, the file has {}",
                            name, *have - want, to_string(header.type, header.sizes), want, *have);
  return HostTensor::create(header.type, header.sizes, what);
}

bool is_transposed(const NpyHeader& header) {
  return header.fortran_order && header.sizes.size() > 1;
}

// Element by element from bytes of their own to shared ones.
Result<HostTensor> packed(const NpyHeader& header, std::string_view name, DataType type,
                          const HostTensor& from) {
  STRIA_ASSIGN(HostTensor out, HostTensor::create(type, from.sizes(), fmt::format("'{}'", name)));
  const int bits = bit_width(type);
  // The bits of each byte of an opaque file that are not the element's may be anything.
  const int64_t most = (1 << (bits - (is_signed_integer(type) ? 1 : 0))) - 1;
  const int64_t least = is_signed_integer(type) ? -most - 1 : 0;
  for (int64_t i = 0; i < from.element_count(); ++i) {
    const int64_t number = load_scalar(from.type(), from.data(), i).i;
    if (!header.opaque && (number < least || number > most))
      return invalid_argument("'{}': element {} is {}, {} is between {} and {}", name, i, number,
                              is_float(type) ? fmt::format("a pattern of {}", name_of(type))
                                             : std::string(name_of(type)),
                              least, most);
    // As an unsigned integer as wide, so that the bits stay what they are.
    const DataType pattern = bits == 8 ? DataType::u8 : bits == 4 ? DataType::u4 : DataType::u2;
    store_scalar(pattern, out.data(), i, Scalar::of_int(DataType::i64, number));
  }
  return out;
}

// `tensor` holds the data of the file, or `columns` does if that is in another order.
Result<HostTensor> finish_tensor(const NpyHeader& header, std::string_view name,
                                 std::optional<DataType> carried, const char* columns,
                                 HostTensor tensor) {
  const int64_t size = byte_size(header.type), count = tensor.element_count();
  if (count > 0 && is_transposed(header)) transpose(columns, tensor);
  if (header.big_endian && size > 1)
    for (int64_t i = 0; i < count; ++i)
      std::reverse(tensor.data() + i * size, tensor.data() + (i + 1) * size);
  if (header.type == DataType::boolean)  // any byte but 0 is true in numpy; here exactly 1
    for (int64_t i = 0; i < count; ++i)
      tensor.data()[i] = std::byte{tensor.data()[i] != std::byte{0}};
  if (carried && is_packed(*carried)) return packed(header, name, *carried, tensor);
  if (carried) tensor.reinterpret_as(*carried);
  return tensor;
}

// The first bytes of a file, as many as its header takes, or as there are.
Result<std::string> read_header(InputFile& file) {
  std::string bytes(kMagic.size() + 6, '\0');
  STRIA_ASSIGN(size_t got, file.read(bytes.data(), bytes.size()));
  bytes.resize(got);
  const size_t length_bytes = got > 6 && bytes[6] == 1 ? 2 : 4;
  if (got < kMagic.size() + 6 || bytes.substr(0, kMagic.size()) != kMagic) return bytes;
  const size_t length = little_endian(std::string_view(bytes).substr(8, length_bytes));
  const size_t end = 8 + length_bytes + length;
  if (length > kMaxHeader || end <= got) return bytes;
  bytes.resize(end);
  STRIA_ASSIGN(const size_t more, file.read(bytes.data() + got, end - got));
  bytes.resize(got + more);
  return bytes;
}

}  // namespace

Result<HostTensor> parse_npy(std::string_view bytes, std::string_view name,
                             std::optional<DataType> carried) {
  STRIA_ASSIGN(NpyHeader header, parse_npy_header(bytes, name));
  STRIA_ASSIGN(carried, carried_type(header, name, carried));
  STRIA_ASSIGN(HostTensor tensor, create_tensor(header, name, bytes.size() - header.data_offset));
  const char* data = bytes.data() + header.data_offset;
  if (!is_transposed(header) && tensor.byte_count() > 0)
    std::memcpy(tensor.data(), data, tensor.byte_count());
  return finish_tensor(header, name, carried, data, std::move(tensor));
}

Result<HostTensor> read_npy(const std::filesystem::path& path, std::optional<DataType> carried,
                            const NpyCheck& check) {
  const std::string name = shown_name(path.string());
  STRIA_ASSIGN(InputFile file, InputFile::open(path));
  STRIA_ASSIGN(const std::string head, read_header(file));
  STRIA_ASSIGN(const NpyHeader header, parse_npy_header(head, name));
  STRIA_ASSIGN(carried, carried_type(header, name, carried));
  if (check) STRIA_RETURN_IF_ERROR(check(carried.value_or(header.type), header.sizes));
  std::optional<uint64_t> have;
  if (file.size()) have = *file.size() - std::min<uint64_t>(*file.size(), header.data_offset);
  STRIA_ASSIGN(HostTensor tensor, create_tensor(header, name, have));
  // A short header can lie in the first bytes together with data.
  const std::string_view early = std::string_view(head).substr(header.data_offset);
  const size_t want = tensor.byte_count();
  std::string columns;
  if (is_transposed(header)) columns.resize(want);
  char* const to = is_transposed(header) ? columns.data() : reinterpret_cast<char*>(tensor.data());
  const size_t at = std::min(early.size(), want);
  if (at > 0) std::memcpy(to, early.data(), at);
  STRIA_ASSIGN(size_t got, file.read(to + at, want - at));
  got += at;
  // Only the end of a stream tells how much there is.
  char more = 0;
  size_t beyond = early.size() - at;
  if (got == want && beyond == 0) {
    STRIA_ASSIGN(beyond, file.read(&more, 1));
  }
  STRIA_RETURN_IF_ERROR(file.check_unchanged());
  if (got < want)
    return make_error(StatusCode::data_loss,
                      "'{}' is truncated: {} needs {} bytes of data, the file has {}", name,
                      to_string(header.type, header.sizes), want, got);
  if (beyond > 0)
    return invalid_argument("'{}' has more bytes after its data: {} needs {} bytes", name,
                            to_string(header.type, header.sizes), want);
  return finish_tensor(header, name, carried, columns.data(), std::move(tensor));
}

std::string format_npy(const HostTensor& tensor) {
  static constexpr std::string_view kCodes[kAllDataTypeCount] = {
      "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2",
      "<u2", "<f4", "<f8", "|u1", "|u1", "|u1", "|i1", "|u1", "|i1", "|u1"};
  std::string shape;
  for (int64_t size : tensor.sizes()) shape += fmt::format("{}, ", size);
  if (tensor.sizes().size() > 1) shape.resize(shape.size() - 2);
  if (tensor.sizes().size() == 1) shape.pop_back();
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                       kCodes[static_cast<int>(tensor.type())], shape);
  auto padded = [&](size_t prefix) {
    size_t total = prefix + dictionary.size() + 1;
    return (total + kAlignment - 1) / kAlignment * kAlignment - prefix;
  };
  const bool wide = padded(10) > 0xffff;
  const size_t prefix = wide ? 12 : 10;
  const size_t length = padded(prefix);
  std::string out;
  const DataType type = tensor.type();
  out.reserve(prefix + length +
              static_cast<size_t>(bytes_of(held_type(type), tensor.element_count())));
  out += kMagic;
  out += static_cast<char>(wide ? 2 : 1);
  out += '\0';
  for (size_t i = 0; i < prefix - 8; ++i) out += static_cast<char>(length >> (8 * i) & 0xff);
  out += dictionary;
  out.append(length - dictionary.size() - 1, ' ');
  out += '\n';
  if (!is_packed(type)) return out += tensor.bytes();
  // Integers as numbers, of floats the bits: one in each byte.
  const int bits = bit_width(type);
  const DataType read = is_integer(type) ? type : bits == 8 ? DataType::u8 : DataType::u4;
  for (int64_t i = 0; i < tensor.element_count(); ++i)
    out += static_cast<char>(load_scalar(read, tensor.data(), i).i);
  return out;
}

}  // namespace stria
