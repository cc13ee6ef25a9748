// SPDX-License-Identifier: Apache-2.0
// Cases that do all that plugins do to their process: each gets the ending that it earned, and the
// others run.
#include "suite/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <new>
#include <thread>

#include "suite/child.h"
#include "suite/verdict.h"

namespace stria::conformance {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class Runner : public testing::Test {
 protected:
  void add(const std::string& name, std::function<Finding(Subject&)> run,
           Place place = Place::shared, int limit_ms = 20'000) {
    Case c;
    c.name = "M." + name;
    c.sentence = "It does.";
    c.run = std::move(run);
    c.place = place;
    c.limit = std::chrono::milliseconds(limit_ms);
    cases_.push_back(std::move(c));
  }
  void add_good(const std::string& name) {
    add(name, [](Subject&) { return Finding(); });
  }
  // The results by name, without the group's letter.
  std::map<std::string, CaseResult> run(int jobs = 2) {
    std::map<std::string, CaseResult> out;
    for (const CaseResult& one : run_all(jobs).cases) out[cases_[one.index].name.substr(2)] = one;
    return out;
  }
  RunResult run_all(int jobs) {
    std::vector<size_t> which(cases_.size());
    for (size_t i = 0; i < which.size(); ++i) which[i] = i;
    RunOptions options;
    options.subject.directory = fs::path(STRIA_BINARY_DIR) / "lib/stria/plugins/reference";
    options.subject.scratch = fs::temp_directory_path();
    options.jobs = jobs;
    options.stop = &stop_;
    options.hangs = hangs_;
    auto result = run_cases(cases_, which, options);
    EXPECT_TRUE(result.ok()) << result.status().to_string();
    return result.ok() ? std::move(*result) : RunResult();
  }
  std::vector<Case> cases_;
  std::atomic<bool> stop_{false};
  int hangs_ = 8;
};

// How many processes have this one as their parent.
int children() {
  int count = 0;
  std::ifstream file("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  for (int pid; file >> pid;) ++count;
  return count;
}

TEST_F(Runner, EveryEnding) {
  add_good("first");
  add("fails", [](Subject&) -> Finding { return broken("byte {} is {}", 3, 4); });
  add("aborts", [](Subject&) -> Finding { std::abort(); });
  add("faults", [](Subject&) -> Finding {
    volatile int* nowhere = nullptr;
    *nowhere = 1;
    return {};
  });
  add("exits", [](Subject&) -> Finding { std::exit(0); });
  add("exits_early", [](Subject&) -> Finding { ::_exit(7); });
  add("kills_itself", [](Subject&) -> Finding {
    ::kill(::getpid(), SIGKILL);
    return {};
  });
  add("fails_on_its_way", [](Subject&) -> Finding {
    return broken_rule(rule_of(Slot::executor_fill), "no fill of {} bytes", 4);
  });
  add("skips", [](Subject&) { return Finding::skip("there is none"); });
  add("lacks", [](Subject&) { return Finding::unsupported("fp16"); });
  add("throws", [](Subject&) -> Finding { throw std::runtime_error("from a case"); });
  add(
      "hangs",
      [](Subject&) -> Finding {
        while (true) ::pause();
      },
      Place::shared, 300);
  add_good("last");
  auto results = run();
  EXPECT_EQ(results["first"].ending, Ending::pass);
  EXPECT_EQ(results["last"].ending, Ending::pass);
  EXPECT_EQ(results["fails"].ending, Ending::fail);
  EXPECT_THAT(results["fails"].text, HasSubstr("byte 3 is 4"));
  EXPECT_EQ(results["fails"].rule, std::nullopt);
  EXPECT_EQ(results["fails_on_its_way"].rule, rule_of(Slot::executor_fill));
  EXPECT_EQ(results["fails_on_its_way"].text, "no fill of 4 bytes");
  for (const char* name : {"aborts", "faults", "exits", "exits_early", "kills_itself"}) {
    EXPECT_EQ(results[name].ending, Ending::crash) << name;
    EXPECT_EQ(results[name].rule, Rule::keeps_process) << name;
  }
  EXPECT_THAT(results["aborts"].text, HasSubstr("Aborted"));
  EXPECT_THAT(results["exits"].text, HasSubstr("exit code 0"));
  EXPECT_THAT(results["exits_early"].text, HasSubstr("exit code 7"));
  EXPECT_EQ(results["skips"].ending, Ending::skip);
  EXPECT_EQ(results["lacks"].ending, Ending::unsupported);
  EXPECT_EQ(results["throws"].ending, Ending::fail);
  EXPECT_EQ(results["hangs"].ending, Ending::hang);
  EXPECT_THAT(results["hangs"].text, HasSubstr("did not end within 0.3 s"));
  EXPECT_EQ(children(), 0);
}

// A case that waits in vain and says so has hung as well, and so the rest of its process is not
// tried, nor is any case again.
TEST_F(Runner, GroupsThatWaitInVainAreGivenUp) {
  const auto wait = [](Subject&) -> Finding {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    return broken("nothing came");
  };
  for (int i = 0; i < 20; ++i) add("waits_" + std::to_string(i), wait, Place::shared, 100);
  for (int i = 0; i < 3; ++i)
    add("fails_at_once_" + std::to_string(i), [](Subject&) -> Finding { return broken("no"); });
  for (int i = 0; i < 3; ++i) cases_[cases_.size() - 1 - static_cast<size_t>(i)].name[0] = 'K';
  hangs_ = 4;
  std::map<Ending, int> m, k;
  for (const CaseResult& one : run_all(1).cases) {
    const bool of_m = cases_[one.index].group() == 'M';
    ++(of_m ? m : k)[one.ending];
    if (of_m && one.ending == Ending::skip) {
      EXPECT_THAT(one.text, HasSubstr("not tried: 4 of"));
      EXPECT_FALSE(one.is_tried);
    }
  }
  EXPECT_THAT(m, UnorderedElementsAre(Pair(Ending::fail, 4), Pair(Ending::skip, 16)));
  EXPECT_THAT(k, UnorderedElementsAre(Pair(Ending::fail, 3)));
  // The next group may wait half as often.
  for (int i = 0; i < 20; ++i) {
    add("of_another_" + std::to_string(i), wait, Place::shared, 100);
    cases_.back().name[0] = 'Q';
  }
  std::map<Ending, int> q;
  for (const CaseResult& one : run_all(1).cases)
    if (cases_[one.index].group() == 'Q') ++q[one.ending];
  EXPECT_THAT(q, UnorderedElementsAre(Pair(Ending::fail, 2), Pair(Ending::skip, 18)));
}

// What hangs everywhere has its verdict soon: the first group may hang `hangs` times, each further
// one half as often.
TEST_F(Runner, GroupsThatHangAreGivenUp) {
  const auto pause = [](Subject&) -> Finding {
    while (true) ::pause();
  };
  for (int i = 0; i < 20; ++i) add("hangs_" + std::to_string(i), pause, Place::shared, 50);
  add("alone", [](Subject&) { return Finding(); }, Place::own);  // comes first
  for (int i = 0; i < 20; ++i) {
    add("of_another_" + std::to_string(i), pause, Place::shared, 50);
    cases_.back().name[0] = 'Q';
    cases_.back().level = Level::loads;
  }
  add("right", [](Subject&) { return Finding(); });
  cases_.back().name[0] = 'K';
  hangs_ = 4;
  std::map<Ending, int> m, q;
  const RunResult result = run_all(1);
  for (const CaseResult& one : result.cases) {
    const Case& c = cases_[one.index];
    if (c.group() == 'K') {
      EXPECT_EQ(one.ending, Ending::pass);
      continue;
    }
    ++(c.group() == 'M' ? m : q)[one.ending];
    EXPECT_EQ(one.is_tried, one.ending != Ending::skip);
    if (!one.is_tried) {
      EXPECT_THAT(one.text, HasSubstr(c.group() == 'M' ? "not tried: 4 of" : "not tried: 2 of"));
    }
  }
  EXPECT_THAT(m, UnorderedElementsAre(Pair(Ending::pass, 1), Pair(Ending::hang, 4),
                                      Pair(Ending::skip, 16)));
  EXPECT_THAT(q, UnorderedElementsAre(Pair(Ending::hang, 2), Pair(Ending::skip, 18)));
  // What was not tried does not hold.
  std::vector<CaseResult> untried;
  for (const CaseResult& one : result.cases)
    if (!one.is_tried && cases_[one.index].group() == 'Q') untried.push_back(one);
  EXPECT_EQ(verdict_of(cases_, untried, Level::right, true).level, 0);
}

TEST_F(Runner, WhatFailsOnlyAmongOthersSaysSo) {
  static int before = 0;
  add("spoils", [](Subject&) -> Finding {
    ++before;
    return {};
  });
  add("is_spoilt", [](Subject&) -> Finding {
    if (before > 0) return broken("it was spoilt");
    return {};
  });
  auto results = run(1);
  EXPECT_EQ(results["is_spoilt"].ending, Ending::fail);
  EXPECT_THAT(results["is_spoilt"].text, HasSubstr("in a process of its own it passes"));
}

TEST_F(Runner, LeaksGrow) {
  add("leaks", [](Subject& subject) -> Finding {
    subject.host().services().allocate(subject.host().services().host, 100, 64);
    return {};
  });
  static bool kept = false;
  add("keeps_once", [](Subject& subject) -> Finding {
    if (!kept) subject.host().services().allocate(subject.host().services().host, 100, 64);
    kept = true;
    return {};
  });
  auto results = run();
  EXPECT_EQ(results["leaks"].ending, Ending::leak);
  EXPECT_THAT(results["leaks"].text, HasSubstr("3 allocations of the host's more after 3 runs"));
  EXPECT_EQ(results["keeps_once"].ending, Ending::pass);
}

// The process that asks is as it was, and nobody is left behind.
TEST_F(Runner, NothingReachesTheAskingProcess) {
  const fs::path folder = fs::current_path();
  add("forks", [](Subject&) -> Finding {
    if (::fork() == 0)
      while (true) ::pause();
    return {};
  });
  add("forks_and_dies", [](Subject&) -> Finding {
    if (::fork() == 0)
      while (true) ::pause();
    ::_exit(3);
  });
  add("daemon", [](Subject&) -> Finding {
    if (::fork() == 0) {
      ::setsid();
      if (::fork() == 0)
        while (true) ::pause();
      ::_exit(0);
    }
    return {};
  });
  add("detaches", [](Subject&) -> Finding {
    std::thread([] {
      while (true) ::pause();
    }).detach();
    return {};
  });
  add(
      "changes",
      [](Subject&) -> Finding {
        const rlimit small{16, 16};
        ::setrlimit(RLIMIT_NOFILE, &small);
        ::umask(0777);
        ::signal(SIGTERM, SIG_IGN);
        return ::chdir("/") == 0 ? Finding() : Finding(broken("no chdir"));
      },
      Place::own);
  add(
      "closes_all",
      [](Subject&) -> Finding {
        for (int i = 0; i < 64; ++i) ::close(i);
        return {};
      },
      Place::own);
  add(
      "writes_everywhere",
      [](Subject&) -> Finding {
        for (int i = 0; i < 64; ++i)
          (void)!::write(i, "{\"end\": 0, \"ending\": \"PASS\"}\nhello\n", 36);
        return broken("it ran");
      },
      Place::own);
  add("floods", [](Subject&) -> Finding {
    for (int i = 0; i < 200'000; ++i)
      std::printf("line %d of very many lines that nobody reads\n", i);
    std::fflush(stdout);
    return broken("it printed");
  });
  auto results = run();
  EXPECT_EQ(results["forks"].ending, Ending::pass);
  EXPECT_EQ(results["forks_and_dies"].ending, Ending::crash);
  EXPECT_EQ(results["daemon"].ending, Ending::pass);
  EXPECT_EQ(results["detaches"].ending, Ending::pass);
  EXPECT_EQ(results["closes_all"].ending, Ending::crash);
  EXPECT_EQ(results["writes_everywhere"].ending, Ending::fail);
  EXPECT_EQ(results["floods"].ending, Ending::fail);
  EXPECT_THAT(results["floods"].output, HasSubstr("line 199999 of"));
  EXPECT_LE(results["floods"].output.size(), 4096u);
  EXPECT_EQ(children(), 0);
  EXPECT_EQ(fs::current_path(), folder);
}

// A helper that the plugin of one case has started is not ended with the processes of other cases.
TEST_F(Runner, WhatACaseHasStartedIsThereUntilItsProcessEnds) {
  struct Told {
    std::atomic<pid_t> helper;
    std::atomic<int> others;  // that have begun
  };
  void* const memory =
      ::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const told = new (memory) Told();
  constexpr int kOthers = 4;
  add(
      "has_a_helper",
      [told](Subject&) -> Finding {
        if (::fork() == 0) {
          ::setsid();
          if (::fork() == 0) {
            told->helper = ::getpid();
            while (true) ::pause();
          }
          ::_exit(0);
        }
        // When the last of the others begins, those before it have ended.
        while (told->helper == 0 || told->others < kOthers) ::usleep(1000);
        if (::kill(told->helper, 0) != 0) return broken("the helper is gone");
        return {};
      },
      Place::bare, 120'000);
  for (int i = 0; i < kOthers; ++i)
    add(
        fmt::format("other_{}", i),
        [told](Subject&) -> Finding {
          while (told->helper == 0) ::usleep(1000);
          ++told->others;
          return {};
        },
        Place::bare, 120'000);
  auto results = run(2);
  for (const auto& [name, result] : results)
    EXPECT_EQ(result.ending, Ending::pass) << name << ": " << result.text;
  EXPECT_EQ(results.size(), static_cast<size_t>(kOthers + 1));
  EXPECT_NE(::kill(told->helper, 0), 0);
  EXPECT_EQ(children(), 0);
  ::munmap(memory, sizeof(Told));
}

// A case that breaks a rule of a slot says what it broke, not what an earlier one did.
TEST_F(Runner, EachCaseSaysItsOwnFault) {
  for (const char* what : {"the first fault", "another fault"})
    add(what == std::string("the first fault") ? "first" : "second",
        [what](Subject& subject) -> Finding {
          subject.options().record->add_fault(Slot::executor_copy, what);
          return {};
        });
  add_good("third");
  auto results = run(1);
  EXPECT_THAT(results["first"].text, HasSubstr("the first fault"));
  EXPECT_THAT(results["second"].text, HasSubstr("another fault"));
  EXPECT_EQ(results["third"].ending, Ending::pass);
}

TEST_F(Runner, StopsWhenAsked) {
  add(
      "hangs",
      [](Subject&) -> Finding {
        while (true) ::pause();
      },
      Place::shared, 60'000);
  const auto begin = std::chrono::steady_clock::now();
  stop_ = true;
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(children(), 0);
}

TEST_F(Runner, APluginThatIsNoneFailsEveryCase) {
  add_good("good");
  RunOptions options;
  options.subject.directory = fs::temp_directory_path();
  options.stop = &stop_;
  const auto result = run_cases(cases_, {0}, options);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->cases.size(), 1u);
  EXPECT_EQ(result->cases[0].ending, Ending::fail);
  EXPECT_THAT(result->cases[0].text, HasSubstr("plugin.json"));
}

}  // namespace
}  // namespace stria::conformance
