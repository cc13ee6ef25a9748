// SPDX-License-Identifier: Apache-2.0
#include "package/load_cases.h"

#include <chrono>

#include "suite/process_facts.h"
#include "suite/subject.h"

namespace stria::conformance {
namespace {

// Beyond this an application's start suffers from a plugin that it may never use.
constexpr int kLoadLimitMs = 2000;

using Check = std::function<Status(const ProcessFacts& before, const ProcessFacts& after)>;

// Adds a case that compares the process before the library is loaded and after, and after the
// tables were asked for.
void add(CaseMaker& maker, std::string_view name, std::string_view sentence, const Check& check) {
  for (const bool asks : {false, true}) {
    Case& c = maker.add('P', fmt::format("{}.{}", asks ? "query" : "load", name), Level::loads,
                        sentence, [asks, check](Subject& subject) -> Finding {
                          if (asks) STRIA_RETURN_IF_ERROR(subject.load());
                          const ProcessFacts before = ProcessFacts::now();
                          STRIA_RETURN_IF_ERROR(asks ? subject.ask() : subject.load());
                          return check(before, ProcessFacts::now());
                        });
    c.place = Place::bare;
    c.source = "guide/process.md";
  }
}

// The first entry of `after` that `before` does not have, or has otherwise; "" if there is none.
template <typename Map>
std::string first_change(const Map& before, const Map& after) {
  for (const auto& [key, value] : after) {
    const auto it = before.find(key);
    if (it == before.end() || it->second != value) return fmt::format("{}", key);
  }
  for (const auto& [key, value] : before)
    if (after.count(key) == 0) return fmt::format("{}", key);
  return "";
}

}  // namespace

void add_load_cases(CaseMaker& maker) {
  constexpr std::string_view kStays =
      "The working folder, the user, the mode mask and descriptors 0, 1 and 2 stay what they were, "
      "and so do the resource limits, which may be raised.";
  constexpr std::string_view kLoading =
      "Loading it and asking for its tables starts no thread and no process, leaves no descriptor "
      "open, sets no handler of a signal and neither changes nor adds a variable of the "
      "environment.";
  constexpr std::string_view kThread =
      "A slot returns to a thread that takes the same signals as before, and whose floats round, "
      "and vanish near zero, as before.";
  constexpr std::string_view kLocale =
      "The locale and the priority of the process stay as they were.";
  constexpr std::string_view kInTime =
      "Loading it takes less than two seconds, and so does asking for its tables.";

  for (const bool asks : {false, true}) {
    Case& c = maker.add('P', asks ? "query.in_time" : "load.in_time", Level::loads, kInTime,
                        [asks](Subject& subject) -> Finding {
                          const std::chrono::milliseconds limit(patience_ms(kLoadLimitMs));
                          const auto begin = std::chrono::steady_clock::now();
                          STRIA_RETURN_IF_ERROR(asks ? subject.ask() : subject.load());
                          const auto took = std::chrono::steady_clock::now() - begin;
                          if (took > limit)
                            return broken(
                                "it took {} ms, the limit is {}",
                                std::chrono::duration_cast<std::chrono::milliseconds>(took).count(),
                                limit.count());
                          return {};
                        });
    c.place = Place::bare;
    c.source = "guide/process.md";
  }
  add(maker, "keeps_process_state", kStays,
      [](const ProcessFacts& before, const ProcessFacts& after) -> Status {
        const std::string changed = before.state.changed_to(after.state);
        return changed.empty() ? Status() : broken("{}", changed);
      });
  add(maker, "starts_no_thread", kLoading,
      [](const ProcessFacts& before, const ProcessFacts& after) -> Status {
        for (const std::string& thread : after.threads)
          if (before.threads.count(thread) == 0) return broken("it starts the thread {}", thread);
        return Status();
      });
  add(maker, "starts_no_process", kLoading,
      [](const ProcessFacts& before, const ProcessFacts& after) -> Status {
        for (const int child : after.children)
          if (before.children.count(child) == 0) return broken("it starts the process {}", child);
        return Status();
      });
  add(maker, "opens_nothing", kLoading,
      [](const ProcessFacts& before, const ProcessFacts& after) -> Status {
        for (const auto& [number, target] : after.descriptors)
          if (before.descriptors.count(number) == 0)
            return broken("it leaves descriptor {} open, which is {}", number, target);
        return Status();
      });
  add(maker, "keeps_signal_handlers", kLoading,
      [](const ProcessFacts& before, const ProcessFacts& after) -> Status {
        const std::string changed = first_change(before.handlers, after.handlers);
        return changed.empty() ? Status() : broken("it sets a handler for signal {}", changed);
      });
  add(maker, "keeps_variables", kLoading,
      [](const ProcessFacts& before, const ProcessFacts& after) -> Status {
        const std::string changed = first_change(before.variables, after.variables);
        return changed.empty() ? Status() : broken("it changes the variable {}", changed);
      });
  add(maker, "keeps_rounding", kThread,
      [](const ProcessFacts& before, const ProcessFacts& after) -> Status {
        if (before.rounding == after.rounding && before.float_flags == after.float_flags)
          return Status();
        return broken(
            "it changes how floats round or vanish: mode {} and flags {:#x}, not {} and "
            "{:#x}",
            after.rounding, after.float_flags, before.rounding, before.float_flags);
      });
  add(maker, "keeps_locale", kLocale,
      [](const ProcessFacts& before, const ProcessFacts& after) -> Status {
        if (before.locale == after.locale) return Status();
        return broken("it changes the locale from {} to {}", before.locale, after.locale);
      });
}

}  // namespace stria::conformance
