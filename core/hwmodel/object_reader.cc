// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/object_reader.h"

#include <algorithm>
#include <cmath>

#include "stria/base/text.h"
#include "stria/type/data_type.h"

namespace stria {
namespace {

using nlohmann::json;

}  // namespace

Status ObjectReader::check() const {
  if (object_.is_object()) return {};
  return texts_.fail(pointer_, fmt::format("must be an object, this is {}", object_.type_name()));
}

const json* ObjectReader::get(const std::string& key) {
  known_.push_back(key);
  auto at = object_.find(key);
  return at == object_.end() ? nullptr : &*at;
}

Status ObjectReader::wrong(const std::string& key, const std::string& what) const {
  return fail(key, fmt::format("must be {}, this is {}", what, object_[key].dump()));
}

Status ObjectReader::text(const std::string& key, std::string& value) {
  const json* found = get(key);
  if (!found) return {};
  if (!found->is_string()) return wrong(key, "a string");
  value = found->get<std::string>();
  if (value.empty()) return wrong(key, "a string that is not empty");
  return {};
}

Status ObjectReader::choice(const std::string& key, const std::vector<std::string>& choices,
                            size_t& value) {
  std::string name;
  STRIA_RETURN_IF_ERROR(text(key, name));
  if (name.empty()) return {};
  auto at = std::find(choices.begin(), choices.end(), name);
  if (at == choices.end())
    return fail(key, fmt::format("must be one of {}, this is '{}'{}", join(choices, ", "), name,
                                 did_you_mean(name, choices)));
  value = static_cast<size_t>(at - choices.begin());
  return {};
}

Status ObjectReader::flag(const std::string& key, bool& value) {
  const json* found = get(key);
  if (!found) return {};
  if (!found->is_boolean()) return wrong(key, "true or false");
  value = found->get<bool>();
  return {};
}

Status ObjectReader::integer(const std::string& key, int64_t& value, int64_t lower, int64_t factor,
                             double highest) {
  double number = static_cast<double>(value) / static_cast<double>(factor);
  STRIA_RETURN_IF_ERROR(
      real(key, number, static_cast<double>(lower), highest / static_cast<double>(factor)));
  if (number * static_cast<double>(factor) != std::floor(number * static_cast<double>(factor)))
    return wrong(key, factor > 1 ? "a whole number of bytes" : "an integer");
  value = static_cast<int64_t>(number * static_cast<double>(factor));
  return {};
}

Status ObjectReader::real(const std::string& key, double& value, double lower, double upper) {
  const json* found = get(key);
  if (!found) return {};
  if (!found->is_number()) return wrong(key, "a number");
  const double number = found->get<double>();
  if (!(number >= lower && number <= upper))
    return fail(key, fmt::format("{} is outside {} .. {}", found->dump(), lower,
                                 static_cast<int64_t>(upper)));
  value = number;
  return {};
}

Status ObjectReader::check_source() const {
  auto source = object_.find(kSource);
  if (source == object_.end()) return {};
  auto is_text = [](const json& value) {
    return value.is_string() && !value.get_ref<const std::string&>().empty();
  };
  if (!source->is_object())
    return is_text(*source) ? Status()
                            : fail(kSource, fmt::format("must be a text, or an object of texts by "
                                                        "key, this is {}",
                                                        source->dump()));
  std::vector<std::string> keys;
  for (auto it = object_.begin(); it != object_.end(); ++it)
    if (it.key() != kSource) keys.push_back(it.key());
  for (auto it = source->begin(); it != source->end(); ++it) {
    const std::string at = pointer_child(pointer_of(kSource), it.key());
    if (!object_.contains(it.key()) || it.key() == kSource)
      return texts_.fail(at,
                         fmt::format("there is no key '{}' beside this source{}", it.key(),
                                     did_you_mean(it.key(), keys)),
                         PlacedTexts::At::key);
    if (!is_text(*it))
      return texts_.fail(at, fmt::format("must be a text, this is {}", it->dump()));
  }
  return {};
}

Status ObjectReader::finish() const {
  for (auto it = object_.begin(); it != object_.end(); ++it)
    if (it.key() != kSource && std::find(known_.begin(), known_.end(), it.key()) == known_.end())
      return fail(it.key(), fmt::format("unknown key{}", did_you_mean(it.key(), known_)),
                  PlacedTexts::At::key);
  return check_source();
}

Result<std::vector<std::string>> ObjectReader::names() {
  STRIA_RETURN_IF_ERROR(check_source());
  std::vector<std::string> names;
  for (auto it = object_.begin(); it != object_.end(); ++it)
    if (it.key() != kSource) names.push_back(it.key());
  return names;
}

std::string source_of(const json& root, const std::string& pointer) {
  const std::vector<std::string> steps = split(pointer, '/');  // "" first
  const std::string group = steps.size() > 1 ? steps[1] : "";
  const bool units =
      group == "mem_units" || group == "exec_units" || group == "tx_units" || group == "buses";
  // The outermost object whose `source` counts, as its number of steps: a unit, a top-level object,
  // or the whole for what stands at the top.
  const size_t outermost = steps.size() <= 2 ? 1 : units ? 3 : 2;
  json::json_pointer at(pointer);
  for (size_t count = steps.size() - 1; count >= outermost && count > 0; --count) {
    const std::string key = at.back();
    at.pop_back();
    if (!root.contains(at)) continue;
    const json& object = root.at(at);
    if (!object.is_object() || !object.contains(kSource)) continue;
    const json& source = object[kSource];
    if (source.is_string()) return source.get<std::string>();
    if (source.is_object() && source.contains(key) && source[key].is_string())
      return source[key].get<std::string>();
  }
  return "";
}

Status read_energies(ObjectReader& reader, const std::string& key, OperationEnergies& energies) {
  static const std::vector<std::string> kOperations = {"add", "mul", "mac", "other"};
  if (!reader.get(key)) return {};
  ObjectReader table = reader.inside(key);
  STRIA_RETURN_IF_ERROR(table.check());
  STRIA_ASSIGN(std::vector<std::string> names, table.names());
  for (const std::string& name : names) {
    const size_t dot = name.find('.');
    const std::string operation = name.substr(0, dot);
    const std::string type = dot == std::string::npos ? "" : name.substr(dot + 1);
    if (std::find(kOperations.begin(), kOperations.end(), operation) == kOperations.end())
      return table.fail(
          name,
          fmt::format("an energy is of OPERATION.TYPE, such as add.i8; there is no "
                      "operation '{}'{} (the operations: {})",
                      operation, did_you_mean(operation, kOperations), join(kOperations, ", ")),
          PlacedTexts::At::key);
    if (!parse_data_type(type))
      return table.fail(name,
                        fmt::format("an energy is of OPERATION.TYPE, such as add.i8; there is no "
                                    "type '{}'{}",
                                    type, did_you_mean(type, data_type_names())),
                        PlacedTexts::At::key);
    STRIA_RETURN_IF_ERROR(table.real(name, energies[name]));
  }
  return {};
}

}  // namespace stria
