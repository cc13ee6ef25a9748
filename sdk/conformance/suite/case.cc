// SPDX-License-Identifier: Apache-2.0
#include "suite/case.h"

namespace stria::conformance {

std::string_view name_of(Level level) {
  switch (level) {
    case Level::loads: return "loads";
    case Level::right: return "right";
    case Level::robust: return "robust";
    case Level::honest: return "honest";
  }
  return "none";
}

std::string_view name_of(Ending ending) {
  switch (ending) {
    case Ending::pass: return "PASS";
    case Ending::fail: return "FAIL";
    case Ending::skip: return "SKIP";
    case Ending::unsupported: return "UNSUPPORTED";
    case Ending::xfail: return "XFAIL";
    case Ending::xpass: return "XPASS";
    case Ending::crash: return "CRASH";
    case Ending::hang: return "HANG";
    case Ending::leak: return "LEAK";
  }
  return "FAIL";
}

bool is_good(Ending ending) {
  return ending == Ending::pass || ending == Ending::skip || ending == Ending::unsupported;
}

Finding::Finding(const Status& status)
    : ending_(status.ok() ? Ending::pass : Ending::fail),
      code_(status.code()),
      text_(status.message()),
      rule_(take_rule(text_)) {}

const std::vector<Group>& all_groups() {
  static const std::vector<Group> groups = {
      {'P', "package", "files, manifest and shared object, before anything is loaded"},
      {'N', "negotiation", "versions, sizes of structs and tables, slots that are missing"},
      {'E', "lifecycle", "listing, opening and ending, many times, in any order, in two hosts"},
      {'H', "model", "hardware model and pipeline: valid, complete, within what physics allows"},
      {'M', "memory", "buffers: copies, fills and mappings of every size and offset"},
      {'Q', "events", "order, waits, failures that travel, random graphs of work"},
      {'X', "executables", "building, bad input, the same code twice, kernels and their arguments"},
      {'K', "numbers", "every operation and type against the interpreter, and generated programs"},
      {'T', "threads", "what may be called at once, and what must return at once"},
      {'F', "faults", "no memory, failed waits, lost devices, work that is released in flight"},
      {'C', "company", "beside other plugins, in either order, and beside itself"},
      {'R', "time", "durations of events, and estimates where the plugin gives them"},
      {'V', "checks", "what the suite's checks of every call have seen while other cases ran"},
  };
  return groups;
}

}  // namespace stria::conformance
