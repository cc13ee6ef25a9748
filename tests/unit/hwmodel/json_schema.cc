// SPDX-License-Identifier: Apache-2.0
#include "json_schema.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <regex>
#include <stdexcept>

namespace stria {
namespace {

using nlohmann::json;

void walk(const json& part, const std::string& pointer,
          const std::function<void(const json&, const std::string&)>& visit) {
  visit(part, pointer);
  if (!part.is_structured()) return;
  size_t position = 0;
  for (auto it = part.begin(); it != part.end(); ++it, ++position)
    walk(*it, pointer + "/" + (part.is_array() ? std::to_string(position) : it.key()), visit);
}

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "number") return value.is_number();
  if (type == "integer")
    return value.is_number() && value.get<double>() == std::floor(value.get<double>());
  throw std::runtime_error("type " + type);
}

}  // namespace

std::set<std::string> JsonSchema::all() const {
  std::set<std::string> out;
  walk(root_, "", [&](const json& part, const std::string& pointer) {
    const size_t slash = pointer.rfind('/');
    const bool property = slash != std::string::npos && part.is_object() &&
                          pointer.substr(0, slash).ends_with("/properties");
    if (property) out.insert(pointer);
  });
  return out;
}

std::string JsonSchema::pointer_of(const json& wanted) const {
  std::string out;
  walk(root_, "", [&](const json& part, const std::string& pointer) {
    if (&part == &wanted) out = pointer;
  });
  return out;
}

const json& JsonSchema::resolve(const json& schema) const {
  if (!schema.contains("$ref")) return schema;
  return root_.at(json::json_pointer(schema["$ref"].get<std::string>().substr(1)));
}

std::string JsonSchema::check_object(const json& schema, const json& value, const std::string& at) {
  const json none = json::object();
  const json& properties = schema.contains("properties") ? schema["properties"] : none;
  for (const json& key : schema.value("required", json::array()))
    if (!value.contains(key.get<std::string>())) return at + ": lacks " + key.dump();
  for (auto it = value.begin(); it != value.end(); ++it) {
    const std::string below = at + "/" + it.key();
    if (schema.contains("propertyNames"))
      if (std::string wrong = check(schema["propertyNames"], json(it.key()), below); !wrong.empty())
        return wrong;
    const json* rule = nullptr;
    if (auto own = properties.find(it.key()); own != properties.end()) {
      rule = &*own;
      seen_.insert(pointer_of(*own));
    } else if (schema.contains("additionalProperties")) {
      rule = &schema["additionalProperties"];
      if (*rule == json(false)) return below + ": unknown key";
    }
    if (!rule) continue;
    if (std::string wrong = check(*rule, *it, below); !wrong.empty()) return wrong;
  }
  return "";
}

std::string JsonSchema::check(const json& given, const json& value, const std::string& at) {
  static const std::set<std::string> kKnown = {
      "$schema",
      "$ref",
      "$defs",
      "title",
      "description",
      "default",
      "type",
      "enum",
      "const",
      "minimum",
      "maximum",
      "minLength",
      "pattern",
      "minItems",
      "items",
      "properties",
      "additionalProperties",
      "required",
      "anyOf",
      "not",
      "propertyNames",
  };
  for (auto it = given.begin(); it != given.end(); ++it)
    if (!kKnown.count(it.key())) throw std::runtime_error("keyword " + it.key());
  const json& schema = resolve(given);
  if (&schema != &given)
    if (std::string wrong = check(schema, value, at); !wrong.empty()) return wrong;
  if (given.contains("type") && !has_type(value, given["type"]))
    return at + ": is no " + given["type"].get<std::string>();
  if (given.contains("const") && value != given["const"]) return at + ": is not the constant";
  if (given.contains("enum") &&
      std::find(given["enum"].begin(), given["enum"].end(), value) == given["enum"].end())
    return at + ": is none of the enumeration";
  if (value.is_number() && given.contains("minimum") && value < given["minimum"])
    return at + ": is below the minimum";
  if (value.is_number() && given.contains("maximum") && value > given["maximum"])
    return at + ": is above the maximum";
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    if (given.contains("minLength") && text.size() < given["minLength"].get<size_t>())
      return at + ": is too short";
    if (given.contains("pattern") &&
        !std::regex_search(text, std::regex(given["pattern"].get<std::string>())))
      return at + ": is not of the pattern";
  }
  if (given.contains("not") && check(given["not"], value, at).empty()) return at + ": is forbidden";
  if (given.contains("anyOf")) {
    bool one = false;
    for (const json& choice : given["anyOf"]) one = one || check(choice, value, at).empty();
    if (!one) return at + ": is none of what it may be";
  }
  if (value.is_array()) {
    if (given.contains("minItems") && value.size() < given["minItems"].get<size_t>())
      return at + ": has too few items";
    for (size_t i = 0; given.contains("items") && i < value.size(); ++i)
      if (std::string wrong = check(given["items"], value[i], at + "/" + std::to_string(i));
          !wrong.empty())
        return wrong;
  }
  return value.is_object() ? check_object(given, value, at) : "";
}

}  // namespace stria
