// SPDX-License-Identifier: Apache-2.0
// Reads selectors: cuts the text into terms, and each term into a word, a sign and a value.
#include <algorithm>
#include <span>

#include "stria/base/number_text.h"
#include "stria/base/shown_text.h"
#include "stria/base/status.h"
#include "stria/base/text.h"
#include "stria/runtime/pick/device_selector.h"
#include "stria/runtime/pick/quantity.h"
#include "stria/runtime/pick/selector_words.h"

namespace stria {
namespace {

constexpr const char* kForms = "it is PLUGIN, PLUGIN:N, PLUGIN:NAME, a condition or auto";

// A byte of the text that is no part of the notation.
struct Letter {
  char c;
  bool quoted;
  size_t at;  // in the text
};
using Letters = std::span<const Letter>;

bool is(const Letter& letter, char c) { return letter.c == c && !letter.quoted; }
bool is_blank(const Letter& letter) {
  return is(letter, ' ') || is(letter, '\t') || is(letter, '\r');
}

Letters trimmed(Letters letters) {
  while (!letters.empty() && is_blank(letters.front())) letters = letters.subspan(1);
  while (!letters.empty() && is_blank(letters.back())) letters = letters.first(letters.size() - 1);
  return letters;
}

std::string text_of(Letters letters) {
  std::string out;
  for (const Letter& letter : letters) out += letter.c;
  return out;
}

// What is quoted means itself.
std::string pattern_of(Letters letters) {
  std::string out;
  for (const Letter& letter : letters) {
    const bool special = letter.c == '*' || letter.c == '?' || letter.c == '[';
    out += letter.quoted && special ? std::string{'[', letter.c, ']'} : std::string{letter.c};
  }
  return out;
}

bool any_quoted(Letters letters) {
  return std::any_of(letters.begin(), letters.end(), [](const Letter& l) { return l.quoted; });
}

std::vector<Letters> split_at(Letters letters, char separator) {
  std::vector<Letters> out;
  size_t begin = 0;
  for (size_t i = 0; i <= letters.size(); ++i) {
    if (i < letters.size() && !is(letters[i], separator)) continue;
    out.push_back(trimmed(letters.subspan(begin, i - begin)));
    begin = i + 1;
  }
  return out;
}

// A term taken apart: "mem", ">=", "8G".
struct Parts {
  Letters word;
  std::string_view sign;  // "" if the term is a word alone
  Letters value;
};

Parts parts_of(Letters term) {
  constexpr std::string_view kSigns[] = {">=", "<=", ":", "=", ">", "<"};
  for (size_t i = 0; i < term.size(); ++i)
    for (const std::string_view sign : kSigns) {
      if (!is(term[i], sign[0])) continue;
      if (sign.size() == 2 && (i + 1 == term.size() || !is(term[i + 1], sign[1]))) continue;
      return {trimmed(term.first(i)), sign, trimmed(term.subspan(i + sign.size()))};
    }
  return {term, "", {}};
}

bool is_plugin_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '*' || c == '?';
}

class SelectorParser {
 public:
  explicit SelectorParser(std::string_view text) : text_(text) {}

  Result<DeviceSelector> parse() {
    if (text_.size() > kMaxSelectorBytes)
      return invalid_argument("the device selector has {} bytes; the limit is {}", text_.size(),
                              kMaxSelectorBytes);
    STRIA_RETURN_IF_ERROR(cut());
    if (terms_.empty()) return invalid_argument("the device selector is empty; {}", kForms);
    if (terms_.size() > kMaxSelectorTerms)
      return invalid_argument("the device selector has {} terms; the limit is {}", terms_.size(),
                              kMaxSelectorTerms);
    for (const std::vector<Letter>& term : terms_) {
      Letters letters = trimmed(term);
      STRIA_RETURN_IF_ERROR(take_isolated(letters, &term == terms_.data()));
      STRIA_RETURN_IF_ERROR(add(letters));
    }
    const bool named =
        std::any_of(out_.terms.begin(), out_.terms.end(), [](const SelectorTerm& term) {
          return term.kind == SelectorTerm::Kind::device && !term.negated;
        });
    if (!named) out_.automatic = true;
    return std::move(out_);
  }

 private:
  template <typename... Args>
  Status wrong(size_t at, fmt::format_string<Args...> what, Args&&... args) const {
    const std::string_view before = text_.substr(0, at);
    const size_t line = before.rfind('\n') + 1;  // npos + 1 is 0
    size_t column = 1;
    for (const char c : before.substr(line))
      column += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    const std::string place =
        text_.find('\n') == std::string_view::npos
            ? fmt::format("character {}", column)
            : fmt::format("line {}, character {}",
                          1 + std::count(before.begin(), before.end(), '\n'), column);
    return invalid_argument("device selector '{}', {}: {}", shown_name(text_), place,
                            fmt::format(what, std::forward<Args>(args)...));
  }

  // Terms stand between commas and line ends; a line that begins with # is a comment.
  Status cut() {
    std::vector<Letter> term;
    size_t comma = std::string_view::npos;  // the last one, while nothing has come behind it
    const auto blank = [&] { return trimmed(term).empty(); };
    const auto end_term = [&] {
      if (!blank()) {
        terms_.push_back(std::move(term));
        comma = std::string_view::npos;
      }
      term.clear();
    };
    bool fresh = true;  // nothing but blanks on this line so far
    for (size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '\n') {
        end_term();
        fresh = true;
        continue;
      }
      if (c == '#' && fresh) {
        while (i + 1 < text_.size() && text_[i + 1] != '\n') ++i;
        continue;
      }
      if (c == ',') {
        if (blank() && (terms_.empty() || comma != std::string_view::npos))
          return wrong(i, "there is no term before the comma");
        end_term();
        comma = i;
        fresh = false;
        continue;
      }
      if (c == '"') {
        STRIA_RETURN_IF_ERROR(cut_quoted(i, term));
      } else if (is_control(static_cast<unsigned char>(c)) && c != '\t' && c != '\r') {
        return wrong(i, "there is the control character {}", escaped_byte(c));
      } else {
        term.push_back({c, false, i});
      }
      fresh = fresh && (c == ' ' || c == '\t' || c == '\r');
    }
    end_term();
    if (comma != std::string_view::npos) return wrong(comma, "there is no term behind the comma");
    return Status();
  }

  // From the quote at `i` to its end, where `i` is then; two quotes inside are one.
  Status cut_quoted(size_t& i, std::vector<Letter>& term) const {
    const size_t begin = i, before = term.size();
    for (++i; i < text_.size(); ++i) {
      if (is_control(static_cast<unsigned char>(text_[i])))
        return wrong(i, "there is the control character {} in quotes", escaped_byte(text_[i]));
      if (text_[i] == '"') {
        if (i + 1 >= text_.size() || text_[i + 1] != '"') break;
        ++i;
      }
      term.push_back({text_[i], true, i});
    }
    if (i == text_.size()) return wrong(begin, "the quotes that begin here have no end");
    if (term.size() == before) return wrong(begin, "there is nothing in the quotes");
    return Status();
  }

  // `isolated:` in front of the first term holds for all; others may repeat it.
  Status take_isolated(Letters& term, bool first) {
    const Parts parts = parts_of(term);
    if (parts.sign != ":" || any_quoted(parts.word) || text_of(parts.word) + ":" != kIsolated)
      return Status();
    if (!first && !out_.isolated)
      return wrong(term[0].at,
                   "'isolated:' holds for the whole selector, and stands in front of it");
    if (parts.value.empty())
      return wrong(term[0].at, "there is nothing behind 'isolated:'; {}", kForms);
    out_.isolated = true;
    term = parts.value;
    return Status();
  }

  Status add(Letters term) {
    const Letters whole = term;
    SelectorTerm made;
    if (is(term[0], '!')) {
      made.negated = true;
      term = trimmed(term.subspan(1));
      if (term.empty()) return wrong(whole[0].at, "there is nothing behind '!'");
      if (is(term[0], '!'))
        return wrong(term[0].at, "a second '!' takes the first one back: leave both out");
    }
    const Parts parts = parts_of(term);
    const bool plain = !any_quoted(parts.word);
    const std::string word = plain ? text_of(parts.word) : "";
    const auto& keys = selector_keys();
    const bool key = std::find(keys.begin(), keys.end(), word) != keys.end();
    if (parts.sign.empty() && key)
      return wrong(
          term[0].at,
          "'{}' has no value, as in {} (a shell takes < and > for itself: quote the selector)",
          word, example(word));
    const bool device =
        !plain ||
        (parts.sign.empty() ? word != "auto" && word != "real" && word != "isolated"
                            : parts.sign == ":" && !key && word != "auto" && word != "isolated");
    if (device && (parts.sign.empty() || parts.sign == ":")) return add_device(term, parts, made);
    if (word == "isolated")
      return wrong(term[0].at, "'isolated:' stands once, in front of the whole selector");
    if (word == "auto") return add_automatic(term, parts, made.negated);
    if (word == "real") {
      if (!parts.sign.empty()) return wrong(term[0].at, "'real' stands alone: it has no value");
      made.kind = SelectorTerm::Kind::real;
      out_.terms.push_back(std::move(made));
      return Status();
    }
    if (!key)
      return wrong(term[0].at, "'{}' is no condition{} (conditions: {}, real)",
                   shown_name(text_of(parts.word)),
                   did_you_mean(text_of(parts.word), selector_words()), join(keys, ", "));
    if (parts.value.empty())
      return wrong(term[0].at, "'{}{}' has no value, as in {}", word, parts.sign, example(word));
    if (word == "runs" || word == "deadline" || word == "power") {
      if (made.negated)
        return wrong(whole[0].at, "'{}' is no property of a device: it cannot have a '!'", word);
      return add_limit(word, parts);
    }
    return add_condition(word, parts, std::move(made));
  }

  static std::string_view example(std::string_view key) {
    if (key == "mem") return "mem>=8G";
    if (key == "dtype") return "dtype:bf16";
    if (key == "kind") return "kind:gpu";
    if (key == "vendor") return "vendor:*acme*";
    if (key == "runs") return "runs=1000";
    if (key == "deadline") return "deadline<=5ms";
    return "power<=25W";
  }

  Status add_automatic(Letters term, const Parts& parts, bool negated) {
    if (negated) return wrong(term[0].at, "'auto' is no device: it cannot have a '!'");
    if (out_.automatic) return wrong(term[0].at, "'auto' stands there twice");
    out_.automatic = true;
    if (parts.sign.empty()) return Status();
    static const std::vector<std::string> names = {"latency", "throughput", "energy",
                                                   "first-result"};
    const std::string name = text_of(parts.value);
    for (const Objective one :
         {Objective::latency, Objective::throughput, Objective::energy, Objective::first_result})
      if (parts.sign == ":" && !any_quoted(parts.value) && name == name_of(one)) {
        out_.objective = one;
        return Status();
      }
    return wrong(term[0].at, "'{}' is not what auto can look for{} (auto alone, or auto: with {})",
                 shown_name(text_of(term)), did_you_mean(name, names), join(names, ", "));
  }

  Status add_device(Letters term, const Parts& parts, SelectorTerm& made) {
    made.plugin = pattern_of(parts.word);
    if (made.plugin.empty() ||
        !std::all_of(made.plugin.begin(), made.plugin.end(), is_plugin_letter))
      return wrong(term[0].at, "'{}' does not begin with the name of a plugin; {}",
                   shown_name(text_of(term)), kForms);
    if (!parts.sign.empty()) {
      const std::string text = text_of(parts.value);
      const bool quoted = any_quoted(parts.value);
      if (text.empty())
        return wrong(term[0].at, "'{}:' has nothing behind its colon; {}", made.plugin, kForms);
      const bool minus = text.size() > 1 && text[0] == '-';
      const bool digits = text.find_first_not_of("0123456789", minus ? 1 : 0) == std::string::npos;
      // No number begins with 0 but 0 itself: it is the name of a device.
      if (digits && !quoted && (minus || text.size() == 1 || text[0] != '0')) {
        if (minus) return wrong(parts.value[0].at, "'{}' is negative; devices count from 0", text);
        const auto number = parse_unsigned(text, 0, UINT32_MAX);
        if (!number.ok()) return wrong(parts.value[0].at, "{}", number.status().message());
        made.number = static_cast<uint32_t>(*number);
      } else {
        made.device = pattern_of(parts.value);
      }
    }
    out_.terms.push_back(std::move(made));
    return Status();
  }

  Status add_condition(std::string_view word, const Parts& parts, SelectorTerm made) {
    if (word == "mem") {
      made.kind = SelectorTerm::Kind::memory;
      if (parts.sign == "=")
        return wrong(parts.word[0].at,
                     "'mem=' says neither at least nor at most: mem>=8G, mem<=8G");
      made.comparison = parts.sign == "<="  ? Comparison::at_most
                        : parts.sign == ">" ? Comparison::more
                        : parts.sign == "<" ? Comparison::less
                                            : Comparison::at_least;
      const auto bytes = parse_bytes(text_of(parts.value));
      if (!bytes.ok()) return wrong(parts.value[0].at, "{}", bytes.status().message());
      made.bytes = *bytes;
      out_.terms.push_back(std::move(made));
      return Status();
    }
    if (parts.sign != ":" && parts.sign != "=")
      return wrong(parts.word[0].at, "'{}' has no order: write {}", word, example(word));
    made.kind = word == "dtype"  ? SelectorTerm::Kind::type
                : word == "kind" ? SelectorTerm::Kind::kind
                                 : SelectorTerm::Kind::vendor;
    for (const Letters one : split_at(parts.value, '|')) {
      if (one.empty()) return wrong(parts.value[0].at, "one of the values between '|' is empty");
      if (made.kind != SelectorTerm::Kind::type) {
        made.patterns.push_back(pattern_of(one));
        continue;
      }
      const std::string name = text_of(one);
      const std::optional<DataType> type = parse_tensor_type(name);
      if (!type)
        return wrong(one[0].at, "'{}' is no type of elements{} (types: {})", shown_name(name),
                     did_you_mean(name, tensor_type_names()), join(tensor_type_names(), ", "));
      made.types.push_back(*type);
    }
    out_.terms.push_back(std::move(made));
    return Status();
  }

  Status add_limit(std::string_view word, const Parts& parts) {
    constexpr uint64_t kMostRuns = 1'000'000'000'000'000;
    const std::string value = text_of(parts.value);
    const size_t at = parts.value[0].at;
    if (word == "runs" ? parts.sign.size() == 2 || parts.sign == "<" || parts.sign == ">"
                       : parts.sign[0] == '>' || parts.sign == "<")
      return wrong(parts.word[0].at, "'{}{}' is not what can be said of it: write {}", word,
                   parts.sign, example(word));
    if (word == "runs"       ? out_.runs.has_value()
        : word == "deadline" ? out_.deadline_s.has_value()
                             : out_.power_w.has_value())
      return wrong(parts.word[0].at, "'{}' stands there twice", word);
    Status failed;
    if (word == "runs") {
      const auto runs = parse_unsigned(value, 1, kMostRuns);
      if (runs.ok()) out_.runs = *runs;
      failed = runs.status();
    } else {
      const auto number = word == "deadline" ? parse_seconds(value) : parse_watts(value);
      if (number.ok()) (word == "deadline" ? out_.deadline_s : out_.power_w) = *number;
      failed = number.status();
    }
    return failed.ok() ? Status() : wrong(at, "{}", failed.message());
  }

  std::string_view text_;
  std::vector<std::vector<Letter>> terms_;
  DeviceSelector out_;
};

}  // namespace

const std::vector<std::string>& selector_keys() {
  static const std::vector<std::string> keys = {"mem",  "dtype",    "kind", "vendor",
                                                "runs", "deadline", "power"};
  return keys;
}

const std::vector<std::string>& selector_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all = selector_keys();
    all.insert(all.end(), {"auto", "real", "isolated"});
    return all;
  }();
  return words;
}

bool is_selector_word(std::string_view word) {
  const auto& words = selector_words();
  return std::find(words.begin(), words.end(), word) != words.end();
}

Result<DeviceSelector> parse_device_selector(std::string_view text) {
  return SelectorParser(text).parse();
}

}  // namespace stria
