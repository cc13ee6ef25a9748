// SPDX-License-Identifier: Apache-2.0
#include "suite/all_cases.h"

#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "company/company_cases.h"
#include "events/event_cases.h"
#include "executables/executable_cases.h"
#include "faults/fault_cases.h"
#include "lifecycle/lifecycle_cases.h"
#include "memory/memory_cases.h"
#include "model/model_cases.h"
#include "negotiation/negotiation_cases.h"
#include "numbers/number_cases.h"
#include "package/package_cases.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "suite/batches.h"
#include "suite/check_cases.h"
#include "suite/subject.h"
#include "threads/thread_cases.h"
#include "time/time_cases.h"

namespace stria::conformance {

Case& CaseMaker::add(char group, std::string_view name, Level level, std::string_view sentence,
                     std::function<Finding(Subject&)> run) {
  Case c;
  c.name = fmt::format("{}.{}", group, name);
  c.level = level;
  c.sentence = sentence;
  c.run = std::move(run);
  out.push_back(std::move(c));
  return out.back();
}

std::vector<Case> all_cases(const std::filesystem::path& directory) {
  std::vector<Case> out;
  CaseMaker maker{directory, out};
  add_package_cases(maker);
  add_negotiation_cases(maker);
  add_lifecycle_cases(maker);
  add_model_cases(maker);
  add_memory_cases(maker);
  add_event_cases(maker);
  add_executable_cases(maker);
  add_number_cases(maker);
  add_thread_cases(maker);
  add_fault_cases(maker);
  add_company_cases(maker);
  add_duration_cases(maker);
  add_estimate_cases(maker);
  add_rank_cases(maker);
  add_check_cases(maker);
  // After the shared cases of each group, the process is left in order.
  for (const Group& group : all_groups()) {
    Level level = kHighestLevel;
    // The end of a process may wait for what any of its cases has begun: it has as much time as
    // the longest of them.
    auto limit = std::chrono::milliseconds(0);
    bool has_shared = false;
    for (const Case& c : out)
      if (c.group() == group.letter && c.place == Place::shared) {
        level = std::min(level, c.level);
        limit = std::max(limit, c.limit);
        has_shared = true;
      }
    if (!has_shared) continue;
    Case& ends = maker.add(group.letter, "ends", level,
                           "Ends the plugin's work; every other handle has been released and every "
                           "event is done.",
                           [](Subject& subject) -> Finding { return subject.end(); });
    ends.limit = std::max(limit, ends.limit);
  }
  std::set<std::string> names;
  for (const Case& c : out)
    STRIA_CHECK(names.insert(c.name).second, "two cases are called '{}'", c.name);
  return out;
}

namespace {

bool matches(const std::string& name, const std::string& wanted) {
  return name == wanted || name.rfind(wanted + ".", 0) == 0 ||
         ::fnmatch(wanted.c_str(), name.c_str(), 0) == 0;
}

}  // namespace

Result<std::vector<size_t>> selected(const std::vector<Case>& all, Level level,
                                     const std::vector<std::string>& only) {
  for (const std::string& wanted : only)
    if (std::none_of(all.begin(), all.end(),
                     [&](const Case& c) { return matches(c.name, wanted); })) {
      std::vector<std::string> names;
      for (const Case& c : all) names.push_back(c.name);
      return make_error(StatusCode::invalid_argument, "no case is called '{}'{}",
                        shown_name(wanted), did_you_mean(wanted, names));
    }
  std::vector<size_t> out;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].level <= level &&
        (only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& wanted) {
           return matches(all[i].name, wanted);
         })))
      out.push_back(i);
  return out;
}

}  // namespace stria::conformance
