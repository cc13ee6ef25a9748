// SPDX-License-Identifier: Apache-2.0
// The one table that describes a pass's options: it binds JSON to the options struct, prints help,
// and makes the reference page. A pass writes it once:
//
//   void describe(LocalizeOptions& o, OptionFields& fields) {
//     fields.tags("reqs", o.reqs, "tags that a block must have");
//     fields.add("max_bytes", o.max_bytes, "largest buffer moved, in bytes; 0 = no limit",
//                {0, kNoLimit});
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria {

// Inclusive limits of a number.
struct OptionRange {
  int64_t lower = 0;
  int64_t upper = std::numeric_limits<int64_t>::max();
};

// JSON that somebody else reads: kept as text.
struct JsonText {
  enum class Kind { object, list };
  Kind kind = Kind::object;
  std::string text = "{}";
};

// A field as help and reference page show it.
struct OptionRow {
  bool heading = false;  // stands before the options of one alternative: `cost: "registers"`
  int depth = 0;         // of the group it is in, 0 outside
  std::string name;      // "max_bytes"
  std::string kind;      // "integer"
  std::string initial;   // its default, as in JSON; "" for a group
  std::string limits;    // "1 to 9", "one of keep, reuse", or ""
  std::string help;
};
// The note about a former name that was read: "/0/cut: is now called 'tile'; …".
// `preset` is JSON: the options that the name stood for; "{}" for none.
std::string former_name_note(const std::string& pointer, const std::string& name,
                             const std::string& preset = "{}");
// One line per row: "max_bytes: integer, default 0; 0 to 9. largest buffer moved, in bytes".
std::string rows_as_text(const std::vector<OptionRow>& rows, int indent);

// The rule that a text has to meet. Whatever the text becomes a part of must print and read back.
enum class TextRule {
  free,     // any text
  tag,      // a tag that is looked for
  set_tag,  // a tag that the pass sets or removes: none with a meaning of its own
  index,    // "x", or "#tag" for those that have the tag
  name,     // a name: of a unit, or of something that the pass makes
};
// What "" means: an error, or none.
enum class WhenEmpty { refused, none };

class OptionFields;

// The tags that a step looks for and sets, by its options.
struct StepTags {
  struct Required {
    std::string pointer;  // "/0/cache/reqs/1"
    std::string tag;
  };
  std::vector<Required> required;  // of blocks or refinements that the step works on
  std::vector<std::string> set;
};

// An option that is a list of objects, whatever struct holds one.
struct ObjectList {
  std::function<void()> clear;
  std::function<void(OptionFields&)> append;  // makes an entry and describes it on the table
  std::function<std::vector<OptionRow>(int depth)> rows;  // of one entry
  // Describes each entry that there is on a table of its own.
  std::function<void(const std::function<void(size_t, OptionFields&)>& use)> each;
};

// One of the names that an option may have, with options that are there for this name alone.
struct Alternative {
  const char* name;
  const char* help;
  std::function<void(OptionFields&)> describe;  // its options; what they bind to must outlive them
};

class OptionFields {
 public:
  // Each field's current value is its default; the struct must outlive this table.
  void add(const char* name, bool& value, const char* help);
  void add(const char* name, int64_t& value, const char* help, OptionRange range = {});
  // A finite number that is 0 or more.
  void add(const char* name, double& value, const char* help);
  void add(const char* name, std::string& value, const char* help);
  // One of `choices`.
  void add(const char* name, std::string& value, const char* help,
           std::vector<std::string> choices);
  void add(const char* name, std::vector<std::string>& value, const char* help);
  void add(const char* name, std::vector<int64_t>& value, const char* help, OptionRange range = {});
  // By index: "x", or "#tag".
  void add(const char* name, std::map<std::string, int64_t>& value, const char* help,
           OptionRange range = {});
  // Tags that the pass looks for: any tag that can be written.
  void tag(const char* name, std::string& value, const char* help,
           WhenEmpty empty = WhenEmpty::refused);
  void tags(const char* name, std::vector<std::string>& value, const char* help);
  // Tags that the pass sets or removes. A tag with a meaning of its own (stripe/tags.h) is
  // refused, unless it is in `also`: the option exists for those.
  void set_tag(const char* name, std::string& value, const char* help,
               WhenEmpty empty = WhenEmpty::none);
  void set_tags(const char* name, std::vector<std::string>& value, const char* help,
                std::vector<std::string> also = {});
  // "x", or "#tag" for those that have the tag.
  void index(const char* name, std::string& value, const char* help);  // "" = none
  void indices(const char* name, std::vector<std::string>& value, const char* help);
  // The name of a unit of the hardware model; the pass looks it up (located_unit.h).
  void unit(const char* name, std::string& value, const char* help,
            WhenEmpty empty = WhenEmpty::refused);
  // A name that becomes a part of the program.
  void word(const char* name, std::string& value, const char* help,
            WhenEmpty empty = WhenEmpty::refused);
  void add(const char* name, JsonText& value, const char* help);
  // {"name": "CONV"}, {"name": "CONV", "units": [1]} or a list of such.
  void add(const char* name, stripe::Location& value, const char* help);
  // A list of objects, each with the fields that `describe` declares.
  template <typename T>
  void add(const char* name, std::vector<T>& value, const char* help,
           void (*describe)(T&, OptionFields&)) {
    add_list(name, help,
             {.clear = [&value] { value.clear(); },
              .append = [&value,
                         describe](OptionFields& entry) { describe(value.emplace_back(), entry); },
              .rows =
                  [describe](int depth) {
                    T initial;
                    OptionFields entry;
                    describe(initial, entry);
                    return entry.rows(depth);
                  },
              .each =
                  [&value, describe](const std::function<void(size_t, OptionFields&)>& use) {
                    for (size_t i = 0; i < value.size(); ++i) {
                      OptionFields entry;
                      describe(value[i], entry);
                      use(i, entry);
                    }
                  }});
  }
  // The name of one of `alternatives`. Its options stand beside this one. Those of others are not
  // taken, and the error says so.
  void one_of(const char* name, std::string& value, const char* help,
              const std::vector<Alternative>& alternatives);
  // An object with fields of its own; describe them on the returned table.
  OptionFields& group(const char* name, const char* help);

  // The option that was added last was once called `name`. Both names are read, but not both at
  // once.
  void formerly(const char* name) { fields_.back().former = name; }

  // There was an option `name`. It is read, with a note that says `why` it is gone.
  void retired(const char* name, const char* why) { retired_.emplace_back(name, why); }

  // Gives the options of `object` their names of today, and takes away those that are gone.
  void make_todays(nlohmann::json& object) const;

  // Sets the fields that `object` has. invalid_argument names `pointer`, the JSON path of `object`,
  // and for an unknown key the closest right name. If `notes` is not null, it gets a note for each
  // former name that was read.
  Status bind(const nlohmann::json& object, const std::string& pointer,
              std::vector<std::string>* notes = nullptr);

  // Adds the tags that the fields hold now. A field `reqs`, or one whose name ends so, holds tags
  // that are required. Any other list of tags is of what is left alone.
  void add_tags(const std::string& pointer, StepTags& out) const;

  // In the order of add(); a group's fields follow it.
  std::vector<OptionRow> rows(int depth = 0) const;

 private:
  void add_list(const char* name, const char* help, ObjectList list);

  struct Field {
    const char* name;
    const char* help;
    OptionRange range;
    std::variant<bool*, int64_t*, double*, std::string*, std::vector<std::string>*,
                 std::vector<int64_t>*, std::map<std::string, int64_t>*, JsonText*,
                 stripe::Location*, OptionFields*, const ObjectList*>
        target;
    std::vector<std::string> choices = {};  // of a text; none = any
    TextRule rule = TextRule::free;
    WhenEmpty empty = WhenEmpty::none;
    std::vector<std::string> also = {};  // tags that mean something and may be set
    const char* kind = nullptr;          // null: what the target's type is called
    const char* former = nullptr;        // null: it never had another name
    // What one_of() was given; in the order of `choices`.
    std::vector<std::pair<const char*, const OptionFields*>> alternatives = {};  // help, options
  };
  // An option by its name of today or before, here or of the alternatives that `object` names; null
  // if there is none.
  const Field* find(const std::string& name, const nlohmann::json& object) const;
  static Status check_text(const Field& field, const std::string& text, const std::string& pointer);
  // The alternative whose options count for a field: that which `object` names, or the value's.
  static const OptionFields* chosen(const Field& field, const nlohmann::json& object);
  // The error about a name that find() does not know.
  Status unknown(const std::string& name, const nlohmann::json& object,
                 const std::string& pointer) const;
  Status bind_field(const Field& field, const nlohmann::json& value, const std::string& pointer,
                    std::vector<std::string>* notes);

  std::vector<Field> fields_;
  std::vector<std::pair<const char*, const char*>> retired_;  // a name, and why it is gone
  std::vector<std::unique_ptr<OptionFields>> groups_;
  std::vector<std::unique_ptr<ObjectList>> lists_;
};

}  // namespace stria
