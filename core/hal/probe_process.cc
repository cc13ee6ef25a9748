// SPDX-License-Identifier: Apache-2.0
// The probe's side of probe.h: what happens in the process of its own.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <nlohmann/json.hpp>

#include "stria/base/text.h"
#include "stria/hal/guard/call_in_flight.h"
#include "stria/hal/guard/process_state.h"
#include "stria/hal/guard/timed_call.h"
#include "stria/hal/probe.h"

namespace stria::hal {
namespace {

namespace fs = std::filesystem;

// Where reports go. A plugin may fork: its copy of the process must not speak.
class Reporter {
 public:
  explicit Reporter(int file) : file_(file), process_(::getpid()) {}
  void send(const nlohmann::json& message) const {
    if (::getpid() != process_) ::_exit(0);
    const std::string line =
        message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    for (size_t done = 0; done < line.size();) {
      const ssize_t count = ::write(file_, line.data() + done, line.size() - done);
      if (count < 0 && errno != EINTR) ::_exit(1);
      if (count > 0) done += static_cast<size_t>(count);
    }
  }
  void began(Step step, const std::string& text) const {
    send({{"step", static_cast<int>(step)}, {"began", text}});
  }

 private:
  int file_;
  pid_t process_;
};

std::string activity(Step next) {
  switch (next) {
    case Step::load: return "while it was being loaded";
    case Step::query: return "in stria_plugin_query";
    case Step::create: return "in driver.create";
    default: return "in driver.enumerate";
  }
}

// For the handler, which has no state.
const Reporter* speaker = nullptr;

void say_end_of_thread(const CallInFlight&) {
  speaker->send({{"wrong", "it ended the thread that called it"}});
  ::_exit(0);
}

// Within the limit, or it hangs: also where a list is made and where objects go.
Status within(std::chrono::milliseconds limit, std::function<Status()> work) {
  TimedCall call(std::move(work));
  return call.outcome(limit, "a call");
}

// Each device is tried as far as no program is needed.
Status try_device(const Plugin& plugin, const DeviceInfo& info) {
  STRIA_ASSIGN(Device device, plugin.open(info.id));
  STRIA_RETURN_IF_ERROR(device.create_compiler().status());
  return device.create_executor().status();
}

}  // namespace

int run_probe(const fs::path& directory, std::chrono::milliseconds time_limit, int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Where memory runs out, it is this process that goes.
  if (const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); file >= 0) {
    (void)!::write(file, "1000", 4);
    ::close(file);
  }
  // Out of the way of plugins that close what they did not open.
  const int high = ::fcntl(report, F_DUPFD_CLOEXEC, 200);
  if (high >= 0) ::close(report);
  const Reporter reporter(high >= 0 ? high : report);
  speaker = &reporter;
  set_end_of_thread_handler(say_end_of_thread);
  const ProcessState before = ProcessState::now();

  const auto host = std::make_shared<Host>(HostFunctions{}, 1);
  LoadOptions options;
  options.time_limit = time_limit;
  std::string at = activity(Step::load);
  const auto check = [&] {
    const std::string changed = before.changed_to(ProcessState::now());
    if (changed.empty()) return true;
    reporter.send({{"wrong", changed}, {"end", true}});
    return false;
  };
  const auto begin = [&](Step step, std::string text) {
    at = std::move(text);
    reporter.began(step, at);
  };
  bool right = true;
  bool hangs = false;
  options.on_verdict = [&](const Verdict& verdict) {
    if (verdict.step < Step::load) {
      if (verdict.step == Step::elf) begin(Step::load, activity(Step::load));
      return;
    }
    hangs = hangs || verdict.status.code() == StatusCode::deadline_exceeded;
    if (right && !hangs) right = check();
    if (verdict.status.ok() && right && verdict.step != Step::create)
      begin(static_cast<Step>(static_cast<int>(verdict.step) + 1),
            activity(static_cast<Step>(static_cast<int>(verdict.step) + 1)));
  };
  // Not destroyed: what hangs keeps what it uses, and the process ends without its exit handlers.
  auto& loaded = *new LoadResult(load_plugin(directory, host, options));
  const auto finish = [&](bool well) {
    if (well) reporter.send({{"end", true}});
    ::_exit(0);
  };
  if (!right) finish(false);
  const auto hang = [&] {
    reporter.send({{"hangs", true}});
    ::_exit(0);
  };
  if (hangs) hang();
  if (!loaded.plugin.valid()) finish(true);
  begin(Step::enumerate, activity(Step::enumerate));
  // What hangs goes on using it.
  auto& devices = *new std::vector<DeviceInfo>;
  const Status listed = within(time_limit, [&loaded, &devices] {
    STRIA_ASSIGN(devices, loaded.plugin.devices());
    return Status();
  });
  if (listed.code() == StatusCode::deadline_exceeded) hang();
  if (!check()) finish(false);
  for (const DeviceInfo& info : devices) {
    if (!info.available) continue;
    begin(Step::enumerate, fmt::format("while device '{}' was opened", info.id));
    const Status opened =
        within(time_limit, [&loaded, &info] { return try_device(loaded.plugin, info); });
    if (opened.code() == StatusCode::deadline_exceeded) hang();
    if (!check()) finish(false);
  }
  begin(Step::enumerate, "in driver.shutdown");
  (void)loaded.plugin.shutdown();
  finish(check());
  return 0;
}

}  // namespace stria::hal
