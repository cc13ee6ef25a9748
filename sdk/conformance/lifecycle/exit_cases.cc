// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "lifecycle/end_cases.h"
#include "lifecycle/forked_run.h"
#include "lifecycle/session.h"
#include "stria/base/shown_text.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kJustExits = "Not called when the process just exits.";
constexpr int kCode = 7;
// What a child says if it does not get so far.
constexpr int kNotSoFar = 99;

Case& add(CaseMaker& maker, const std::string& name, Level level, std::string_view sentence,
          std::function<Finding(Subject&)> run) {
  Case& c = maker.add('E', name, level, sentence, std::move(run));
  c.place = Place::bare;
  c.limit = std::chrono::seconds(60);
  return c;
}

// A process that goes to the stage and then ends by `leave`, which does not return, has the exit
// code that it asked for, and says nothing.
Finding ends_with(Subject& subject, Stage stage,
                  const std::function<void(Subject&, Session&)>& leave, int code = kCode) {
  STRIA_ASSIGN(const ForkedEnd end, run_forked([&](const Say& say) {
                 Session session(subject);
                 if (const Status status = session.go_to(stage); !status.ok()) {
                   say(status.message());
                   return kNotSoFar + (status.code() == StatusCode::unsupported ? 1 : 0);
                 }
                 leave(subject, session);
                 return 0;
               }));
  const bool exited = end.in_time && WIFEXITED(end.wait_status);
  if (exited && WEXITSTATUS(end.wait_status) == kNotSoFar + 1)
    return Finding::unsupported(end.said);
  if (exited && WEXITSTATUS(end.wait_status) == kNotSoFar) return broken("{}", end.said);
  if (!exited || WEXITSTATUS(end.wait_status) != code) {
    const Status status =
        broken("a process that leaves with {} ({}) {}{}", code, name_of(stage), words_for(end),
               end.printed.empty() ? "" : "; it prints '" + shown_name(end.printed, 300) + "'");
    return end.in_time ? with_rule(status, Rule::keeps_process) : status;
  }
  return {};
}

}  // namespace

void add_exit_cases(CaseMaker& maker) {
  for (const Stage stage : kStages)
    add(maker, fmt::format("exit.{}", name_of(stage)),
        stage < Stage::opened ? Level::loads : Level::robust, kJustExits,
        [stage](Subject& subject) {
          return ends_with(subject, stage, [](Subject&, Session&) { std::exit(kCode); });
        });
  for (const Stage stage : {Stage::opened, Stage::running, Stage::ended}) {
    add(maker, fmt::format("exit.quickly_{}", name_of(stage)), Level::robust, kJustExits,
        [stage](Subject& subject) {
          return ends_with(subject, stage, [](Subject&, Session&) { std::quick_exit(kCode); });
        });
    add(maker, fmt::format("exit.with_0_{}", name_of(stage)), Level::robust, kJustExits,
        [stage](Subject& subject) {
          return ends_with(subject, stage, [](Subject&, Session&) { std::exit(0); }, 0);
        });
  }
  add(maker, "exit.on_another_thread", Level::robust, kJustExits, [](Subject& subject) {
    return ends_with(subject, Stage::built,
                     [](Subject&, Session&) { std::thread([] { std::exit(kCode); }).join(); });
  });
  add(maker, "exit.while_a_thread_waits", Level::robust, kJustExits, [](Subject& subject) {
    return ends_with(subject, Stage::worked, [](Subject& of, Session&) {
      const DeviceWork work(of);
      const Result<Event> open = work.host_event();
      if (!open.ok()) return;
      std::atomic<bool> begun{false};
      // Waits until the process is gone.
      std::thread([&] {
        begun = true;
        stria_error* error = work.tables().event.wait(open->get(), UINT64_MAX);
        if (error) error->release(error);
      }).detach();
      while (!begun) ::usleep(100);
      ::usleep(2000);
      std::exit(kCode);
    });
  });
  add(maker, "exit.while_threads_submit", Level::robust, kJustExits, [](Subject& subject) {
    return ends_with(subject, Stage::worked, [](Subject& of, Session&) {
      const DeviceWork work(of);
      std::atomic<int> rounds{0};
      for (uint32_t t = 0; t < 2; ++t)
        std::thread([&, t] {
          while (true) {
            (void)work_round(work, t);
            ++rounds;
          }
        }).detach();
      while (rounds < 4) ::usleep(100);
      // An exit code that has been decided is kept only by leaving without what is left to run:
      // other threads go on in the plugin meanwhile.
      ::_exit(kCode);
    });
  });
  add(maker, "exit.into_another_program", Level::robust, kJustExits, [](Subject& subject) {
    return ends_with(subject, Stage::running, [](Subject&, Session&) {
      ::execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
      ::_exit(kNotSoFar);
    });
  });
  add(maker, "exit.after_two_lives", Level::robust, kJustExits, [](Subject& subject) {
    return ends_with(subject, Stage::ended, [](Subject& of, Session&) {
      Session again(of);
      if (!again.go_to(Stage::ended).ok()) ::_exit(kNotSoFar);
      std::exit(kCode);
    });
  });
}

}  // namespace stria::conformance
