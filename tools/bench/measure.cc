// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <thread>

extern char** environ;

namespace stria::bench {
namespace {

// Exit status of the process; -1 if it could not start. What it printed goes to *output if given.
int run_process(const std::vector<std::string>& command, std::string* output) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  char chunk[4096];
  for (ssize_t n; (n = read(pipe_ends[0], chunk, sizeof chunk)) > 0;)
    if (output) output->append(chunk, static_cast<size_t>(n));
  close(pipe_ends[0]);
  if (failed) return -1;
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

double clock_seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

Timing summarize(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds.front(), seconds.back(),
          static_cast<int>(seconds.size())};
}

double seconds_of(const std::function<void()>& work) {
  auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double thread_seconds() { return clock_seconds(CLOCK_THREAD_CPUTIME_ID); }

double process_seconds() { return clock_seconds(CLOCK_PROCESS_CPUTIME_ID); }

std::vector<Timing> interleave(const std::vector<std::function<void()>>& works, int rounds,
                               int warmups) {
  std::vector<std::vector<double>> seconds(works.size());
  for (int round = -warmups; round < rounds; ++round)
    for (size_t n = 0; n < works.size(); ++n) {
      double s = seconds_of(works[n]);
      if (round >= 0) seconds[n].push_back(s);
    }
  std::vector<Timing> out;
  for (auto& list : seconds) out.push_back(summarize(std::move(list)));
  return out;
}

double seconds_of_process(const std::vector<std::string>& command) {
  int status = 0;
  double seconds = seconds_of([&] { status = run_process(command, nullptr); });
  return status == 0 ? seconds : -1;
}

std::string output_of_process(const std::vector<std::string>& command) {
  std::string output;
  return run_process(command, &output) == 0 ? output : "";
}

std::string machine_text() {
  std::ifstream info("/proc/cpuinfo");
  std::string model = "unknown processor";
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    model = line.substr(line.find(':') + 2);
    break;
  }
  return model + ", " + std::to_string(std::thread::hardware_concurrency()) + " cores";
}

}  // namespace stria::bench
