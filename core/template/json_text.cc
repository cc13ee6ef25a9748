// SPDX-License-Identifier: Apache-2.0
#include "stria/template/json_text.h"

#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "stria/base/text.h"

namespace stria {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 200;

// How a place in the text that is parsed is reported: in the template it was rendered from, if any.
class Place {
 public:
  Place(const SourceText& source, const RenderedText* rendered)
      : source_(source), rendered_(rendered) {}
  size_t in_source(size_t offset) const {
    return rendered_ ? rendered_->source_offset(offset) : offset;
  }
  TemplateReads reads_of(size_t begin, size_t end) const {
    return rendered_ ? rendered_->reads_of(begin, end) : TemplateReads();
  }
  Status fail(size_t offset, std::string message) const {
    offset = in_source(offset);
    return Status(StatusCode::invalid_argument,
                  render(source_, {Severity::error, {offset, offset + 1}, std::move(message)}));
  }

 private:
  const SourceText& source_;
  const RenderedText* rendered_;
};

// The UTF-8 of a typographic quote at `at`: U+2018 … U+201F, U+00AB, U+00BB.
bool typographic_quote(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  if (byte(at) == 0xE2 && byte(at + 1) == 0x80) return byte(at + 2) >= 0x98 && byte(at + 2) <= 0x9F;
  return byte(at) == 0xC2 && (byte(at + 1) == 0xAB || byte(at + 1) == 0xBB);
}

// Comments and trailing commas become spaces, so that offsets stay; refuses what a stricter parser
// would report less clearly.
Status clean(std::string& text, const Place& place) {
  size_t comma = std::string::npos;  // the last token, if it was a comma after a value
  char last = '[';                   // the last token's first character
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (std::isspace(static_cast<unsigned char>(c))) continue;
    if (c == '/' && i + 1 < text.size() && (text[i + 1] == '/' || text[i + 1] == '*')) {
      bool line = text[i + 1] == '/';
      size_t end = line ? text.find('\n', i) : text.find("*/", i + 2);
      if (end == std::string::npos) {
        if (!line) return place.fail(i, "this comment is not closed with '*/'");
        end = text.size();
      } else if (!line) {
        end += 2;
      }
      for (size_t j = i; j < end; ++j)
        if (text[j] != '\n') text[j] = ' ';
      i = end - 1;
      continue;
    }
    if (typographic_quote(text, i))
      return place.fail(i, "typographic quotation mark; JSON needs the straight one, \"");
    if (c == '"') {
      size_t begin = i;
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        if (text[i] == '\\') ++i;
      if (i >= text.size() || text[i] == '\n') {
        for (size_t j = begin; j < std::min(i, text.size()); ++j)
          if (typographic_quote(text, j))
            return place.fail(j, "typographic quotation mark; JSON needs the straight one, \"");
        return place.fail(begin, "this string is not closed");
      }
      comma = std::string::npos;
      last = c;
      continue;
    }
    if (c == '{' || c == '[') {
      if (++depth > kMaxDepth)
        return place.fail(i, fmt::format("nested deeper than {}", kMaxDepth));
    }
    if (c == '}' || c == ']') {
      --depth;
      if (comma != std::string::npos) text[comma] = ' ';
    }
    bool after_value = last != '[' && last != '{' && last != ',' && last != ':';
    comma = c == ',' && after_value ? i : std::string::npos;
    last = c;
  }
  return {};
}

// Keys of the objects that are open, to find one that is given twice: what json::sax_parse tells of
// a text. (The parser's callbacks would tell the same, in quadratic time.)
class DuplicateKeys {
 public:
  bool start_object(size_t) {
    open_.emplace_back();
    return true;
  }
  bool end_object() {
    open_.pop_back();
    return true;
  }
  // False at the first that is given twice.
  bool key(std::string& name) {
    if (open_.back().insert(name).second) return true;
    duplicate_ = name;
    end_ = read_;
    return false;
  }
  bool start_array(size_t) { return true; }
  bool end_array() { return true; }
  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(int64_t) { return true; }
  bool number_unsigned(uint64_t) { return true; }
  bool number_float(double, const std::string&) { return true; }
  bool string(std::string&) { return true; }
  bool binary(std::vector<uint8_t>&) { return true; }
  bool parse_error(size_t, const std::string&, const json::exception&) { return false; }
  const std::optional<std::string>& duplicate() const { return duplicate_; }
  // Where the duplicate's opening quote is in the text.
  size_t begin(const std::string& text) const {
    size_t at = text.rfind('"', end_ - 1);
    auto escaped = [&](size_t quote) {
      size_t slashes = 0;
      while (slashes < quote && text[quote - 1 - slashes] == '\\') ++slashes;
      return slashes % 2 != 0;
    };
    do at = text.rfind('"', at - 1);
    while (escaped(at));
    return at;
  }

  // Walks the text for the parser and tells how far that has read.
  class Reader {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;
    Reader(const std::string& text, size_t at, size_t* read) : text_(&text), at_(at), read_(read) {}
    const char& operator*() const { return (*text_)[at_]; }
    Reader& operator++() {
      *read_ = ++at_;
      return *this;
    }
    Reader operator++(int) {
      Reader before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Reader& other) const { return at_ == other.at_; }

   private:
    const std::string* text_;
    size_t at_;
    size_t* read_;
  };
  // The number that the parser has read last.
  std::pair<size_t, size_t> last_number(const std::string& text) const {
    const size_t end = text.find_last_of("0123456789", read_ - 1) + 1;
    return {text.find_last_not_of("0123456789+-.eE", end - 1) + 1, end};
  }
  Reader first(const std::string& text) { return {text, 0, &read_}; }
  Reader last(const std::string& text) { return {text, text.size(), &read_}; }

 private:
  std::vector<std::set<std::string>> open_;
  size_t read_ = 0;  // characters that the parser has taken
  std::optional<std::string> duplicate_;
  size_t end_ = 0;  // behind it
};

// Walks a text that is JSON, without comments, and notes where its values stand.
class PlaceReader {
 public:
  PlaceReader(const std::string& text, const Place& place, JsonPlaces& places)
      : text_(text), place_(place), places_(places) {}

  void read() {
    constexpr size_t kMaxPlaces = size_t{1} << 18;
    for (size_t at = text_begin(text_); at < text_.size() && places_.size() < kMaxPlaces;) {
      const char c = text_[at];
      if (c == '{' || c == '[') {
        std::string pointer = begin_value(at);
        open_.push_back({std::move(pointer), c == '[', 0, std::nullopt});
        ++at;
      } else if (c == '}' || c == ']') {
        open_.pop_back();
        ++at;
      } else if (c == ',') {
        ++open_.back().position;
        open_.back().key.reset();
        ++at;
      } else if (c == ':' || std::isspace(static_cast<unsigned char>(c))) {
        ++at;
      } else {
        at = token(at);
      }
    }
  }

 private:
  struct Open {
    std::string pointer;
    bool list = false;
    size_t position = 0;             // in a list
    std::optional<std::string> key;  // in an object: the pointer of the key that was read
  };

  // The pointer of the value that begins at `at`.
  std::string begin_value(size_t at) {
    std::string pointer;
    if (!open_.empty()) {
      Open& in = open_.back();
      pointer = in.list ? pointer_child(in.pointer, std::to_string(in.position)) : *in.key;
    }
    JsonPlace& place = places_[pointer];
    place.value = place_.in_source(at);
    if (open_.empty() || open_.back().list) place.key = place.value;
    return pointer;
  }

  // A key, or a value that is no object or list; gives the offset behind it.
  size_t token(size_t begin) {
    size_t end = begin + 1;
    if (text_[begin] == '"') {
      for (; text_[end] != '"'; ++end)
        if (text_[end] == '\\') ++end;
      ++end;
    } else {
      end = std::min(text_.find_first_of(",:]} \t\r\n", begin), text_.size());
    }
    if (!open_.empty() && !open_.back().list && !open_.back().key) {
      Open& in = open_.back();
      const json name = json::parse(text_.substr(begin, end - begin));
      in.key = pointer_child(in.pointer, name.get_ref<const std::string&>());
      places_[*in.key].key = place_.in_source(begin);
    } else {
      places_[begin_value(begin)].reads = place_.reads_of(begin, end);
    }
    return end;
  }

  const std::string& text_;
  const Place& place_;
  JsonPlaces& places_;
  std::vector<Open> open_;
};

// What the template's values made of the place where the text stops being JSON; "" if it is no
// place of theirs.
std::string what_values_made(const std::string& text, size_t at, const Place& place) {
  constexpr std::string_view kBetween = ",:[]{} \t\r\n";
  size_t begin = std::min(at, text.size());
  const size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
  while (begin > 0 && kBetween.find(text[begin - 1]) == std::string_view::npos) --begin;
  const bool empty = begin == end;
  TemplateReads reads = place.reads_of(begin, end);
  if (empty) {
    while (begin > 0 && std::isspace(static_cast<unsigned char>(text[begin - 1]))) --begin;
    reads.add(place.reads_of(begin, end));
  }
  const std::vector<std::string>& paths = reads.paths;
  if (paths.empty()) return "";
  if (empty) return fmt::format("{} is empty here, where JSON needs a value", join(paths, ", "));
  const std::string made = text.substr(begin, end - begin);
  // What stands beside it is wrong then.
  if (json::accept(made)) return "";
  return fmt::format(
      "{} makes '{}' here, which is no JSON value (a number, a text in quotation marks)",
      join(paths, ", "), made);
}

Result<json> parse(std::string text, const Place& place, JsonPlaces* places) {
  STRIA_RETURN_IF_ERROR(clean(text, place));
  DuplicateKeys keys;
  try {
    json value = json::parse(keys.first(text), keys.last(text));
    if (!json::sax_parse(keys.first(text), keys.last(text), &keys) && keys.duplicate())
      return place.fail(keys.begin(text), fmt::format("key {} is given twice in one object",
                                                      json(*keys.duplicate()).dump()));
    if (places) {
      places->clear();
      PlaceReader(text, place, *places).read();
    }
    return value;
  } catch (const json::parse_error& error) {
    const std::string message = json_error_text(error.what());
    const size_t at = error.byte > 0 ? error.byte - 1 : 0;
    const std::string made = what_values_made(text, at, place);
    return place.fail(at, made.empty() ? message : made);
  } catch (const json::out_of_range&) {
    const auto [begin, end] = keys.last_number(text);
    return place.fail(begin, fmt::format("{} is beyond what 64 bits of floating point hold",
                                         text.substr(begin, end - begin)));
  } catch (const json::exception& error) {
    return place.fail(0, error.what());
  }
}

}  // namespace

std::string json_error_text(std::string_view what) {
  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …".
  std::string message(what);
  if (const size_t colon = message.find(": "); colon != std::string::npos)
    message.erase(0, colon + 2);
  // Between two entries it names the end of the list alone, and mostly it is the comma that is
  // missing.
  for (const char* end : {"'}'", "']'"})
    if (const std::string expected = std::string("; expected ") + end; message.ends_with(expected))
      message.replace(message.size() - 3, 3, std::string("',' or ") + end);
  return message;
}

Result<json> parse_json_text(const SourceText& source, JsonPlaces* places) {
  return parse(source.text, Place(source, nullptr), places);
}

Result<json> parse_json_template(const SourceText& source, const json& values, JsonPlaces* places) {
  STRIA_ASSIGN(RenderedText rendered, render_template(source, values));
  return parse(rendered.text, Place(source, &rendered), places);
}

bool fits_json(const std::string& text) {
  try {
    return !json(text).dump().empty();
  } catch (const json::type_error&) {
    return false;
  }
}

std::string pointer_child(const std::string& pointer, const std::string& step) {
  std::string out = pointer + "/";
  for (char c : step) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

}  // namespace stria
