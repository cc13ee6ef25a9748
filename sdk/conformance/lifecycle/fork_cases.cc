// SPDX-License-Identifier: Apache-2.0
// A process that has a plugin loaded starts others by fork, as shells and test runners do.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "lifecycle/end_cases.h"
#include "lifecycle/session.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kForkedChild =
    "Processes: the tables are valid in the process that queried them; a forked child may not use "
    "them.";

Case& add(CaseMaker& maker, const std::string& name, std::function<Finding(Subject&)> run) {
  Case& c = maker.add('E', name, Level::robust, kForkedChild, std::move(run));
  c.place = Place::bare;
  c.limit = std::chrono::seconds(60);
  return c;
}

// Forks, and says how the child ended that ran `work`, which does not return. The plugin's threads
// are not in the child.
Status child_ends(const std::function<void()>& work, int code) {
  const pid_t child = ::fork();
  if (child < 0) return make_error(StatusCode::unavailable, "no process can be started");
  if (child == 0) {
    work();
    ::_exit(111);
  }
  int status = 0;
  for (int i = 0; i < 2000; ++i) {
    const pid_t done = ::waitpid(child, &status, WNOHANG);
    if (done == child) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == code) return Status();
      if (WIFSIGNALED(status))
        return broken("a forked child that only exits crashes: {}", ::strsignal(WTERMSIG(status)));
      return broken("a forked child that exits with {} ends with {}", code, WEXITSTATUS(status));
    }
    ::usleep(i < 100 ? 100 : 10'000);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return broken("a forked child that only exits does not end");
}

// At that stage a child comes and goes; then the plugin's life goes on to its end.
Finding forks_at(Subject& subject, Stage stage, const std::function<void()>& work, int code) {
  Session session(subject);
  STRIA_RETURN_IF_ERROR(session.go_to(stage));
  for (int i = 0; i < 3; ++i) STRIA_RETURN_IF_ERROR(child_ends(work, code));
  return session.go_to(Stage::ended);
}

}  // namespace

void add_fork_cases(CaseMaker& maker) {
  for (const Stage stage : kStages) {
    if (stage == Stage::ended) continue;
    add(maker, fmt::format("fork.{}", name_of(stage)),
        [stage](Subject& subject) { return forks_at(subject, stage, [] { ::_exit(5); }, 5); });
  }
  for (const Stage stage : {Stage::opened, Stage::running})
    add(maker, fmt::format("fork.and_exec_{}", name_of(stage)), [stage](Subject& subject) {
      return forks_at(subject, stage, [] { ::execl("/bin/sh", "sh", "-c", "exit 5", nullptr); }, 5);
    });
  add(maker, "fork.child_allocates", [](Subject& subject) {
    return forks_at(
        subject, Stage::running,
        [] {
          // What applications do between fork and exec.
          std::string text;
          for (int i = 0; i < 1000; ++i) text += std::to_string(i);
          ::_exit(text.size() > 1000 ? 5 : 6);
        },
        5);
  });
  add(maker, "fork.child_outlives_the_plugin", [](Subject& subject) -> Finding {
    Session session(subject);
    STRIA_RETURN_IF_ERROR(session.go_to(Stage::running));
    int pipe[2];
    if (::pipe(pipe) != 0) return make_error(StatusCode::unavailable, "no pipe");
    const pid_t child = ::fork();
    if (child < 0) return make_error(StatusCode::unavailable, "no process can be started");
    if (child == 0) {
      ::close(pipe[1]);
      char byte;
      // Ends when its parent has closed the other end.
      ::_exit(::read(pipe[0], &byte, 1) == 0 ? 5 : 6);
    }
    ::close(pipe[0]);
    const Status status = session.go_to(Stage::ended);
    ::close(pipe[1]);
    int end = 0;
    while (::waitpid(child, &end, 0) < 0 && errno == EINTR) {
    }
    STRIA_RETURN_IF_ERROR(status);
    if (!WIFEXITED(end) || WEXITSTATUS(end) != 5)
      return broken("a child that was forked before the shutdown ends otherwise than it should");
    return {};
  });
  add(maker, "fork.while_threads_work", [](Subject& subject) -> Finding {
    STRIA_RETURN_IF_ERROR(subject.open());
    const DeviceWork work(subject);
    std::atomic<bool> stop{false};
    Status found[2];
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < 2; ++t)
      threads.emplace_back([&, t] {
        for (uint32_t round = 0; !stop && found[t].ok(); ++round)
          found[t] = work_round(work, t * 1000 + round);
      });
    Status children;
    for (int i = 0; i < 20 && children.ok(); ++i) children = child_ends([] { ::_exit(5); }, 5);
    stop = true;
    for (std::thread& thread : threads) thread.join();
    STRIA_RETURN_IF_ERROR(children);
    for (const Status& status : found) STRIA_RETURN_IF_ERROR(status);
    return subject.end();
  });
}

}  // namespace stria::conformance
