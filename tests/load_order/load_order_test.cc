// SPDX-License-Identifier: Apache-2.0
// Plugins bring their own libraries, threads and exit handlers into one process: whatever the order
// in which they are loaded, each must work, also while the others do, and the process must end
// well. A failed order is run again alone by the command that the failure prints.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "stria/base/text.h"
#include "stria/hal/plugin_set.h"
#include "stria/runtime/host/host_functions.h"
#include "stria/runtime/inside.h"

namespace stria {
namespace {

namespace fs = std::filesystem;

// Every plugin of the build tree, those of the users and the one that is as unlike them as can be.
std::vector<std::string> plugin_folders() {
  std::vector<std::string> folders = {STRIA_BINARY_DIR "/lib/stria/test_plugins/slow_device"};
  for (const auto& entry : fs::directory_iterator(STRIA_BINARY_DIR "/lib/stria/plugins"))
    if (fs::exists(entry.path() / "plugin.json")) folders.push_back(entry.path().string());
  std::sort(folders.begin(), folders.end());
  return folders;
}

// ---- The child

constexpr int64_t kRows = 12, kInner = 9, kColumns = 7;
constexpr int kThreadsPerDevice = 2, kRunsPerThread = 3;
constexpr const char* kProgram =
    "function product(A[N, K], B[K, M]) -> (R) {\n"
    "  S[i, j : N, M] = +(A[i, k] * B[k, j]);\n"
    "  R = S + S;\n"
    "}\n";

template <typename T>
T must(Result<T> result) {
  STRIA_CHECK(result.ok(), "{}", result.status().to_string());
  return std::move(result).value();
}
void must(const Status& status) { STRIA_CHECK(status.ok(), "{}", status.to_string()); }

float value_at(int64_t n) { return static_cast<float>(n % 5 - 2); }  // sums are exact

Tensor filled(const Device& device, int64_t rows, int64_t columns) {
  std::vector<float> values;
  for (int64_t n = 0; n < rows * columns; ++n) values.push_back(value_at(n));
  Tensor tensor = must(device.create_tensor(DataType::fp32, {rows, columns}));
  must(tensor.write({reinterpret_cast<const char*>(values.data()), 4 * values.size()}));
  return tensor;
}

// Opens the device, compiles and runs; all of it while other threads do the same.
void use(const hal::Plugin& plugin, const std::string& device_id) {
  Device device = must(Inside::open(plugin, device_id));
  Program program = must(Program::from_tile({"product.tile", kProgram}));
  Executable product = must(device.compile(program, {{"A", {DataType::fp32, {kRows, kInner}}},
                                                     {"B", {DataType::fp32, {kInner, kColumns}}}}));
  std::vector<Tensor> inputs = {filled(device, kRows, kInner), filled(device, kInner, kColumns)};
  for (int run = 0; run < kRunsPerThread; ++run) {
    std::vector<Tensor> outputs = {must(device.create_tensor(DataType::fp32, {kRows, kColumns}))};
    must(must(product.run(inputs, outputs)).wait());
    HostTensor result = must(outputs[0].read());
    for (int64_t i = 0; i < kRows; ++i)
      for (int64_t j = 0; j < kColumns; ++j) {
        float expected = 0, got = 0;
        for (int64_t k = 0; k < kInner; ++k)
          expected += value_at(i * kInner + k) * value_at(k * kColumns + j);
        std::memcpy(&got, result.data() + 4 * (i * kColumns + j), 4);
        STRIA_CHECK(got == 2 * expected, "{} computed R[{}, {}] = {}, not {}", device.name(), i, j,
                    got, 2 * expected);
      }
  }
}

// Prints how many devices computed.
int child(const std::vector<std::string>& folders, bool shut_down) {
  hal::HostFunctions functions;
  functions.interpret = interpret_for_plugin;
  auto host = std::make_shared<hal::Host>(std::move(functions));
  hal::SearchOptions options;
  options.only_paths = true;
  for (const std::string& folder : folders) options.paths.emplace_back(folder);
  // Not destroyed at the end unless it is shut down: a user's program may just return, too.
  static hal::PluginSet* plugins;
  plugins = new hal::PluginSet(hal::PluginSet::load(host, options));
  STRIA_CHECK(plugins->records().size() == folders.size(), "{} plugins, not {}",
              plugins->records().size(), folders.size());
  std::vector<std::thread> threads;
  std::atomic<int> go{0};
  int devices = 0;
  for (size_t n = 0; n < folders.size(); ++n) {
    const hal::PluginRecord& record = plugins->records()[n];
    must(record.status());
    STRIA_CHECK(record.directory == folders[n], "'{}' was loaded at place {}",
                record.directory.string(), n);
    for (const hal::DeviceInfo& info : record.devices) {
      if (!info.available) continue;
      ++devices;
      for (int t = 0; t < kThreadsPerDevice; ++t)
        threads.emplace_back([&go, &record, id = info.id] {
          go.wait(0);
          use(record.plugin, id);
        });
    }
  }
  go = 1;
  go.notify_all();
  for (std::thread& thread : threads) thread.join();
  if (shut_down) {
    must(plugins->shutdown());
    delete plugins;
  }
  std::printf("%d devices computed\n", devices);
  return 0;
}

// ---- The parent

struct Outcome {
  int status = 0;  // as waitpid gives it
  std::string output;
};

// Runs this program again with `arguments`; both of its streams are the output.
Outcome run_self(std::vector<std::string> arguments) {
  static const std::string self = fs::canonical("/proc/self/exe").string();
  std::vector<char*> argv = {const_cast<char*>(self.c_str())};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int ends[2];
  STRIA_CHECK(::pipe(ends) == 0, "no pipe");
  const pid_t pid = ::fork();
  STRIA_CHECK(pid >= 0, "no process");
  if (pid == 0) {
    ::dup2(ends[1], 1);
    ::dup2(ends[1], 2);
    ::close(ends[0]);
    ::close(ends[1]);
    ::alarm(120);  // a deadlock ends as a failure
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  Outcome out;
  char buffer[4096];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    out.output.append(buffer, static_cast<size_t>(got));
  ::close(ends[0]);
  ::waitpid(pid, &out.status, 0);
  return out;
}

// Of 120 orders of five plugins every third in a short run: each plugin comes first, last and
// before each other one.
TEST(LoadOrder, EveryOrderWorksFromSeveralThreads) {
  const char* wanted = std::getenv("STRIA_LOAD_ORDER_ROUNDS");
  const int rounds = wanted ? std::atoi(wanted) : 1, one_of = wanted ? 1 : 3;
  std::vector<std::string> order = plugin_folders();
  ASSERT_GE(order.size(), 3u);
  std::map<std::string, int> outputs;
  int orders = 0, processes = 0, failures = 0;
  do {
    for (int round = 0; round < rounds && failures < 5 && orders % one_of == 0; ++round) {
      const char* end = (orders + round) % 2 == 0 ? "shut_down" : "just_end";
      std::vector<std::string> arguments = {"--child", end};
      arguments.insert(arguments.end(), order.begin(), order.end());
      const Outcome outcome = run_self(arguments);
      ++processes;
      ++outputs[outcome.output];
      if (outcome.status == 0) continue;
      ++failures;
      ADD_FAILURE() << (WIFSIGNALED(outcome.status)
                            ? "ended by signal " + std::to_string(WTERMSIG(outcome.status))
                            : "exit code " + std::to_string(WEXITSTATUS(outcome.status)))
                    << "\n"
                    << outcome.output << "load_order_test " << join(arguments, " ");
    }
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()) && failures < 5);
  std::printf("%d plugins, %d processes:\n", static_cast<int>(order.size()), processes);
  for (const auto& [output, count] : outputs) std::printf("  %d x %s", count, output.c_str());
  EXPECT_EQ(outputs.size(), 1u) << "not every process saw the same devices";
}

}  // namespace
}  // namespace stria

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "--child") == 0)
    return stria::child({argv + 3, argv + argc}, std::strcmp(argv[2], "shut_down") == 0);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
