// SPDX-License-Identifier: Apache-2.0
// A case of the conformance suite: one thing that a plugin must do, the sentence that says so, and
// the code that tries it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "suite/rules.h"

namespace stria::conformance {

// What a plugin is said to be if all cases up to that level hold.
enum class Level : int {
  loads = 1,   // it is a package that loads, lists its devices and ends
  right = 2,   // programs, memory and events on one queue are right
  robust = 3,  // it bears many threads, failures, other plugins, being unloaded
  honest = 4,  // what it says of its speed is near to what is measured
};
inline constexpr Level kHighestLevel = Level::honest;
std::string_view name_of(Level level);  // "loads"

// How a case ended.
enum class Ending {
  pass,
  fail,
  skip,         // the plugin does not say that it has what the case is about
  unsupported,  // the device says that it lacks a type, a size or an operator
  xfail,        // fails, and the plugin's list of expected failures says so
  xpass,        // passes, and that list says that it fails
  crash,        // ended its process
  hang,         // did not end within its limit
  leak,         // passes, and what it took of the host grows each time
};
inline constexpr int kEndings = 9;
std::string_view name_of(Ending ending);  // "PASS"
// Whether the plugin does what it must: pass, skip and unsupported.
bool is_good(Ending ending);

// What a case found. A failed Status is a failure, and a rule that it carries is the finding's.
class Finding {
 public:
  Finding() = default;
  Finding(const Status& status);  // NOLINT: by STRIA_ASSIGN
  static Finding skip(std::string why) { return {Ending::skip, std::move(why)}; }
  static Finding leak(std::string what) {
    return {Ending::leak, std::move(what), Rule::leaves_nothing};
  }
  static Finding unsupported(std::string what) { return {Ending::unsupported, std::move(what)}; }
  Ending ending() const { return ending_; }
  // Of the failed Status that it is; ok for others.
  StatusCode code() const { return code_; }
  const std::string& text() const { return text_; }
  // Of a failure whose cause is no case's own; else the case's sentence says what is broken.
  std::optional<Rule> rule() const { return rule_; }

 private:
  Finding(Ending ending, std::string text, std::optional<Rule> rule = {})
      : ending_(ending), text_(std::move(text)), rule_(rule) {
    take_rule(text_);
  }
  Ending ending_ = Ending::pass;
  StatusCode code_ = StatusCode::ok;
  std::string text_;
  std::optional<Rule> rule_;
};

// A failure of what the case is about: what was asked for, what came, what should have come.
template <typename... Args>
Status broken(fmt::format_string<Args...> text, Args&&... args) {
  std::string message = fmt::format(text, std::forward<Args>(args)...);
  take_rule(message);
  return Status(StatusCode::failed_precondition, std::move(message));
}
// The same of a rule that is not the case's own.
template <typename... Args>
Status broken_rule(Rule rule, fmt::format_string<Args...> text, Args&&... args) {
  return with_rule(broken(text, std::forward<Args>(args)...), rule);
}

// Where a case runs. Every case runs in a child process.
enum class Place {
  bare,    // in a process of its own in which nothing of the plugin is loaded yet
  own,     // in a process of its own, with the plugin loaded and its device open
  shared,  // in such a process, after other cases
};

class Subject;

struct Case {
  // The group's letter first: "M.copy.odd_offset_17". Letters, digits, '_' and '.'.
  std::string name;
  Level level = Level::right;
  // A sentence of stria/plugin.h, word by word, or of the page of the guide that `source` names. It
  // is what the case tries: what it finds broken on the way there has a Rule (suite/rules.h).
  std::string_view sentence;
  std::function<Finding(Subject&)> run;
  Place place = Place::shared;
  std::chrono::milliseconds limit{10'000};
  std::string_view source = "stria/plugin.h";
  char group() const { return name.empty() ? '?' : name[0]; }
};

struct Group {
  char letter;
  std::string_view name;  // "memory"
  std::string_view what;  // for people
};
// In the order in which they run.
const std::vector<Group>& all_groups();

}  // namespace stria::conformance
