// SPDX-License-Identifier: Apache-2.0
#include "new_plugin/plugin_name.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "stria/base/shown_text.h"

namespace stria::command {
namespace {

// Words of C, C++ and Rust, and names that are taken in them where a plugin's name would stand.
constexpr std::string_view kTaken[] = {
    "abstract", "alignas",  "alignof",   "alloc",    "and",     "as",        "asm",
    "async",    "auto",     "await",     "become",   "bitand",  "bitor",     "bool",
    "box",      "break",    "case",      "catch",    "char",    "class",     "compl",
    "concept",  "const",    "constexpr", "continue", "core",    "crate",     "decltype",
    "default",  "delete",   "do",        "double",   "dyn",     "else",      "enum",
    "explicit", "export",   "extern",    "false",    "final",   "float",     "fn",
    "for",      "friend",   "goto",      "if",       "impl",    "in",        "inline",
    "int",      "let",      "linux",     "long",     "loop",    "macro",     "main",
    "match",    "mod",      "move",      "mut",      "mutable", "namespace", "new",
    "noexcept", "not",      "nullptr",   "operator", "or",      "override",  "priv",
    "private",  "proc",     "protected", "pthread",  "pub",     "public",    "ref",
    "register", "requires", "restrict",  "return",   "self",    "short",     "signed",
    "sizeof",   "static",   "std",       "struct",   "super",   "switch",    "template",
    "test",     "this",     "throw",     "trait",    "true",    "try",       "type",
    "typedef",  "typeid",   "typename",  "typeof",   "union",   "unix",      "unsafe",
    "unsigned", "unsized",  "use",       "using",    "virtual", "void",      "volatile",
    "where",    "while",    "xor",       "yield"};

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char upper_of(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

std::string in_capitals(const std::string& name) {
  std::string out = name;
  std::transform(out.begin(), out.end(), out.begin(), upper_of);
  return out;
}

// "my_npu" as "MyNpu".
std::string in_words(const std::string& name) {
  std::string out;
  bool first = true;
  for (char c : name) {
    if (c != '_') out += first ? upper_of(c) : c;
    first = c == '_';
  }
  return out;
}

}  // namespace

Status check_plugin_name(const std::string& name) {
  if (name.empty()) return invalid_argument("the name of the plugin is empty");
  const std::string shown = shown_name(name);
  if (name.find('/') != std::string::npos)
    return invalid_argument(
        "'{}' is a path, not a name: the plugin is written to the working directory", shown);
  if (name.size() > kMaxPluginNameBytes)
    return invalid_argument("the name '{}' has {} bytes; a plugin's name has {} at most", shown,
                            name.size(), kMaxPluginNameBytes);
  const bool legal = is_lower(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
                       return is_lower(c) || is_digit(c) || c == '_';
                     });
  if (!legal)
    return invalid_argument(
        "'{}' is no name of a plugin: it begins with a letter from a to z, and has such letters, "
        "digits and '_'",
        shown);
  if (std::find(std::begin(kTaken), std::end(kTaken), name) != std::end(kTaken))
    return invalid_argument("'{}' is a word of C, C++ or Rust, and no name of a plugin", name);
  if (name == "stria" || name.starts_with("stria_"))
    return invalid_argument("names that begin with 'stria' are stria's own, so '{}' is none", name);
  return Status();
}

std::string identifier_taken(std::string_view text, const std::string& name) {
  std::set<std::string_view> identifiers;
  const auto is_part = [](unsigned char c) { return c == '_' || std::isalnum(c) != 0; };
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_part(static_cast<unsigned char>(text[end]))) ++end;
    if (end > at) identifiers.insert(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  for (const std::string_view identifier : identifiers) {
    // By itself the name is a word of texts: no template declares it.
    if (identifier == "acme" || identifier == "Acme" || identifier == "ACME") continue;
    const std::string renamed = with_plugin_name(identifier, name);
    if (renamed != identifier && identifiers.count(renamed) != 0) return renamed;
  }
  return {};
}

std::string with_plugin_name(std::string_view text, const std::string& name) {
  const std::pair<std::string_view, std::string> spellings[] = {
      {"acme", name}, {"Acme", in_words(name)}, {"ACME", in_capitals(name)}};
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto found =
        std::find_if(std::begin(spellings), std::end(spellings), [&](const auto& spelling) {
          return text.substr(at, spelling.first.size()) == spelling.first;
        });
    if (found == std::end(spellings)) {
      out += text[at++];
    } else {
      out += found->second;
      at += found->first.size();
    }
  }
  return out;
}

}  // namespace stria::command
