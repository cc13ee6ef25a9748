// SPDX-License-Identifier: Apache-2.0
// docs/isolation.md is what others write the other side from: it and messages.h list the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "stria/hal/isolation/messages.h"

namespace stria::hal::isolation {
namespace {

// The types of a message's fields in the page's words, "u64 u64 list(u32) ". An id is a u64.
class Words {
 public:
  template <typename... Fields>
  void operator()(Fields&... fields) {
    (put(fields), ...);
  }
  std::string text;

 private:
  template <typename T>
  void put(T& value) {
    if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      put(number);
    } else if constexpr (std::is_same_v<T, bool>) {
      text += "bool ";
    } else if constexpr (std::is_integral_v<T>) {
      text += (std::is_signed_v<T> ? 'i' : 'u') + std::to_string(8 * sizeof(T)) + ' ';
    } else if constexpr (std::is_same_v<T, std::string>) {
      text += "text ";
    } else if constexpr (std::is_same_v<T, sdk::Outcome>) {
      text += "failure ";
    } else {
      value.fields(*this);
    }
  }
  template <typename T>
  void put(std::vector<T>&) {
    T item{};
    text += "list( ";
    put(item);
    text += ") ";
  }
};

template <typename M>
std::string words_of() {
  M message;
  Words words;
  message.fields(words);
  return words.text;
}

struct Format {
  std::string name, fields, answer;
  bool operator==(const Format&) const = default;
};
void PrintTo(const Format& format, std::ostream* out) {
  *out << format.name << ": " << format.fields << "-> " << format.answer;
}

using Formats = std::map<unsigned, Format>;

template <typename M>
void add(Formats& all, std::string name) {
  Format format{std::move(name), words_of<M>(), ""};
  if constexpr (requires { typename M::Answer; }) format.answer = words_of<typename M::Answer>();
  all[static_cast<unsigned>(M::kKind)] = format;
}

Formats of_the_header() {
  Formats all;
#define STRIA_ADD(message, name) add<message>(all, #name)
  STRIA_ADD(Hello, hello);
  STRIA_ADD(Enumerate, enumerate);
  STRIA_ADD(Open, open);
  STRIA_ADD(CreateCompiler, create_compiler);
  STRIA_ADD(CreateExecutor, create_executor);
  STRIA_ADD(Allocate, allocate);
  STRIA_ADD(CreateEvent, create_event);
  STRIA_ADD(Build, build);
  STRIA_ADD(Transform, transform);
  STRIA_ADD(ListKernels, kernels);
  STRIA_ADD(Source, source);
  STRIA_ADD(Prepare, prepare);
  STRIA_ADD(Submit, submit);
  STRIA_ADD(Copy, copy);
  STRIA_ADD(Fill, fill);
  STRIA_ADD(Flush, flush);
  STRIA_ADD(Drain, drain);
  STRIA_ADD(Run, run);
  STRIA_ADD(Map, map);
  STRIA_ADD(Unmap, unmap);
  STRIA_ADD(Signal, signal);
  STRIA_ADD(End, end);
  STRIA_ADD(Release, release);
  STRIA_ADD(Close, close);
  STRIA_ADD(Estimate, estimate);
  STRIA_ADD(Shutdown, shutdown);
  STRIA_ADD(Ping, ping);
  STRIA_ADD(Wait, wait);
  STRIA_ADD(Fault, fault);
  STRIA_ADD(Bytes, bytes);
  STRIA_ADD(Done, done);
  STRIA_ADD(Log, log);
#undef STRIA_ADD
  return all;
}

// ---- the page

std::string trimmed(const std::string& text) {
  return std::regex_replace(text, std::regex("^\\s+|\\s+$"), "");
}

std::vector<std::string> split(const std::string& text, const std::string& separators) {
  std::vector<std::string> parts;
  const std::regex at(separators);
  for (std::sregex_token_iterator part(text.begin(), text.end(), at, -1), end; part != end; ++part)
    parts.push_back(trimmed(*part));
  return parts;
}

using Definitions = std::map<std::string, std::string>;

// "`id` device, `text` its id, options": a field without a type has that of the one before it.
std::string fields_in(const std::string& cell, const Definitions& definitions) {
  static const std::regex typed("^(list of )?`([a-z0-9]+)`.*");
  static const std::regex list("^list of ");
  const auto defined = [&](std::string field) {
    field = std::regex_replace(field, list, "");
    return std::find_if(definitions.begin(), definitions.end(), [&](const auto& one) {
      return field == one.first || field == one.first + "s" || field == one.first + "es";
    });
  };
  std::string words, last;
  const std::string plain = std::regex_replace(cell, std::regex("\\([^)]*\\)"), "");
  if (trimmed(plain).empty()) return "";
  for (const std::string& field : split(plain, ",")) {
    std::smatch match;
    std::string type;
    if (std::regex_match(field, match, typed)) {
      type = (match[2] == "id" ? "u64" : match.str(2)) + ' ';
    } else if (const auto one = defined(field);
               one != definitions.end() && (last.empty() || std::regex_search(field, list))) {
      type = one->second;
    } else {
      EXPECT_FALSE(last.empty()) << "a field without a type: " << field;
      words += last;
      continue;
    }
    last = std::regex_search(field, list) ? "list( " + type + ") " : type;
    words += last;
  }
  return words;
}

// "A *device* is `text` id, name." and "; an *argument* `text` name." below a table.
Definitions definitions_in(const std::string& section) {
  static const std::regex one("\\b[Aa]n?\\s+\\*([a-z]+)\\*(?: is)?\\s+([^.;]+)[.;]");
  std::vector<std::pair<std::string, std::string>> found;
  for (std::sregex_iterator match(section.begin(), section.end(), one), end; match != end; ++match)
    found.emplace_back((*match)[1], std::regex_replace((*match)[2].str(), std::regex("\n"), " "));
  // One that names another may stand before it.
  Definitions definitions;
  for (auto it = found.rbegin(); it != found.rend(); ++it)
    definitions[it->first] = fields_in(it->second, definitions);
  return definitions;
}

Formats of_the_page() {
  std::ifstream file(STRIA_SOURCE_DIR "/docs/isolation.md");
  std::stringstream page;
  page << file.rdbuf();
  static const std::regex row("^\\| ([0-9]+) `([a-z_]+)` \\|([^|]*)\\|(?:([^|]*)\\|)?$");
  Formats all;
  for (const std::string& section : split(page.str(), "\n## ")) {
    const Definitions definitions = definitions_in(section);
    for (const std::string& line : split(section, "\n")) {
      std::smatch match;
      if (!std::regex_match(line, match, row)) continue;
      const auto kind = static_cast<unsigned>(std::stoul(match[1]));
      EXPECT_FALSE(all.contains(kind)) << "the page has kind " << kind << " twice";
      all[kind] = {match[2], fields_in(match[3], definitions), fields_in(match[4], definitions)};
    }
  }
  return all;
}

TEST(IsolationPage, ListsEachMessageWithItsFields) {
  const Formats page = of_the_page(), header = of_the_header();
  for (const auto& [kind, format] : header) {
    ASSERT_TRUE(page.contains(kind)) << "docs/isolation.md has no row of kind " << kind;
    EXPECT_EQ(page.at(kind), format) << "of kind " << kind;
  }
  EXPECT_EQ(page.size(), header.size());
}

// No kind is in the enumeration and in none of the lists above.
TEST(IsolationPage, NoKindIsLeftOut) {
  const Formats header = of_the_header();
  const std::string_view none = slot_of(static_cast<Kind>(0));
  for (unsigned kind = 1; kind < 4096; ++kind)
    EXPECT_EQ(slot_of(static_cast<Kind>(kind)) != none,
              header.contains(kind) || kind == static_cast<unsigned>(Kind::answer))
        << "kind " << kind;
}

}  // namespace
}  // namespace stria::hal::isolation
