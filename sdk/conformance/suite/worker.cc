// SPDX-License-Identifier: Apache-2.0
#include "suite/worker.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <nlohmann/json.hpp>

#include "stria/base/shown_text.h"

namespace stria::conformance {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

// How often a case runs whose process holds more of the host's after it than before: what a plugin
// makes once for all its work is no leak.
constexpr int kLeakRuns = 3;
// How long work in flight may take to give back what it holds.
constexpr int kLeakPatienceMs = 300;

void send(int pipe, const Json& message) {
  // Texts come from plugins: bytes that are no UTF-8 are replaced.
  // A plugin may have written half a line into any descriptor: ours begins with an end of line.
  const std::string line =
      "\n" + message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t count = ::write(pipe, line.data() + done, line.size() - done);
    if (count < 0 && errno != EINTR) ::_exit(kUnheard);
    if (count > 0) done += static_cast<size_t>(count);
  }
}

// Buffers that a case may hold at once: one of this share of the device's memory may be too many.
constexpr uint64_t kBuffersAtOnce = 4;

// What a case found; that a small device has no memory for it is no fault of the plugin's.
Finding judged(Finding finding, const Subject& subject) {
  const uint64_t memory = subject.device_info().memory_bytes;
  const uint64_t refused = subject.options().record->refused_bytes;
  if (finding.ending() != Ending::fail || finding.code() != StatusCode::out_of_memory ||
      memory == 0 || refused <= memory / kBuffersAtOnce)
    return finding;
  return Finding::unsupported(fmt::format(
      "the device has {} bytes of memory, and the case asks for {} at once", memory, refused));
}

Finding run_once(const Case& c, Subject& subject) {
  subject.options().record->refused_bytes = 0;
  try {
    return judged(c.run(subject), subject);
  } catch (const std::bad_alloc&) {
    return make_error(StatusCode::out_of_memory, "the suite has no memory left for this case");
  } catch (const std::exception& error) {
    return internal_error("the suite's own code threw: {}", error.what());
  }
}

// Waits until the plugin holds at most `before` allocations; how many it holds in the end.
int64_t held(const TestHost& host, int64_t before) {
  const auto end = Clock::now() + std::chrono::milliseconds(patience_ms(kLeakPatienceMs));
  while (host.allocations_held() > before && Clock::now() < end) ::usleep(1000);
  return host.allocations_held();
}

Finding run_case(const Case& c, Subject& subject) {
  if (c.place == Place::bare) return run_once(c, subject);
  if (Status status = subject.open(); !status.ok())
    return status.with_context("before the case began");
  const int64_t first = subject.host().allocations_held();
  Finding finding = run_once(c, subject);
  if (c.place != Place::shared || finding.ending() != Ending::pass) return finding;
  int64_t before = first;
  for (int run = 1;; ++run) {
    const int64_t now = held(subject.host(), before);
    if (now <= before) return finding;
    if (run == kLeakRuns)
      return Finding::leak(fmt::format(
          "the plugin holds {} allocations of the host's more after {} runs of this case than "
          "before, and more after each",
          now - first, run));
    before = now;
    finding = run_once(c, subject);
    if (finding.ending() != Ending::pass) return finding;
  }
}

// What a case found in whose calls the suite's checks saw a fault, which carries its rule. What a
// slot broke is why the case fails, if it does; what the host saw need not be.
Finding with_fault(const Finding& finding, const std::string& fault, bool of_slot) {
  if (is_good(finding.ending())) return Status(StatusCode::failed_precondition, fault);
  if (finding.ending() == Ending::leak)
    return make_error(StatusCode::failed_precondition, "{}; besides: {}", fault, finding.text());
  if (finding.ending() != Ending::fail) return finding;
  const Status both = broken("{}; besides: {}", finding.text(), fault);
  std::string text = fault;
  const std::optional<Rule> rule = of_slot ? take_rule(text) : finding.rule();
  return rule ? with_rule(both, *rule) : both;
}

}  // namespace

void run_cases_here(const std::vector<Case>& all, const std::vector<size_t>& cases,
                    const SubjectOptions& options, int pipe) {
  Subject subject(options);
  const pid_t own = ::getpid();
  for (const size_t index : cases) {
    const Case& c = all[index];
    send(pipe, {{"begin", index}});
    const auto begin = Clock::now();
    set_patience(c.limit, options.patience);
    Finding finding = run_case(c, subject);
    // A copy of this process that the plugin has forked has nothing to say.
    if (::getpid() != own) ::_exit(0);
    // A whole copy of the plugin may lie there: beside those of all other cases it fills disks.
    subject.remove_scratch();
    std::string fault = options.record->take_case_fault();
    const bool of_slot = !fault.empty();
    if (const std::string misuse = TestHost::take_misuse(); !of_slot) fault = misuse;
    if (!fault.empty()) finding = with_fault(finding, fault, of_slot);
    Json message = {{"end", index},
                    {"ending", name_of(finding.ending())},
                    {"text", shown_message(finding.text())},
                    {"seconds", std::chrono::duration<double>(Clock::now() - begin).count()}};
    if (finding.rule()) message["rule"] = static_cast<int>(*finding.rule());
    send(pipe, message);
  }
  // What destructors of plugins, drivers and sanitizers would do at exit is tried by cases that
  // are about it.
  ::_exit(0);
}

std::optional<WorkerMessage> parse_message(std::string_view line) {
  try {
    const Json message = Json::parse(line);
    WorkerMessage out;
    if (message.contains("begin")) {
      out.index = message.at("begin");
      return out;
    }
    out.kind = WorkerMessage::Kind::end;
    out.index = message.at("end");
    out.text = message.at("text");
    out.seconds = message.at("seconds");
    if (const int rule = message.value("rule", -1); rule >= 0 && rule < kRules)
      out.rule = static_cast<Rule>(rule);
    const std::string ending = message.at("ending");
    for (int i = 0; i < kEndings; ++i)
      if (name_of(static_cast<Ending>(i)) == ending) {
        out.ending = static_cast<Ending>(i);
        return out;
      }
  } catch (const Json::exception&) {
  }
  return std::nullopt;
}

}  // namespace stria::conformance
