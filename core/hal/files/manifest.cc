// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/files/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stria/base/diagnostic.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/files/copied_from.h"
#include "stria/hal/files/inside_file.h"
#include "stria/template/json_text.h"
#include "stria/template/placed_text.h"

namespace stria::hal {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kFile = "plugin.json";
constexpr size_t kMaxBytes = 1 << 20;
constexpr int kSchema = 1;
using At = PlacedTexts::At;

// A value as a message shows it. What is nested may be so deep that showing it ends the stack.
std::string shown_value(const Json& value) {
  const bool nested =
      value.is_structured() && std::any_of(value.begin(), value.end(),
                                           [](const Json& inner) { return inner.is_structured(); });
  return nested ? std::string("a nested ") + value.type_name()
                : shown_name(value.dump(), kMaxNameBytes);
}

// Reads one JSON object; every error names the file, the line and the JSON path.
class Reader {
 public:
  // Borrows the first two.
  Reader(const Json& object, const PlacedText& text, std::string pointer)
      : object_(object), text_(text), pointer_(std::move(pointer)) {}

  Status check_keys(const std::vector<std::string>& known) const {
    if (!object_.is_object())
      return fail(pointer_, fmt::format("must be an object, this is {}", object_.type_name()));
    for (const auto& [key, value] : object_.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        return fail(at(key), "unknown key" + did_you_mean(shown_name(key), known), At::key);
    return Status();
  }

  const Json* find(const char* key) const {
    auto it = object_.find(key);
    return it == object_.end() ? nullptr : &*it;
  }
  Result<const Json*> get(const char* key) const {
    const Json* value = find(key);
    if (!value) return fail(pointer_, fmt::format("the key '{}' is missing", key));
    return value;
  }
  Result<std::string> text(const char* key) const {
    STRIA_ASSIGN(const Json* value, get(key));
    if (!value->is_string()) return wrong(key, "a text");
    auto out = value->get<std::string>();
    if (out.empty()) return wrong(key, "a text that is not empty");
    return out;
  }
  // A text that stands in listings as it is.
  Result<std::string> name(const char* key) const {
    STRIA_ASSIGN(std::string out, text(key));
    STRIA_RETURN_IF_ERROR(check_name(out, at(key)));
    return out;
  }
  // A name that is the value, or the key, at `pointer`.
  Status check_name(std::string_view value, const std::string& pointer,
                    At where = At::value) const {
    if (value.size() <= kMaxNameBytes && shown_name(value) == value) return Status();
    return fail(pointer,
                fmt::format("must be a text of at most {} bytes without control characters, this "
                            "has {}: '{}'",
                            kMaxNameBytes, value.size(), shown_name(value, 40)),
                where);
  }
  Result<bool> boolean(const char* key, bool otherwise) const {
    const Json* value = find(key);
    if (!value) return otherwise;
    if (!value->is_boolean()) return wrong(key, "true or false");
    return value->get<bool>();
  }
  Result<uint32_t> number(const Json& value, const std::string& pointer) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() > 1'000'000)
      return fail(pointer, fmt::format("must be a whole number from 0 to 1000000, this is {}",
                                       shown_value(value)));
    return static_cast<uint32_t>(value.get<uint64_t>());
  }
  Result<std::filesystem::path> file(const char* key) const {
    STRIA_ASSIGN(std::string name, this->name(key));
    return inside(name, key, At::value);
  }
  // A path that stays below the plugin's directory: a value, or a key.
  Result<std::filesystem::path> inside(const std::string& name, std::string_view key,
                                       At where) const {
    std::filesystem::path path = std::filesystem::path(name).lexically_normal();
    if (name.find('\0') != std::string::npos || path.is_absolute() || path.empty() || path == "." ||
        *path.begin() == "..")
      return fail(at(key), fmt::format("'{}' leaves the plugin's directory", shown_name(name)),
                  where);
    return path;
  }
  Result<VersionRange> range(const char* key) const {
    STRIA_ASSIGN(const Json* value, get(key));
    Reader inner(*value, text_, at(key));
    STRIA_RETURN_IF_ERROR(inner.check_keys({"major", "minor"}));
    VersionRange range;
    STRIA_ASSIGN(const Json* major, inner.get("major"));
    STRIA_ASSIGN(range.major, inner.number(*major, inner.at("major")));
    STRIA_ASSIGN(const Json* minor, inner.get("minor"));
    if (!minor->is_array() || minor->size() != 2) return inner.wrong("minor", "[lowest, highest]");
    STRIA_ASSIGN(range.minor_min, inner.number((*minor)[0], inner.at("minor") + "/0"));
    STRIA_ASSIGN(range.minor_max, inner.number((*minor)[1], inner.at("minor") + "/1"));
    if (range.minor_min > range.minor_max)
      return inner.wrong("minor", "[lowest, highest] in this order");
    return range;
  }
  // About the value at `key`, which is there.
  Status wrong(std::string_view key, std::string_view expected) const {
    return fail(at(key), fmt::format("must be {}, this is {}", expected,
                                     shown_value(object_.at(std::string(key)))));
  }
  Status fail(const std::string& pointer, const std::string& message, At where = At::value) const {
    return PlacedTexts({&text_}).fail(pointer, message, where);
  }
  std::string at(std::string_view key) const { return pointer_child(pointer_, std::string(key)); }

 private:
  const Json& object_;
  const PlacedText& text_;
  std::string pointer_;
};

Result<std::vector<DeviceKind>> read_devices(const Reader& top, const PlacedText& text) {
  STRIA_ASSIGN(const Json* devices, top.get("devices"));
  if (!devices->is_object() || devices->empty())
    return top.wrong("devices", "an object with a key per device kind");
  std::vector<DeviceKind> kinds;
  for (const auto& [name, value] : devices->items()) {
    const std::string pointer = pointer_child(top.at("devices"), name);
    STRIA_RETURN_IF_ERROR(top.check_name(name, pointer, At::key));
    Reader reader(value, text, pointer);
    STRIA_RETURN_IF_ERROR(reader.check_keys({"hw", "pipeline"}));
    DeviceKind kind;
    kind.name = name;
    STRIA_ASSIGN(kind.hw, reader.file("hw"));
    STRIA_ASSIGN(kind.pipeline, reader.file("pipeline"));
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

Status read_hashes(const Reader& top, const PlacedText& text, Manifest& manifest) {
  const Json* hashes = top.find("sha256");
  if (!hashes) return Status();
  if (!hashes->is_object()) return top.wrong("sha256", "an object of file names");
  Reader reader(*hashes, text, top.at("sha256"));
  for (const auto& [name, value] : hashes->items()) {
    STRIA_ASSIGN(auto path, reader.inside(name, name, At::key));
    bool good = value.is_string() && value.get_ref<const std::string&>().size() == 64 &&
                value.get_ref<const std::string&>().find_first_not_of("0123456789abcdef") ==
                    std::string::npos;
    if (!good) return reader.wrong(name, "64 lower-case hexadecimal digits");
    manifest.sha256[path.string()] = value.get<std::string>();
  }
  return Status();
}

// Only letters, digits and the characters of `more`, and not empty.
bool is_word(std::string_view text, std::string_view more) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           more.find(c) != std::string_view::npos;
  });
}

Status read_required(const Reader& top, const PlacedText& text, Manifest& manifest) {
  const Json* list = top.find("requires");
  if (!list) return Status();
  if (!list->is_array()) return top.wrong("requires", "a list of {library, package}");
  for (size_t i = 0; i < list->size(); ++i) {
    Reader reader((*list)[i], text, fmt::format("{}/{}", top.at("requires"), i));
    STRIA_RETURN_IF_ERROR(reader.check_keys({"library", "package"}));
    Requirement requirement;
    STRIA_ASSIGN(requirement.library, reader.name("library"));
    STRIA_ASSIGN(requirement.package, reader.name("package"));
    // They are looked up and printed in commands.
    if (!is_word(requirement.library, "_-+.")) return reader.wrong("library", "a bare file name");
    if (!is_word(requirement.package, "-+.")) return reader.wrong("package", "a package's name");
    manifest.required.push_back(std::move(requirement));
  }
  return Status();
}

// A list of texts that `is_right`, each `expected`.
template <typename IsRight>
Status read_texts(const Reader& reader, const char* key, const char* expected,
                  const IsRight& is_right, std::vector<std::string>& out) {
  const Json* list = reader.find(key);
  if (!list) return Status();
  const bool right =
      list->is_array() && std::all_of(list->begin(), list->end(), [&](const Json& one) {
        return one.is_string() && is_right(one.get_ref<const std::string&>());
      });
  if (!right) return reader.wrong(key, expected);
  for (const Json& one : *list) out.push_back(one.get<std::string>());
  return Status();
}

Status read_driver(const Reader& top, const PlacedText& text, Manifest& manifest) {
  const Json* driver = top.find("driver");
  if (!driver) return Status();
  if (!driver->is_object()) return top.wrong("driver", "an object");
  const Reader reader(*driver, text, top.at("driver"));
  STRIA_RETURN_IF_ERROR(reader.check_keys({"environment", "files"}));
  const auto is_variable = [](std::string_view name) {
    if (name.ends_with('*')) name.remove_suffix(1);
    return name.size() <= kMaxNameBytes && is_word(name, "_");
  };
  const auto is_path = [](std::string_view path) {
    return path.starts_with('/') && path.size() <= 4 * kMaxNameBytes &&
           shown_name(path, path.size()) == path;
  };
  STRIA_RETURN_IF_ERROR(read_texts(
      reader, "environment", "a list of names of variables, * at the end for all that begin so",
      is_variable, manifest.driver.environment));
  return read_texts(reader, "files", "a list of absolute paths", is_path, manifest.driver.files);
}

// What there is in place of a library that is not there: it was built under another name, or not.
std::string what_lies_beside(const fs::path& library) {
  std::error_code error;
  std::vector<std::string> others;
  // What cannot be listed has nothing to show.
  for (fs::directory_iterator at(library.parent_path(), error), end; !error && at != end;
       at.increment(error))
    if (at->path().extension() == ".so") others.push_back(shown_path(at->path().filename()));
  if (others.empty()) return ": the plugin is not built there";
  std::sort(others.begin(), others.end());
  return fmt::format(", '{}' is: \"library\" in the manifest says which one is meant", others[0]);
}

}  // namespace

std::string to_string(const VersionRange& range) {
  if (range.minor_min == range.minor_max) return fmt::format("{}.{}", range.major, range.minor_min);
  return fmt::format("{0}.{1} to {0}.{2}", range.major, range.minor_min, range.minor_max);
}

Result<uint32_t> negotiate(std::string_view what, const VersionRange& host,
                           const VersionRange& plugin) {
  uint32_t highest = std::min(host.minor_max, plugin.minor_max);
  if (host.major != plugin.major || highest < std::max(host.minor_min, plugin.minor_min))
    return make_error(StatusCode::incompatible,
                      "{} versions do not meet: the host speaks {}, the plugin {}", what,
                      to_string(host), to_string(plugin));
  return highest;
}

const DeviceKind* Manifest::find_kind(std::string_view name) const {
  for (const DeviceKind& kind : devices)
    if (kind.name == name) return &kind;
  return nullptr;
}

Result<Manifest> parse_manifest(std::string_view text, std::string_view name) {
  const std::string file = shown_name(name, 2 * kMaxNameBytes);
  if (text.size() > kMaxBytes)
    return invalid_argument("{}: {} bytes, a manifest has at most {}", file, text.size(),
                            kMaxBytes);
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::string message = json_error_text(error.what());
    size_t at = error.byte > 0 ? error.byte - 1 : 0;
    return Status(
        StatusCode::invalid_argument,
        render({file, std::string(text)}, {Severity::error,
                                           {at, at + 1},
                                           "not JSON: " + shown_name(message, 2 * kMaxNameBytes)}));
  } catch (const Json::exception&) {
    return invalid_argument("{}: not JSON", file);
  }
  // Where its values stand, for messages: what this reader takes, the other takes too, but for keys
  // that are given twice.
  const SourceText source{file, std::string(text)};
  PlacedText placed{&source, {}};
  (void)parse_json_text(source, &placed.places);
  Reader top(json, placed, "");
  STRIA_RETURN_IF_ERROR(
      top.check_keys({"schema", "id", "version", "vendor", "library", "abi", "stripe", "devices",
                      "unloadable", "sha256", "requires", "driver"}));
  STRIA_ASSIGN(const Json* schema, top.get("schema"));
  STRIA_ASSIGN(uint32_t schema_number, top.number(*schema, "/schema"));
  if (schema_number != kSchema)
    return Status(StatusCode::incompatible,
                  top.fail("/schema", fmt::format("manifest schema {}, this host reads {}",
                                                  schema_number, kSchema))
                      .message());
  Manifest manifest;
  STRIA_ASSIGN(manifest.id, top.name("id"));
  if (!is_word(manifest.id, "_-")) return top.wrong("id", "made of letters, digits, '_' and '-'");
  STRIA_ASSIGN(manifest.version, top.name("version"));
  if (top.find("vendor")) {
    STRIA_ASSIGN(manifest.vendor, top.name("vendor"));
  }
  STRIA_ASSIGN(manifest.library, top.file("library"));
  STRIA_ASSIGN(manifest.abi, top.range("abi"));
  STRIA_ASSIGN(manifest.stripe, top.range("stripe"));
  STRIA_ASSIGN(manifest.devices, read_devices(top, placed));
  STRIA_ASSIGN(manifest.unloadable, top.boolean("unloadable", false));
  STRIA_RETURN_IF_ERROR(read_hashes(top, placed, manifest));
  STRIA_RETURN_IF_ERROR(read_required(top, placed, manifest));
  STRIA_RETURN_IF_ERROR(read_driver(top, placed, manifest));
  return manifest;
}

Result<Manifest> read_manifest(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error))
    return not_found("'{}' is no directory", shown_path(directory));
  STRIA_ASSIGN(const std::string text,
               read_inside(directory, kFile, kMaxBytes, shown_path(directory)));
  const std::string name = file_to_edit(directory, kFile, text).string();
  STRIA_ASSIGN(Manifest manifest, parse_manifest(text, name));
  const std::string who = shown_name(name, 2 * kMaxNameBytes);
  const Status library = check_inside(directory, manifest.library, who);
  if (library.code() == StatusCode::not_found &&
      !fs::exists(fs::symlink_status(directory / manifest.library, error)))
    return not_found("{}: the library '{}' is not in '{}'{}", who, shown_path(manifest.library),
                     shown_path(directory), what_lies_beside(directory / manifest.library));
  STRIA_RETURN_IF_ERROR(library);
  for (const DeviceKind& kind : manifest.devices)
    for (const fs::path& file : {kind.hw, kind.pipeline})
      STRIA_RETURN_IF_ERROR(check_inside(directory, file, who));
  for (const auto& [file, hash] : manifest.sha256)
    STRIA_RETURN_IF_ERROR(check_inside(directory, file, who));
  return manifest;
}

}  // namespace stria::hal
