// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/text/cursor.h"

#include <charconv>
#include <limits>

#include "stria/base/text.h"

namespace stria::stripe {
namespace {

using Wide = __int128;

bool fits_int64(Wide value) {
  return value >= std::numeric_limits<int64_t>::min() &&
         value <= std::numeric_limits<int64_t>::max();
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Whether `value`, which is -`magnitude` or `magnitude`, is a number of integer type `type`.
bool fits_type(DataType type, bool negative, uint64_t magnitude) {
  int bits = bit_width(type);
  if (type == DataType::boolean) return magnitude <= 1 && !(negative && magnitude == 1);
  if (is_unsigned_integer(type)) {
    if (negative) return magnitude == 0;
    return bits == 64 || magnitude < (uint64_t{1} << bits);
  }
  uint64_t limit = uint64_t{1} << (bits - 1);
  return negative ? magnitude <= limit : magnitude < limit;
}

template <typename T>
bool parse_real(std::string_view text, T& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (end != text.data() + text.size()) return false;
  // Beyond the range is infinity or zero in every language; here it is a slip.
  return error == std::errc();
}

// "d3" -> 3.
bool parse_dimension(std::string_view name, int& out) {
  if (name.size() < 2 || name[0] != 'd') return false;
  auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), out);
  return error == std::errc() && end == name.data() + name.size();
}

}  // namespace

const Token& Cursor::peek(size_t ahead) const {
  size_t last = list_->tokens.size() - 1;
  return list_->tokens[std::min(at_ + ahead, last)];
}

void Cursor::advance() {
  if (at_ + 1 < list_->tokens.size()) ++at_;
}

void Cursor::stop() {
  at_ = list_->tokens.size() - 1;
  stopped_ = true;
}

bool Cursor::accept(std::string_view symbol) {
  if (!peek().is(symbol)) return false;
  advance();
  return true;
}

bool Cursor::expect(std::string_view symbol, std::string_view where) {
  if (accept(symbol)) return true;
  return fail(fmt::format("expected '{}' {}", symbol, where));
}

bool Cursor::fail(const std::string& message) {
  const Token& token = peek();
  SourceSpan span = token.span;
  std::string found;
  if (token.kind == TokenKind::end) {
    found = "the end of the text";
  } else {
    constexpr size_t kShown = 40;
    std::string prefix = token.kind == TokenKind::scalar ? "$"
                         : token.kind == TokenKind::tag  ? "#"
                                                         : "";
    std::string text = prefix + std::string(token.text.substr(0, kShown));
    found = "'" + text + (token.text.size() > kShown ? "…'" : "'");
  }
  fail_at(span, message + ", found " + found);
  // Whatever else is missing at the end of the text, or behind a last token cut short, is the same
  // mistake.
  if (token.kind == TokenKind::end || peek(1).kind == TokenKind::end) stop();
  return false;
}

bool Cursor::fail_at(SourceSpan span, const std::string& message) {
  if (stopped_) return false;
  diagnostics_->error(span, message);
  if (diagnostics_->error_count() >= kMaxErrors) stop();
  return false;
}

bool Cursor::read_name(std::string& out, std::string_view what) {
  if (peek().kind != TokenKind::name) return fail(fmt::format("expected {}", what));
  out = peek().text;
  advance();
  return true;
}

bool Cursor::read_scalar(std::string& out, std::string_view what) {
  if (peek().kind != TokenKind::scalar) return fail(fmt::format("expected {} such as $x", what));
  out = peek().text;
  advance();
  return true;
}

bool Cursor::read_magnitude(uint64_t& out, std::string_view what, bool hex) {
  if (peek().kind != TokenKind::number) return fail(fmt::format("expected {}", what));
  std::string_view text = peek().text;
  int base = 10;
  if (hex && text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    base = 16;
    text.remove_prefix(2);
  }
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (error == std::errc::result_out_of_range)
    return fail(fmt::format("{} is beyond 64 bits", what));
  if (error != std::errc() || end != text.data() + text.size())
    return fail(fmt::format("expected {}, a whole number", what));
  advance();
  return true;
}

bool Cursor::read_integer(int64_t& out, std::string_view what, bool hex) {
  SourceSpan span = peek().span;
  bool negative = accept("-");
  uint64_t magnitude = 0;
  if (!read_magnitude(magnitude, what, hex)) return false;
  Wide value = negative ? -static_cast<Wide>(magnitude) : static_cast<Wide>(magnitude);
  if (!fits_int64(value)) return fail_at(span, fmt::format("{} is beyond the limits of i64", what));
  out = static_cast<int64_t>(value);
  return true;
}

bool Cursor::read_type(DataType& out) {
  if (peek().kind == TokenKind::name) {
    if (auto type = parse_data_type(peek().text)) {
      out = *type;
      advance();
      return true;
    }
  }
  std::string hint = did_you_mean(peek().text, data_type_names());
  return fail(fmt::format("expected a data type (bool, i8 … u64, fp16, bf16, fp32, fp64{})", hint));
}

bool Cursor::read_real(DataType type, bool negative, double& out) {
  const Token& token = peek();
  double value = 0;
  if (token.is_name("inf")) {
    value = std::numeric_limits<double>::infinity();
  } else if (token.is_name("nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (token.kind != TokenKind::number) {
    return fail("expected a number, inf or nan");
  } else if (type == DataType::fp32) {
    // Straight to float: through double the text would be rounded twice.
    float single = 0;
    if (!parse_real(token.text, single)) return fail("expected a number that fp32 can hold");
    value = single;
  } else if (!parse_real(token.text, value)) {
    return fail("expected a number that fp64 can hold");
  }
  advance();
  out = negative ? -value : value;
  return true;
}

bool Cursor::read_literal(DataType type, Scalar& out) {
  SourceSpan span = peek().span;
  if (type == DataType::boolean && (peek().is_name("true") || peek().is_name("false"))) {
    out = Scalar::of_bool(peek().is_name("true"));
    advance();
    return true;
  }
  bool negative = accept("-");
  if (is_float(type)) {
    double value = 0;
    if (!read_real(type, negative, value)) return false;
    out = Scalar::of_float(type, value);
    bool overflow = out.f - out.f != 0 && value - value == 0;
    if (overflow)
      return fail_at(span, fmt::format("{} cannot hold a number this large", name_of(type)));
    return true;
  }
  uint64_t magnitude = 0;
  if (!read_magnitude(magnitude, fmt::format("a constant of type {}", name_of(type)), false))
    return false;
  if (!fits_type(type, negative, magnitude))
    return fail_at(
        span, fmt::format("{} cannot hold {}{}", name_of(type), negative ? "-" : "", magnitude));
  out = Scalar::of_int(type, static_cast<int64_t>(negative ? -magnitude : magnitude));
  return true;
}

bool Cursor::read_text(std::string& out) {
  std::string_view text = peek().text;
  SourceSpan span = peek().span;
  advance();
  if (text.size() < 2 || text.back() != '"') return false;  // the lexer has reported it
  text = text.substr(1, text.size() - 2);
  out.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    char c = i + 1 < text.size() ? text[++i] : '\0';
    if (c == 'n') {
      out += '\n';
    } else if (c == 't') {
      out += '\t';
    } else if (c == '"' || c == '\\') {
      out += c;
    } else if (c == 'x' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
               hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(16 * hex_digit(text[i + 1]) + hex_digit(text[i + 2]));
      i += 2;
    } else {
      return fail_at({span.begin + i, span.begin + i + 2},
                     "only \\n, \\t, \\\", \\\\ and \\xHH may stand in a string");
    }
  }
  return true;
}

bool Cursor::read_value(TagValue& out) {
  const Token& token = peek();
  if (token.is_name("true") || token.is_name("false")) {
    out = token.is_name("true");
    advance();
    return true;
  }
  if (token.kind == TokenKind::string) {
    std::string text;
    if (!read_text(text)) return false;
    out = std::move(text);
    return true;
  }
  const Token& number = token.is("-") ? peek(1) : token;
  bool real = number.is_name("inf") || number.is_name("nan") ||
              (number.kind == TokenKind::number &&
               number.text.find_first_of(".eE") != std::string_view::npos);
  if (real) {
    bool negative = accept("-");
    double value = 0;
    if (!read_real(DataType::fp64, negative, value)) return false;
    out = value;
    return true;
  }
  int64_t value = 0;
  if (!read_integer(value, "a value: a number, true, false or a string")) return false;
  out = value;
  return true;
}

bool Cursor::read_tags(Tags& out) {
  while (peek().kind == TokenKind::tag) {
    std::string name(peek().text);
    if (out.has(name))
      return fail_at(peek().span, fmt::format("the tag '#{}' stands here twice", name));
    if (!is_identifier(name))
      return fail_at(peek().span, fmt::format("a tag begins with a letter, '#{}' does not", name));
    advance();
    TagValue value;
    if (accept("=") && !read_value(value)) return false;
    out.set(name, std::move(value));
  }
  return true;
}

bool Cursor::read_affine(Affine& out) {
  SourceSpan span = peek().span;
  Wide constant = 0;
  std::map<std::string_view, Wide> terms;
  bool first = true;
  while (true) {
    bool negative = false;
    if (peek().is("+") || peek().is("-")) {
      negative = peek().is("-");
      advance();
    } else if (!first) {
      break;
    }
    first = false;
    Wide factor = negative ? -1 : 1;
    uint64_t magnitude = 1;
    std::string_view name;
    bool number = peek().kind == TokenKind::number;
    if (number) {
      if (!read_magnitude(magnitude, "a coefficient", false)) return false;
      if (!fits_int64(factor * magnitude))
        return fail_at(span, "a number in this form is beyond the limits of i64");
    }
    if (!number || accept("*")) {
      if (peek().kind != TokenKind::name) return fail("expected an index name or a number");
      name = peek().text;
      advance();
      if (!number && accept("*") && !read_magnitude(magnitude, "a coefficient", false))
        return false;
    }
    Wide& target = name.empty() ? constant : terms[name];
    target += factor * magnitude;
    if (!fits_int64(target)) return fail_at(span, "a sum in this form is beyond the limits of i64");
  }
  out = Affine(static_cast<int64_t>(constant));
  for (const auto& [name, coefficient] : terms)
    out.add_term(name, static_cast<int64_t>(coefficient));
  return true;
}

bool Cursor::read_affines(std::vector<Affine>& out, std::string_view what) {
  if (!expect("[", fmt::format("before {}", what))) return false;
  while (!accept("]")) {
    if (at_end()) return expect("]", fmt::format("after {}", what));
    Affine form;
    if (!read_affine(form)) return false;
    out.push_back(std::move(form));
    accept(",");
  }
  return true;
}

bool Cursor::read_bit_form(BitFieldForm& out) {
  bool first = true;
  while (true) {
    SourceSpan span = peek().span;
    bool negative = false;
    if (peek().is("+") || peek().is("-")) {
      negative = peek().is("-");
      advance();
    } else if (!first) {
      return true;
    }
    uint64_t magnitude = 1;
    bool number = peek().kind == TokenKind::number;
    if (number && !read_magnitude(magnitude, "a factor", false)) return false;
    Wide value = negative ? -static_cast<Wide>(magnitude) : static_cast<Wide>(magnitude);
    if (!fits_int64(value)) return fail_at(span, "the factor is beyond the limits of i64");
    if (number && !accept("*")) {
      if (!first) return fail_at(span, "the constant comes first in a form of bit fields");
      out.constant = static_cast<int64_t>(value);
      first = false;
      continue;
    }
    first = false;
    BitField field;
    field.factor = static_cast<int64_t>(value);
    std::string_view name = peek().kind == TokenKind::name ? peek().text : "";
    int dim = 0;
    if (!parse_dimension(name, dim))
      return fail("expected a bit field such as d0[2+:3], three bits of dimension 0 from bit 2");
    advance();
    int64_t low = 0, bits = 0;
    if (!expect("[", "before the bits of a dimension") || !read_integer(low, "the lowest bit"))
      return false;
    if (!expect("+", "after the lowest bit (as in d0[2+:3])") || !expect(":", "after '+'"))
      return false;
    SourceSpan bits_span = peek().span;
    if (!read_integer(bits, "the number of bits")) return false;
    if (low < 0 || low > 62 || bits < 1 || bits > 62)
      return fail_at(
          bits_span,
          fmt::format("a bit field of {} bits from bit {}: bits 0 to 62 there are", bits, low));
    if (!expect("]", "after the bits of a dimension")) return false;
    field.dim = dim;
    field.low_bit = static_cast<int>(low);
    field.bits = static_cast<int>(bits);
    out.fields.push_back(field);
  }
}

bool Cursor::read_unit(LocationUnit& out) {
  if (!read_name(out.name, "the name of a unit")) return false;
  if (peek().is("[") && !read_affines(out.units, "the number of a unit")) return false;
  if (!accept("(")) return true;
  while (!accept(")")) {
    if (at_end()) return expect(")", "after the owners");
    std::string name;
    BitFieldForm form;
    if (!read_name(name, "an owner such as lane or slot")) return false;
    if (!expect("=", "after the owner's name") || !read_bit_form(form)) return false;
    out.owners.emplace_back(std::move(name), std::move(form));
    accept(",");
  }
  return true;
}

bool Cursor::read_location(Location& out) {
  if (!accept("<")) return true;
  if (accept(">")) return true;
  if (peek().is("[")) {
    SourceSpan span = peek().span;
    std::vector<Affine> units;
    if (!read_affines(units, "the number of a unit")) return false;
    if (units != std::vector<Affine>{Affine(0)})
      return fail_at(span, "only [0] may stand without a unit's name: it is the empty location");
    return expect(">", "after an empty location");
  }
  do {
    LocationUnit unit;
    if (!read_unit(unit)) return false;
    out.path.push_back(std::move(unit));
  } while (accept("/"));
  return expect(">", "after the location");
}

}  // namespace stria::stripe
