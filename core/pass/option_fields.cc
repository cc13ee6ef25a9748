// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/option_fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/text/lexer.h"
#include "stria/template/json_text.h"

namespace stria {
namespace {

using nlohmann::json;

Status wrong(const std::string& pointer, const char* what, const json& value) {
  return invalid_argument("{}: must be {}, this is {}", pointer, what, value.dump());
}

// What the text of a program cannot hold.
Status no_name(const std::string& pointer, const char* what, const std::string& text) {
  return invalid_argument(
      "{}: '{}' is not {}, which is a letter or '_' and then letters, digits, "
      "'_' and \"'\"",
      pointer, shown_name(text), what);
}

Status read(const json& value, const std::string& pointer, OptionRange, bool& out) {
  if (!value.is_boolean()) return wrong(pointer, "true or false", value);
  out = value.get<bool>();
  return {};
}

Status read(const json& value, const std::string& pointer, OptionRange range, int64_t& out) {
  // A quotient in a template is a float even where it is whole: 2048.0 is 2048.
  bool whole = value.is_number_integer();
  if (value.is_number_float()) {
    double number = value.get<double>();
    whole = number >= -9e18 && number <= 9e18 &&
            number == static_cast<double>(static_cast<int64_t>(number));
  }
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
    whole = false;
  if (!whole) return wrong(pointer, "an integer", value);
  int64_t number = value.get<int64_t>();
  if (number < range.lower || number > range.upper) {
    if (range.upper == std::numeric_limits<int64_t>::max())
      return invalid_argument("{}: {} is less than {}", pointer, number, range.lower);
    return invalid_argument("{}: {} is outside {} .. {}", pointer, number, range.lower,
                            range.upper);
  }
  out = number;
  return {};
}

Status read(const json& value, const std::string& pointer, OptionRange, double& out) {
  if (!value.is_number()) return wrong(pointer, "a number", value);
  const auto number = value.get<double>();
  // Text that is out of range reads as infinite.
  if (!(number >= 0) || number > std::numeric_limits<double>::max())
    return invalid_argument("{}: {} is not a number that is 0 or more", pointer, value.dump());
  out = number;
  return {};
}

Status read(const json& value, const std::string& pointer, OptionRange, std::string& out) {
  if (!value.is_string()) return wrong(pointer, "a string", value);
  out = value.get<std::string>();
  return {};
}

template <typename T>
Status read(const json& value, const std::string& pointer, OptionRange range, std::vector<T>& out) {
  if (!value.is_array()) return wrong(pointer, "a list", value);
  out.clear();
  for (size_t i = 0; i < value.size(); ++i) {
    T entry{};
    STRIA_RETURN_IF_ERROR(read(value[i], pointer_child(pointer, std::to_string(i)), range, entry));
    out.push_back(std::move(entry));
  }
  return {};
}

Status read(const json& value, const std::string& pointer, OptionRange range,
            std::map<std::string, int64_t>& out) {
  if (!value.is_object()) return wrong(pointer, "an object of numbers", value);
  out.clear();
  for (auto it = value.begin(); it != value.end(); ++it)
    STRIA_RETURN_IF_ERROR(read(*it, pointer_child(pointer, it.key()), range, out[it.key()]));
  return {};
}

Status read_unit(const json& value, const std::string& pointer, stripe::LocationUnit& out) {
  if (!value.is_object())
    return wrong(pointer, "a location such as {\"name\": \"CORE\", \"units\": [0]}", value);
  std::vector<int64_t> units;
  OptionFields fields;
  fields.add("name", out.name, "a unit of the hardware model");
  fields.add("units", units, "which instance, one number per dimension");
  STRIA_RETURN_IF_ERROR(fields.bind(value, pointer));
  if (out.name.empty()) return invalid_argument("{}: a location needs a \"name\"", pointer);
  if (out.name != "*" && !stripe::is_identifier(out.name))
    return no_name(pointer_child(pointer, "name"), "the name of a unit", out.name);
  for (int64_t unit : units) out.units.emplace_back(unit);
  return {};
}

Status read(const json& value, const std::string& pointer, OptionRange, stripe::Location& out) {
  out = {};
  if (!value.is_array()) return read_unit(value, pointer, out.path.emplace_back());
  for (size_t i = 0; i < value.size(); ++i)
    STRIA_RETURN_IF_ERROR(
        read_unit(value[i], pointer_child(pointer, std::to_string(i)), out.path.emplace_back()));
  return {};
}

Status read(const json& value, const std::string& pointer, OptionRange, JsonText& out) {
  const bool list = out.kind == JsonText::Kind::list;
  if (list ? !value.is_array() : !value.is_object())
    return wrong(pointer, list ? "a list" : "an object", value);
  out.text = value.dump();
  return {};
}

// What each kind is called, and how its default is spelled.
struct Kind {
  std::string operator()(const bool*) const { return "true or false"; }
  std::string operator()(const int64_t*) const { return "integer"; }
  std::string operator()(const double*) const { return "number"; }
  std::string operator()(const std::string*) const { return "text"; }
  std::string operator()(const std::vector<std::string>*) const { return "list of texts"; }
  std::string operator()(const std::vector<int64_t>*) const { return "list of integers"; }
  std::string operator()(const std::map<std::string, int64_t>*) const {
    return "object of integers";
  }
  std::string operator()(const JsonText* v) const {
    return v->kind == JsonText::Kind::list ? "list" : "object";
  }
  std::string operator()(const stripe::Location*) const { return "location"; }
  std::string operator()(const OptionFields*) const { return "object"; }
  std::string operator()(const ObjectList*) const { return "list of objects"; }
};

struct Initial {
  template <typename T>
  std::string operator()(const T* v) const {
    return json(*v).dump();
  }
  std::string operator()(const JsonText* v) const { return v->text; }
  std::string operator()(const std::map<std::string, int64_t>* v) const {
    return v->empty() ? "{}" : json(*v).dump();
  }
  std::string operator()(const stripe::Location*) const { return "none"; }
  std::string operator()(const OptionFields*) const { return ""; }
  std::string operator()(const ObjectList*) const { return "[]"; }
};

// Numbers are 0 or more unless more is said.
std::string limits_of(OptionRange range) {
  if (range.upper != std::numeric_limits<int64_t>::max())
    return fmt::format("{} to {}", range.lower, range.upper);
  return range.lower == 0 ? "" : fmt::format("{} or more", range.lower);
}

}  // namespace

void OptionFields::add(const char* name, bool& value, const char* help) {
  fields_.push_back({name, help, {}, &value});
}
void OptionFields::add(const char* name, int64_t& value, const char* help, OptionRange range) {
  fields_.push_back({name, help, range, &value});
}
void OptionFields::add(const char* name, double& value, const char* help) {
  fields_.push_back({name, help, {}, &value});
}
void OptionFields::add(const char* name, std::string& value, const char* help) {
  fields_.push_back({name, help, {}, &value});
}
void OptionFields::add(const char* name, std::vector<std::string>& value, const char* help) {
  fields_.push_back({name, help, {}, &value});
}
void OptionFields::add(const char* name, std::vector<int64_t>& value, const char* help,
                       OptionRange range) {
  fields_.push_back({name, help, range, &value});
}
void OptionFields::add(const char* name, std::map<std::string, int64_t>& value, const char* help,
                       OptionRange range) {
  fields_.push_back({.name = name,
                     .help = help,
                     .range = range,
                     .target = &value,
                     .rule = TextRule::index,
                     .empty = WhenEmpty::refused});
}
void OptionFields::add(const char* name, JsonText& value, const char* help) {
  fields_.push_back({name, help, {}, &value});
}
void OptionFields::add(const char* name, stripe::Location& value, const char* help) {
  fields_.push_back({name, help, {}, &value});
}
void OptionFields::add(const char* name, std::string& value, const char* help,
                       std::vector<std::string> choices) {
  fields_.push_back({name, help, {}, &value, std::move(choices)});
}
void OptionFields::tag(const char* name, std::string& value, const char* help, WhenEmpty empty) {
  fields_.push_back({.name = name,
                     .help = help,
                     .target = &value,
                     .rule = TextRule::tag,
                     .empty = empty,
                     .kind = "tag"});
}
void OptionFields::tags(const char* name, std::vector<std::string>& value, const char* help) {
  fields_.push_back({.name = name,
                     .help = help,
                     .target = &value,
                     .rule = TextRule::tag,
                     .empty = WhenEmpty::refused,
                     .kind = "list of tags"});
}
void OptionFields::set_tag(const char* name, std::string& value, const char* help,
                           WhenEmpty empty) {
  fields_.push_back({.name = name,
                     .help = help,
                     .target = &value,
                     .rule = TextRule::set_tag,
                     .empty = empty,
                     .kind = "tag to set"});
}
void OptionFields::set_tags(const char* name, std::vector<std::string>& value, const char* help,
                            std::vector<std::string> also) {
  fields_.push_back({.name = name,
                     .help = help,
                     .target = &value,
                     .rule = TextRule::set_tag,
                     .empty = WhenEmpty::refused,
                     .also = std::move(also),
                     .kind = "list of tags to set"});
}
void OptionFields::index(const char* name, std::string& value, const char* help) {
  fields_.push_back(
      {.name = name, .help = help, .target = &value, .rule = TextRule::index, .kind = "index"});
}
void OptionFields::indices(const char* name, std::vector<std::string>& value, const char* help) {
  fields_.push_back({.name = name,
                     .help = help,
                     .target = &value,
                     .rule = TextRule::index,
                     .empty = WhenEmpty::refused,
                     .kind = "list of indices"});
}
void OptionFields::unit(const char* name, std::string& value, const char* help, WhenEmpty empty) {
  fields_.push_back({.name = name,
                     .help = help,
                     .target = &value,
                     .rule = TextRule::name,
                     .empty = empty,
                     .kind = "unit"});
}
void OptionFields::word(const char* name, std::string& value, const char* help, WhenEmpty empty) {
  fields_.push_back({.name = name,
                     .help = help,
                     .target = &value,
                     .rule = TextRule::name,
                     .empty = empty,
                     .kind = "name"});
}
void OptionFields::add_list(const char* name, const char* help, ObjectList list) {
  lists_.push_back(std::make_unique<ObjectList>(std::move(list)));
  fields_.push_back({name, help, {}, lists_.back().get()});
}
void OptionFields::one_of(const char* name, std::string& value, const char* help,
                          const std::vector<Alternative>& alternatives) {
  Field& field = fields_.emplace_back(Field{name, help, {}, &value});
  for (const Alternative& each : alternatives) {
    OptionFields& table = *groups_.emplace_back(std::make_unique<OptionFields>());
    each.describe(table);
    field.choices.emplace_back(each.name);
    field.alternatives.emplace_back(each.help, &table);
  }
}
OptionFields& OptionFields::group(const char* name, const char* help) {
  OptionFields& table = *groups_.emplace_back(std::make_unique<OptionFields>());
  fields_.push_back({name, help, {}, &table});
  return table;
}

Status OptionFields::check_text(const Field& field, const std::string& text,
                                const std::string& pointer) {
  if (field.rule == TextRule::free) return {};
  if (text.empty() && field.empty == WhenEmpty::none) return {};
  const bool by_tag = field.rule == TextRule::index && text.starts_with('#');
  const std::string name = by_tag ? text.substr(1) : text;
  if (!stripe::is_identifier(name))
    return no_name(pointer,
                   field.rule == TextRule::tag || field.rule == TextRule::set_tag ? "a tag"
                   : field.rule == TextRule::index ? "an index, or '#' and a tag that it has"
                                                   : "a name",
                   text);
  if (field.rule != TextRule::set_tag) return {};
  const stripe::KnownTag* known = stripe::known_tag(text);
  if (!known || !known->is_reserved() ||
      std::find(field.also.begin(), field.also.end(), text) != field.also.end())
    return {};
  return invalid_argument(
      "{}: '{}' says of {} that {}; allowed are tags that mean nothing by "
      "themselves{}",
      pointer, text, stripe::places_as_text(known->places), known->meaning,
      field.also.empty() ? "" : ", and " + join(field.also, ", "));
}

void OptionFields::add_tags(const std::string& pointer, StepTags& out) const {
  for (const Field& field : fields_) {
    if (const OptionFields* table = chosen(field, nullptr)) table->add_tags(pointer, out);
    const std::string_view name = field.name;
    const std::string at = pointer_child(pointer, field.name);
    if (const auto* group = std::get_if<OptionFields*>(&field.target)) {
      (*group)->add_tags(at, out);
    } else if (const auto* list = std::get_if<const ObjectList*>(&field.target)) {
      (*list)->each([&](size_t i, const OptionFields& entry) {
        entry.add_tags(pointer_child(at, std::to_string(i)), out);
      });
    } else if (const auto* tags = std::get_if<std::vector<std::string>*>(&field.target)) {
      if (field.rule == TextRule::tag && name.ends_with("reqs"))
        for (size_t i = 0; i < (*tags)->size(); ++i)
          out.required.push_back({pointer_child(at, std::to_string(i)), (**tags)[i]});
      if (field.rule == TextRule::set_tag && !name.ends_with("remove_set"))
        out.set.insert(out.set.end(), (*tags)->begin(), (*tags)->end());
    } else if (const auto* tag = std::get_if<std::string*>(&field.target)) {
      if (field.rule == TextRule::set_tag && !(*tag)->empty()) out.set.push_back(**tag);
    }
  }
}

Status OptionFields::bind_field(const Field& field, const json& value, const std::string& pointer,
                                std::vector<std::string>* notes) {
  return std::visit(
      [&](auto* target) -> Status {
        if constexpr (std::is_same_v<decltype(target), OptionFields*>) {
          return target->bind(value, pointer, notes);
        } else if constexpr (std::is_same_v<decltype(target), const ObjectList*>) {
          if (!value.is_array()) return wrong(pointer, "a list of objects", value);
          target->clear();
          for (size_t i = 0; i < value.size(); ++i) {
            OptionFields entry;
            target->append(entry);
            STRIA_RETURN_IF_ERROR(
                entry.bind(value[i], pointer_child(pointer, std::to_string(i)), notes));
          }
          return Status();
        } else {
          STRIA_RETURN_IF_ERROR(read(value, pointer, field.range, *target));
          if constexpr (std::is_same_v<decltype(target), std::string*>) {
            const auto& choices = field.choices;
            if (!choices.empty() &&
                std::find(choices.begin(), choices.end(), *target) == choices.end())
              return invalid_argument("{}: '{}' is none of {}{}", pointer, *target,
                                      join(choices, ", "), did_you_mean(*target, choices));
            STRIA_RETURN_IF_ERROR(check_text(field, *target, pointer));
          }
          if constexpr (std::is_same_v<decltype(target), std::vector<std::string>*>)
            for (size_t i = 0; i < target->size(); ++i)
              STRIA_RETURN_IF_ERROR(
                  check_text(field, (*target)[i], pointer_child(pointer, std::to_string(i))));
          if constexpr (std::is_same_v<decltype(target), std::map<std::string, int64_t>*>)
            for (const auto& [key, number] : *target)
              STRIA_RETURN_IF_ERROR(check_text(field, key, pointer_child(pointer, key)));
          return {};
        }
      },
      field.target);
}

const OptionFields* OptionFields::chosen(const Field& field, const json& object) {
  if (field.alternatives.empty()) return nullptr;
  std::string name = *std::get<std::string*>(field.target);
  if (object.is_object() && object.contains(field.name) && object[field.name].is_string())
    name = object[field.name].get<std::string>();
  for (size_t i = 0; i < field.choices.size(); ++i)
    if (field.choices[i] == name) return field.alternatives[i].second;
  return nullptr;
}

const OptionFields::Field* OptionFields::find(const std::string& name, const json& object) const {
  for (const Field& field : fields_)
    if (name == field.name || (field.former && name == field.former)) return &field;
  for (const Field& field : fields_)
    if (const OptionFields* table = chosen(field, object))
      if (const Field* found = table->find(name, object)) return found;
  return nullptr;
}

Status OptionFields::unknown(const std::string& name, const json& object,
                             const std::string& pointer) const {
  std::vector<std::string> names;
  const auto add_names = [&](const OptionFields& table) {
    for (const Field& field : table.fields_) {
      names.emplace_back(field.name);
      if (field.former) names.emplace_back(field.former);
    }
  };
  add_names(*this);
  for (const Field& field : fields_) {
    const OptionFields* table = chosen(field, object);
    if (table) add_names(*table);
    std::vector<std::string> others;
    for (size_t i = 0; i < field.alternatives.size(); ++i)
      if (field.alternatives[i].second->find(name, object)) others.push_back(field.choices[i]);
    if (table && !others.empty())
      return invalid_argument("{}: with the {} '{}' there is no such option; {} {} it", pointer,
                              field.name,
                              object.value(field.name, *std::get<std::string*>(field.target)),
                              join(others, ", "), others.size() == 1 ? "has" : "have");
  }
  return invalid_argument("{}: unknown option{}", pointer, did_you_mean(name, names));
}

Status OptionFields::bind(const json& object, const std::string& pointer,
                          std::vector<std::string>* notes) {
  if (!object.is_object()) return wrong(pointer, "an object of options", object);
  // What names an alternative comes first: it says which options there are.
  for (const Field& field : fields_)
    if (!field.alternatives.empty() && object.contains(field.name))
      STRIA_RETURN_IF_ERROR(
          bind_field(field, object[field.name], pointer_child(pointer, field.name), notes));
  for (auto it = object.begin(); it != object.end(); ++it) {
    const std::string child = pointer_child(pointer, it.key());
    const Field* found = find(it.key(), object);
    const auto gone = std::find_if(retired_.begin(), retired_.end(),
                                   [&](const auto& entry) { return it.key() == entry.first; });
    if (!found && gone != retired_.end()) {
      if (notes)
        notes->push_back(fmt::format("{}: is no option any more: {}", child, gone->second));
      continue;
    }
    if (!found) return unknown(it.key(), object, child);
    if (it.key() != found->name) {
      if (object.contains(found->name))
        return invalid_argument("{}: is the former name of '{}', which is given too", child,
                                found->name);
      if (notes) notes->push_back(former_name_note(child, found->name));
    }
    STRIA_RETURN_IF_ERROR(bind_field(*found, *it, child, notes));
  }
  return {};
}

void OptionFields::make_todays(json& object) const {
  if (!object.is_object()) return;
  json out = json::object();
  for (auto it = object.begin(); it != object.end(); ++it) {
    const Field* field = find(it.key(), object);
    if (!field) continue;
    if (const auto* group = std::get_if<OptionFields*>(&field->target)) (*group)->make_todays(*it);
    out[field->name] = *it;
  }
  object = std::move(out);
}

std::string former_name_note(const std::string& pointer, const std::string& name,
                             const std::string& preset) {
  return fmt::format("{}: is now called '{}'{}; the next release will not know the former name",
                     pointer, name, preset == "{}" ? "" : " with " + preset);
}

std::vector<OptionRow> OptionFields::rows(int depth) const {
  std::vector<OptionRow> out;
  for (const Field& field : fields_) {
    OptionRow row{.depth = depth,
                  .name = field.name,
                  .kind = field.kind ? field.kind : std::visit(Kind(), field.target),
                  .initial = std::visit(Initial(), field.target),
                  .limits = "",
                  .help = field.help};
    if (!field.also.empty())
      row.limits = "also " + join(field.also, ", ");
    else if (field.kind && field.rule != TextRule::free && field.empty == WhenEmpty::none)
      row.limits = "\"\" = none";
    else if (!field.choices.empty())
      row.limits = "one of " + join(field.choices, ", ");
    else if (row.kind.find("integer") != std::string::npos)
      row.limits = limits_of(field.range);
    out.push_back(std::move(row));
    if (auto* group = std::get_if<OptionFields*>(&field.target)) {
      std::vector<OptionRow> inner = (*group)->rows(depth + 1);
      out.insert(out.end(), inner.begin(), inner.end());
    }
    if (auto* list = std::get_if<const ObjectList*>(&field.target)) {
      std::vector<OptionRow> entry = (*list)->rows(depth + 1);
      out.insert(out.end(), entry.begin(), entry.end());
    }
  }
  // Options of alternatives follow all others.
  for (const Field& field : fields_) {
    for (size_t i = 0; i < field.alternatives.size(); ++i) {
      const auto& [help, table] = field.alternatives[i];
      out.push_back({.heading = true,
                     .depth = depth,
                     .name = fmt::format("{}: \"{}\"", field.name, field.choices[i]),
                     .help = help});
      const std::vector<OptionRow> own = table->rows(depth);
      out.insert(out.end(), own.begin(), own.end());
    }
  }
  return out;
}

std::string rows_as_text(const std::vector<OptionRow>& rows, int indent) {
  std::string out;
  std::optional<int> below;  // the depth of the heading that rows stand below
  for (const OptionRow& row : rows) {
    if (row.heading || (below && row.depth < *below)) below.reset();
    const int column = indent + 2 * (row.depth + (below ? 1 : 0));
    if (row.heading) {
      out += fmt::format("{:{}}with {}: {}\n", "", column, row.name, row.help);
      below = row.depth;
      continue;
    }
    out += fmt::format("{:{}}{}: {}{}{}{}{}. {}\n", "", column, row.name, row.kind,
                       row.initial.empty() ? "" : ", default ", row.initial,
                       row.limits.empty() ? "" : "; ", row.limits, row.help);
  }
  return out;
}

}  // namespace stria
