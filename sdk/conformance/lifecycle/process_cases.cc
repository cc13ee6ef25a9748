// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/process_cases.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "lifecycle/forked_run.h"
#include "lifecycle/session.h"
#include "suite/process_facts.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kStays =
    "The working folder, the user, the mode mask and descriptors 0, 1 and 2 stay what they were, "
    "and so do the resource limits, which may be raised.";
constexpr std::string_view kHandlers = "Handlers of all other signals stay the application's.";
constexpr std::string_view kVariables =
    "Variables of the environment that were there keep their values in every slot; a driver may "
    "add its own.";
constexpr std::string_view kThread =
    "A slot returns to a thread that takes the same signals as before, and whose floats round, and "
    "vanish near zero, as before.";
constexpr std::string_view kLocaleAndPriority =
    "The locale and the priority of the process stay as they were.";
constexpr std::string_view kNoProcessLeft =
    "After `driver.shutdown` no process that it has started is left.";
constexpr std::string_view kPrintsNothing =
    "It prints nothing: what it has to say goes through the host's `log`.";

// What only this thread has: signals that it does not take, and how its floats round.
struct ThreadFacts {
  sigset_t blocked{};
  static ThreadFacts now() {
    ThreadFacts out;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &out.blocked);
    return out;
  }
};

struct Facts {
  ProcessFacts process = ProcessFacts::now();
  ThreadFacts thread = ThreadFacts::now();
  int priority = ::getpriority(PRIO_PROCESS, 0);
};

// The first thing that is otherwise, in words; "" if nothing is.
using Compare = std::string (*)(const Facts& before, const Facts& after);

struct Fact {
  const char* name;
  std::string_view sentence;
  Compare compare;
};

// Signals that are the application's alone. Compilers inside drivers take those of crashes and of
// users, and hosts put them back.
constexpr int kOwners[] = {SIGCHLD, SIGALRM, SIGPIPE, SIGPROF, SIGVTALRM,
                           SIGCONT, SIGTSTP, SIGURG,  SIGIO,   SIGWINCH};

const Fact kFacts[] = {
    {"outputs_folder_user_and_limits", kStays,
     [](const Facts& before, const Facts& after) {
       const std::string text = before.process.state.changed_to(after.process.state);
       return text;
     }},
    {"signal_handlers", kHandlers,
     [](const Facts& before, const Facts& after) -> std::string {
       for (const int number : kOwners)
         if (before.process.handlers.at(number) != after.process.handlers.at(number))
           return fmt::format("the handler of signal {} is another one", number);
       return "";
     }},
    {"signal_mask", kThread,
     [](const Facts& before, const Facts& after) -> std::string {
       for (int number = 1; number < NSIG; ++number)
         if (::sigismember(&before.thread.blocked, number) !=
             ::sigismember(&after.thread.blocked, number))
           return fmt::format(
               "the calling thread takes the signal {} {}", number,
               ::sigismember(&after.thread.blocked, number) == 1 ? "no more" : "now");
       return "";
     }},
    {"variables", kVariables,
     [](const Facts& before, const Facts& after) -> std::string {
       for (const auto& [name, value] : before.process.variables)
         if (after.process.variables.count(name) == 0 || after.process.variables.at(name) != value)
           return "the variable " + name + " is another one, or gone";
       return "";
     }},
    {"rounding", kThread,
     [](const Facts& before, const Facts& after) -> std::string {
       if (before.process.rounding == after.process.rounding &&
           before.process.float_flags == after.process.float_flags)
         return "";
       return fmt::format(
           "floats of the calling thread round or vanish otherwise: mode {} and "
           "flags {:#x}, before {} and {:#x}",
           after.process.rounding, after.process.float_flags, before.process.rounding,
           before.process.float_flags);
     }},
    {"locale", kLocaleAndPriority,
     [](const Facts& before, const Facts& after) -> std::string {
       if (before.process.locale == after.process.locale) return "";
       return "the locale is " + after.process.locale + ", before " + before.process.locale;
     }},
    {"priority", kLocaleAndPriority,
     [](const Facts& before, const Facts& after) -> std::string {
       if (before.priority == after.priority) return "";
       return fmt::format("the priority is {}, before {}", after.priority, before.priority);
     }},
};

Case& add(CaseMaker& maker, const std::string& name, std::string_view sentence,
          std::function<Finding(Subject&)> run) {
  Case& c = maker.add('E', name, Level::robust, sentence, std::move(run));
  c.place = Place::bare;
  c.limit = std::chrono::seconds(60);
  c.source = "guide/process.md";
  return c;
}

}  // namespace

void add_process_cases(CaseMaker& maker) {
  for (const Fact& fact : kFacts)
    for (const Stage stage : {Stage::opened, Stage::failed, Stage::ended})
      add(maker, fmt::format("process.{}_{}", fact.name, name_of(stage)), fact.sentence,
          [&fact, stage](Subject& subject) -> Finding {
            const Facts before;
            Session session(subject);
            STRIA_RETURN_IF_ERROR(session.go_to(stage));
            const std::string changed = fact.compare(before, Facts());
            if (!changed.empty()) return broken("{}", changed);
            return session.end();
          });
  // What it starts it ends: a compiler's process that comes and goes is no business of the host's.
  add(maker, "process.no_child_ended", kNoProcessLeft, [](Subject& subject) -> Finding {
    const Facts before;
    Session session(subject);
    STRIA_RETURN_IF_ERROR(session.go_to(Stage::ended));
    for (const int child : Facts().process.children)
      if (before.process.children.count(child) == 0)
        return broken("after driver.shutdown the process {} of its own is left", child);
    return {};
  });
  for (const Stage stage : {Stage::listed, Stage::opened, Stage::failed, Stage::ended})
    add(maker, fmt::format("process.prints_nothing_{}", name_of(stage)), kPrintsNothing,
        [stage](Subject& subject) -> Finding {
          const Status status = status_forked(
              [&] {
                Session session(subject);
                return session.go_to(stage);
              },
              true);
          if (status.code() == StatusCode::unsupported)
            return Finding::unsupported(status.message());
          return status;
        });
}

}  // namespace stria::conformance
