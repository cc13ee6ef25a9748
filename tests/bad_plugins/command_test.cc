// SPDX-License-Identifier: Apache-2.0
// The command beside bad plugins: those that hang, crash at exit or never finish do so in its
// process, and it still ends as it should.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "beside_plugins.h"
#include "stria/base/file.h"

namespace stria::bad_plugins {
namespace {

using end_to_end::Ended;
using ::testing::HasSubstr;

class BadCommandTest : public BesidePlugins {
 protected:
  // The listed plugin of that id.
  static nlohmann::json plugin_of(const Ended& ended, const std::string& id) {
    const nlohmann::json all = nlohmann::json::parse(ended.out);
    for (const auto& plugin : all.at("plugins"))
      if (plugin.at("id") == id) return plugin;
    return {};
  }
};

constexpr const char* kRun = " --input A=random:1 --shape A=16 --check";

TEST_F(BadCommandTest, DevicesListsAllInOneLineEachAndSucceeds) {
  make_bad(plugins(), "hangs", "hang driver.enumerate");
  make_bad(plugins(), "throws", "throw driver.enumerate");
  make_bad(plugins(), "odd_names", "devices with_lines");
  make_bad(plugins(), "aborts", "abort_at_exit");
  put(make_bad(plugins(), "malformed") / "plugin.json", "{\n\"schema\": oops\n}");
  fs::permissions(make_bad(plugins(), "writable") / "libbad.so", fs::perms(0777));
  const Ended ended = run("devices --time-limit 2");
  std::printf("%s", ended.out.c_str());
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.err,
            "stria: plugin throws: driver.enumerate: an exception came out of the plugin\n");
  const int good = 2;  // at least `reference` and `llvm_cpu`, of the build tree
  EXPECT_GE(std::count(ended.out.begin(), ended.out.end(), '\n'), 6 + good);
  for (const char* line :
       {"broken: plugin hangs: it has not returned within the limit of 2000 ms, in "
        "driver.enumerate\n",
        "broken: plugin throws: driver.enumerate: an exception came out of the plugin\n",
        "one two\\x1b[31m", "plugin.json:2:11: error: not JSON",
        "(mode 777); to trust it: chmod go-w", "aborts:0 ", "reference:0 ", "llvm_cpu:0 "})
    EXPECT_THAT(ended.out, HasSubstr(line));
}

TEST_F(BadCommandTest, DevicesListsAroundPluginsThatEndTheProcess) {
  make_bad(plugins(), "a_crashes", "crash driver.enumerate");
  make_bad(plugins(), "b_crashes", "crash driver.create");
  put(make_bad(plugins(), "malformed") / "plugin.json", "{\n\"schema\": oops\n}");
  make_bad(plugins(), "works");
  const Ended ended = run("devices");
  EXPECT_EQ(ended.code, 0) << ended.err;
  for (const char* line :
       {"broken: plugin a_crashes: it crashed (Aborted), in driver.enumerate\n",
        "broken: plugin b_crashes: it crashed (Aborted), in driver.create\n",
        "plugin.json:2:11: error: not JSON", "works:0 ", "reference:0 ", "llvm_cpu:0 "})
    EXPECT_THAT(ended.out, HasSubstr(line));
  EXPECT_TRUE(plugin_of(run("devices --json"), "works").at("ok"));
}

TEST_F(BadCommandTest, DevicesListsTheSecondOfTwoPluginsWithOneIdWhereTheFirstCrashes) {
  const fs::path a = files_.path("a"), b = files_.path("b");
  make_bad(a, "twin", "crash driver.enumerate");
  make_bad(b, "twin");
  files_.set_plugin_path(a.string() + ":" + b.string());
  const Ended ended = run("devices");
  EXPECT_EQ(ended.code, 0) << ended.err;
  for (const char* line : {"broken: plugin twin: it crashed (Aborted), in driver.enumerate\n",
                           "twin:0 ", "reference:0 ", "llvm_cpu:0 "})
    EXPECT_THAT(ended.out, HasSubstr(line));
}

// Whoever is loaded after it waits for the loader's lock: without fault.
TEST_F(BadCommandTest, DevicesListsAroundAPluginThatHangsInAConstructor) {
  fs::copy_file(built_object("hangs"), make_bad(plugins(), "a_hangs") / "libbad.so",
                fs::copy_options::overwrite_existing);
  make_bad(plugins(), "works");
  const Ended ended = run("devices --time-limit 2");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("broken: loading '"));
  EXPECT_THAT(ended.out,
              HasSubstr("a_hangs/libbad.so' has not returned within the limit of 2000 ms\n"));
  for (const char* line : {"works:0 ", "reference:0 ", "llvm_cpu:0 "})
    EXPECT_THAT(ended.out, HasSubstr(line));
}

TEST_F(BadCommandTest, OneOfTwoGoodPluginsWithOneIdIsUsedAndThatIsWell) {
  const fs::path a = files_.path("a"), b = files_.path("b");
  make_bad(a, "twin");
  make_bad(b, "twin");
  files_.set_plugin_path(a.string() + ":" + b.string());
  const Ended listed = run("devices");
  EXPECT_EQ(listed.code, 0);
  EXPECT_THAT(listed.out, HasSubstr("not loaded: plugin twin was found before in '"));
  EXPECT_EQ(listed.out.find("broken"), std::string::npos) << listed.out;
  const Ended ended = run("doctor twin");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr("not used: the one in '" + (a / "twin").string() + "' was found before\n"));
  EXPECT_EQ(ended.out.find("mend"), std::string::npos) << ended.out;
}

TEST_F(BadCommandTest, ACrashAtExitChangesNothing) {
  make_bad(plugins(), "aborts", "abort_at_exit");
  EXPECT_EQ(run("devices").code, 0);
  const Ended good = run(std::string("run plus_one.tile --device reference") + kRun);
  EXPECT_EQ(good.code, 0) << good.err;
  const Ended own = run(std::string("run plus_one.tile --device aborts") + kRun);
  EXPECT_EQ(own.code, 0) << own.err;
  EXPECT_THAT(own.out, HasSubstr("check B"));
  EXPECT_EQ(run("run nowhere.tile --device aborts").code, 1);
}

TEST_F(BadCommandTest, WorkThatIsNeverDoneEndsWithTheLimit) {
  make_bad(plugins(), "stuck", "never_done");
  const Ended ended = run(std::string("run plus_one.tile --device stuck --time-limit 0.5") + kRun);
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr("plugin stuck: what executor.submit began is not done after "
                                   "0.5 s, the wait limit"));
  EXPECT_EQ(run(std::string("run plus_one.tile --device reference --time-limit 100") + kRun).code,
            0);
}

// Whatever call it is that does not come back; what the probe calls too, it finds.
TEST_F(BadCommandTest, ACallThatNeverReturnsEndsWithTheLimit) {
  std::printf("%-24s %-10s %s\n", "hangs in", "expected", "says");
  for (const std::string slot :
       {"device.allocate", "compiler.build", "library.kernels", "executor.prepare",
        "executor.submit", "event.wait", "event.status", "buffer.map_read", "buffer.map_discard",
        "buffer.unmap", "buffer.release", "kernel.release", "library.release"}) {
    fs::remove_all(plugins());
    make_bad(plugins(), "stuck", "hang " + slot);
    const Ended ended =
        run(std::string("run plus_one.tile --device stuck --time-limit 0.5") + kRun);
    std::printf("%-24s %-10s %.120s\n", slot.c_str(), "3", ended.err.c_str());
    EXPECT_EQ(ended.code, 3) << slot << ": " << ended.out << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("stria: plugin stuck: " + slot + " has not returned after"));
    EXPECT_THAT(ended.err, HasSubstr("the time limit is 0.5 s"));
  }
}

TEST_F(BadCommandTest, ADeviceThatCannotBeOpenedHandsTheRunOver) {
  make_bad(plugins(), "fails", "fail driver.open 6");
  make_bad(plugins(), "hangs", "hang driver.open");
  const Ended ended = run(std::string("run plus_one.tile --device fails,hangs,reference") + kRun);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("check B"));
  // Its author reads this: the plugin lies in the folder of $STRIA_PLUGIN_PATH.
  EXPECT_THAT(ended.err, HasSubstr("stria: fails:0 cannot be opened: plugin fails: driver.open: "
                                   "as asked [bad_plugin.cc:"));
  // The other one has hung in the probe: it is no device to begin on.
  EXPECT_EQ(ended.err.find("hangs:0"), std::string::npos) << ended.err;
}

TEST_F(BadCommandTest, ADeviceThatFailsHandsTheRunOver) {
  struct Failing {
    const char *misdeed, *selector, *said;
  };
  const Failing all[] = {
      {"fail executor.submit 9", "bad,reference", "stria: bad:0 is lost: "},
      {"fail device.allocate 8", "bad,reference", "stria: bad:0 is out of memory: "},
      {"fail buffer.map_read 9", "bad,reference", "stria: bad:0 is lost: "},
      {"fail compiler.build 5", "bad,reference", "stria: bad:0 cannot take the program: "},
      {"never_done", "bad,reference", "stria: bad:0 does not end in time: "},
      {"crash executor.submit", "isolated:bad,reference", "stria: isolated:bad:0 is lost: "},
  };
  const std::string how = std::string(kRun) + " --time-limit 0.5";
  ASSERT_EQ(run("run plus_one.tile --device reference --output B=right.npy" + how).code, 0);
  for (const Failing& failing : all) {
    SCOPED_TRACE(failing.misdeed);
    fs::remove_all(plugins());
    make_bad(plugins(), "bad", failing.misdeed);
    const std::string command = "run plus_one.tile --device ";
    const Ended ended =
        run(command + failing.selector + " --profile --check-kernels wrong --output B=b.npy" + how);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(failing.said));
    EXPECT_THAT(ended.err, HasSubstr("; going on with "));
    EXPECT_THAT(ended.out, HasSubstr("check B"));
    EXPECT_THAT(ended.out, HasSubstr("kernel_0"));
    EXPECT_EQ(files_.read("b.npy"), files_.read("right.npy"));
    fs::remove(files_.path("b.npy"));
    // One name is a demand, and nothing is handed over to nobody.
    const Ended alone = run(command + (failing.selector[0] == 'i' ? "isolated:bad" : "bad") + how);
    EXPECT_EQ(alone.code, 3) << alone.err;
    EXPECT_EQ(alone.err.find("going on"), std::string::npos) << alone.err;
  }
  fs::remove_all(plugins());
  make_bad(plugins(), "bad", "fail executor.submit 9");
  make_bad(plugins(), "worse", "fail device.allocate 8");
  const Ended none = run("run plus_one.tile --device bad,worse --output B=b.npy" + how);
  EXPECT_EQ(none.code, 3) << none.err;
  EXPECT_THAT(none.err, HasSubstr("no device is left of 'bad,worse' that runs 'plus_one':\n"
                                  "  bad:0 is lost: "));
  EXPECT_THAT(none.err, HasSubstr("\n  worse:0 is out of memory: "));
  EXPECT_FALSE(fs::exists(files_.path("b.npy")));
}

TEST_F(BadCommandTest, ThousandsOfFoldersHideNoDevice) {
  for (int i = 0; i < 10'000; ++i)
    fs::create_directories(plugins() / ("a\033[31m" + std::to_string(i) + std::string(100, 'x')));
  make_bad(plugins(), "z_works");
  put(make_bad(plugins(), "odd") / "misdeed", "devices of_odd_text\n");
  const auto begin = std::chrono::steady_clock::now();
  const Ended ended = run("devices");
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%.1f s\n%.2000s", seconds, ended.out.c_str());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_LT(seconds, 30);
  const std::string head = ended.out.substr(0, 4000);
  for (const char* line : {"z_works:0 ", "reference:0 ", "llvm_cpu:0 ", "odd:0 "})
    EXPECT_THAT(head, HasSubstr(line));
  EXPECT_LT(ended.out.size(), 20'000u);
  EXPECT_EQ(ended.out.find('\033'), std::string::npos);
  EXPECT_THAT(ended.out, HasSubstr("more that cannot be used; 'stria devices --json' lists all"));
  const Ended listed = run("devices --json");
  EXPECT_TRUE(plugin_of(listed, "z_works").at("ok"));
  EXPECT_GE(nlohmann::json::parse(listed.out).at("plugins").size(), 10'004u);
  const Ended none = run(std::string("run plus_one.tile --device nowhere") + kRun);
  EXPECT_EQ(none.code, 3);
  EXPECT_LT(none.err.size(), 8000u) << none.err.substr(0, 4000);
  EXPECT_THAT(none.err, HasSubstr("z_works:0"));
}

TEST_F(BadCommandTest, APluginsFaultIsNotOurs) {
  for (const char* slot :
       {"driver.open", "compiler.build", "executor.submit", "buffer.map_discard"}) {
    fs::remove_all(plugins());
    make_bad(plugins(), "faulty", std::string("throw ") + slot);
    const Ended ended = run(std::string("run plus_one.tile --device faulty") + kRun);
    EXPECT_EQ(ended.code, 3) << slot << ": " << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(std::string(slot) + ": an exception came out")) << slot;
  }
}

TEST_F(BadCommandTest, ALibraryWithoutKernelsIsNoResult) {
  make_bad(plugins(), "idle", "empty library.kernels");
  const Ended ended = run(std::string("run plus_one.tile --device idle") + kRun);
  EXPECT_EQ(ended.code, 3) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("plugin idle: library.kernels: 'plus_one': the library has no "
                                   "kernel for statement 0 of 'main'"));
}

// driver.shutdown is the last call; what goes wrong there is said and takes no result away.
TEST_F(BadCommandTest, ARunEndsItsPlugin) {
  struct Expected {
    const char *misdeed, *said;
  };
  const Expected expected[] = {
      {"", ""},
      {"leak", "stria: plugin ends leaks: shut down, it has not given back 1 allocation"},
      {"throw driver.shutdown", "stria: plugin ends: driver.shutdown: an exception"},
      {"hang driver.shutdown", "plugin ends: driver.shutdown has not returned "},
  };
  for (const Expected& row : expected) {
    fs::remove_all(plugins());
    make_bad(plugins(), "ends", row.misdeed);
    const Ended ended = run(std::string("run plus_one.tile --device ends --time-limit 2") + kRun);
    std::printf("%s", ended.err.c_str());
    EXPECT_THAT(ended.out, HasSubstr("B: fp32[16]")) << row.misdeed;
    EXPECT_THAT(ended.err, HasSubstr(row.said)) << row.misdeed;
    EXPECT_EQ(ended.err.empty(), *row.said == 0) << ended.err;
    EXPECT_EQ(ended.code, 0) << row.misdeed;
  }
}

TEST_F(BadCommandTest, DoctorIsContentWithGoodPlugins) {
  const Ended ended = run("doctor reference llvm_cpu");
  std::printf("%s", ended.out.c_str());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr("passed  search, manifest, trust, hash, version, elf, load, query, "
                        "create, enumerate, self-test, shutdown\n"));
  EXPECT_THAT(ended.out, HasSubstr("device  llvm_cpu:0 "));
  EXPECT_THAT(ended.out, HasSubstr("(beside the executable)"));
  EXPECT_EQ(ended.out.find("FAILED"), std::string::npos);
  EXPECT_EQ(run("doctor llvm_cp").code, 3);
  EXPECT_THAT(run("doctor llvm_cp").err, HasSubstr("did you mean 'llvm_cpu'?"));
}

TEST_F(BadCommandTest, DoctorSaysHowFarEachPluginCameAndWhatWouldMendIt) {
  fs::permissions(make_bad(plugins(), "a_writable") / "libbad.so", fs::perms(0777));
  make_bad(plugins(), "b_crashes", "crash driver.enumerate");
  make_bad(plugins(), "c_crashes_in_kernel", "crash executor.submit");
  make_bad(plugins(), "d_hangs", "hang driver.create");
  ManifestText needy;
  needy.more = R"(, "requires": [{"library": "libstria_absent.so.1", "package": "libabsent1"},
                                 {"library": "libc.so.6", "package": "libc6"}])";
  make_bad(plugins(), "e_needs", needy);
  make_bad(plugins(), "f_works");
  make_bad(plugins(), "g_wrong", "fail event.status 13");
  make_bad(plugins(), "h_lists_none", "devices none");
  make_bad(plugins(), "i_gives_no_reason", "devices without_reason");
  make_bad(plugins(), "j_hangs_at_its_end", "hang driver.shutdown");
  make_bad(plugins(), "k_crashes_at_its_end", "crash driver.shutdown");
  make_bad(plugins(), "l_leaks", "leak");
  make_bad(plugins(), "m_lists_another_kind", "devices of_another_kind");
  make_bad(plugins(), "n_says_another_id", "info other_id");
  make_bad(plugins(), "o_says_another_version", "info other_version");
  make_bad(plugins(), "p_says_another_abi", "info newer_abi");
  put(make_bad(plugins(), "q_sets_nonsense") / "passes/reference.json",
      "[{\"split_prologue\": {}}, {\"agg_init\": {}}\n"
      "{% if FAST | default(0) | one_of(0, 1) %}\n, {\"go_fast\": {}}\n{% endif %}]\n");
  const Ended ended = run("doctor --json --time-limit 2");
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr("plugins are not well"));
  struct Expected {
    const char *id, *step, *failure, *mend;
  };
  const Expected expected[] = {
      {"a_writable", "trust", "(mode 777)", "chmod go-w '"},
      // They lie in the folder of $STRIA_PLUGIN_PATH: whoever reads this can edit them.
      {"b_crashes", "enumerate", "it crashed (Aborted), in driver.enumerate",
       "look at driver.enumerate of the plugin; what it must do stands in stria/plugin.h"},
      {"c_crashes_in_kernel", "self-test", "crashed: Aborted", "under a debugger"},
      {"d_hangs", "create", "within the limit of 2000 ms", "--time-limit 60"},
      {"e_needs", "", "", "apt-get install libabsent1"},
      {"f_works", "", "", ""},
      {"g_wrong", "self-test", "as asked", "under a debugger"},
      {"h_lists_none", "", "", "it lists no device at all"},
      {"i_gives_no_reason", "", "", "i_gives_no_reason:0 is not available and gives no reason"},
      {"j_hangs_at_its_end", "shutdown", "within the limit of 2000 ms", "--time-limit 60"},
      {"k_crashes_at_its_end", "enumerate", "it crashed (Aborted), in driver.shutdown",
       "look at driver.shutdown of the plugin"},
      {"l_leaks", "shutdown", "has not given back 1 allocation", "under a debugger"},
      {"m_lists_another_kind", "enumerate", "has no device kind 'starship' (its kinds: reference)",
       "name that kind under \"devices\" in '"},
      {"n_says_another_id", "query", "the shared object says somebody",
       "in STRIA_PLUGIN(class, id, version) or the stria_plugin_info that it fills"},
      {"o_says_another_version", "query", "o_says_another_version 9.9.9",
       "in STRIA_PLUGIN(class, id, version) or the stria_plugin_info that it fills"},
      {"p_says_another_abi", "query", "ABI versions do not meet",
       "build the plugin against this package's stria/plugin.h"},
      {"q_sets_nonsense", "self-test", "passes/reference.json:3:4: error: /2/go_fast: unknown pass",
       "passes/reference.json'"},
      {"reference", "", "", ""},
  };
  for (const Expected& row : expected) {
    const nlohmann::json plugin = plugin_of(ended, row.id);
    ASSERT_FALSE(plugin.is_null()) << row.id;
    const nlohmann::json last = plugin.at("steps").back();
    const std::string mend = plugin.at("mend").empty() ? "" : plugin.at("mend")[0];
    std::printf("%-20s %-10s %s | %s\n", row.id, last.at("step").get<std::string>().c_str(),
                last.at("failure").get<std::string>().c_str(), mend.c_str());
    EXPECT_EQ(last.at("passed"), *row.step == 0) << row.id << ": " << last;
    EXPECT_EQ(last.at("step"), *row.step == 0 ? "shutdown" : row.step) << row.id;
    EXPECT_THAT(last.at("failure"), HasSubstr(row.failure)) << row.id;
    EXPECT_THAT(mend, HasSubstr(row.mend)) << row.id;
    EXPECT_EQ(plugin.at("well"), *row.mend == 0) << row.id;
  }
  const nlohmann::json needs = plugin_of(ended, "e_needs").at("needs");
  EXPECT_EQ(needs[0].at("installed"), false);
  EXPECT_EQ(needs[1].at("installed"), true);
  EXPECT_THAT(needs[1].at("path"), HasSubstr("libc.so.6"));
}

// In a cache of its own: what is lost stays so for a while.
TEST_F(BadCommandTest, ALostDeviceIsKeptOutOfAutoByLaterProcesses) {
  const auto stria = [&](const std::string& command) {
    return files_.stria(end_to_end::words(command), [folder = files_.path("cache").string()] {
      ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    });
  };
  const std::string how = kRun,
                    pick = "pick plus_one.tile --shape A=16 --device auto,bad,reference";
  make_bad(plugins(), "bad", "fail executor.submit 9");
  EXPECT_THAT(stria("devices --clear-quarantine *").err,
              HasSubstr("no device that '*' means is in quarantine"));
  EXPECT_EQ(stria("run plus_one.tile --device bad" + how).code, 3);
  // Each later process says so.
  EXPECT_THAT(stria("devices").out, HasSubstr("available; in quarantine: lost "));
  const nlohmann::json listed = plugin_of(stria("devices --json"), "bad").at("devices")[0];
  EXPECT_EQ(listed.at("quarantine").at("cause"), "lost");
  EXPECT_EQ(listed.at("quarantine").at("program"), "plus_one");
  EXPECT_TRUE(
      plugin_of(stria("devices --json"), "reference").at("devices")[0].at("quarantine").is_null());
  const Ended picked = stria(pick);
  EXPECT_EQ(picked.code, 0) << picked.err;
  EXPECT_THAT(picked.out, HasSubstr("dropped: quarantine: lost "));
  EXPECT_THAT(stria("devices --select auto").out, HasSubstr("dropped: quarantine: lost "));
  const Ended ran = stria("run plus_one.tile --device auto,bad,reference" + how);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("passes over bad:0: quarantine: lost "));
  // A name alone is not stopped. It is lost again, for twice as long.
  const Ended named = stria("run plus_one.tile --device bad:0" + how);
  EXPECT_EQ(named.code, 3);
  EXPECT_THAT(named.err, HasSubstr("stria: bad:0: in quarantine: lost "));
  const auto json = nlohmann::json::parse(stria(pick + " --json").out);
  for (const auto& device : json.at("devices"))
    if (device.at("selector") == "bad:0") {
      EXPECT_EQ(device.at("reasons")[0].at("gate"), "quarantine");
      EXPECT_EQ(device.at("quarantine").at("in_a_row"), 2);
      EXPECT_GT(device.at("quarantine").at("seconds_left"), 60);
    }
  EXPECT_THAT(stria("devices --clear-quarantine bad:0").err,
              HasSubstr("bad:0 is no longer in quarantine"));
  EXPECT_EQ(stria(pick).out.find("quarantine"), std::string::npos);
}

// The process has another effective user than real one: it may do what its starter may not.
TEST_F(BadCommandTest, AnElevatedProcessLooksNowhereThatTheEnvironmentSays) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make an elevated process";
  make_bad(plugins(), "from_path");
  make_bad(files_.path("home/.local/lib/stria/plugins"), "from_home");
  const std::string out = files_.path("listed.json").string();
  for (const bool elevated : {false, true}) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv("STRIA_PLUGIN_PATH", plugins().c_str(), 1);
      ::setenv("HOME", files_.path("home").c_str(), 1);
      ::setenv("OCL_ICD_VENDORS", files_.path("home").c_str(), 1);
      if (elevated && ::setresuid(12345, 0, 0) != 0) ::_exit(125);
      if (!std::freopen(out.c_str(), "w", stdout)) ::_exit(126);
      ::execl(STRIA_BINARY_DIR "/bin/stria", "stria", "devices", "--json", nullptr);
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 0);
    Ended ended;
    ended.out = files_.read("listed.json");
    EXPECT_EQ(plugin_of(ended, "from_path").is_null(), elevated);
    EXPECT_EQ(plugin_of(ended, "from_home").is_null(), elevated);
    EXPECT_EQ(plugin_of(ended, "reference").at("ok"), true);
    // A loader of drivers that loads what a variable names finds the system's own drivers.
    const nlohmann::json opencl = plugin_of(ended, "opencl");
    size_t found = 0;
    for (const auto& device : opencl.at("devices")) found += device.at("available").get<bool>();
    if (!elevated) {
      EXPECT_EQ(found, 0u);
    } else {
      EXPECT_EQ(found > 0,
                fs::exists("/etc/OpenCL/vendors") && !fs::is_empty("/etc/OpenCL/vendors"))
          << opencl.dump(1);
    }
  }
}

}  // namespace
}  // namespace stria::bad_plugins
