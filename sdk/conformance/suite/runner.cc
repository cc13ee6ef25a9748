// SPDX-License-Identifier: Apache-2.0
#include "suite/runner.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>

#include "stria/base/text.h"
#include "suite/batches.h"
#include "suite/child.h"
#include "suite/worker.h"

namespace stria::conformance {
namespace {

using Clock = std::chrono::steady_clock;

// What is kept of a process's output: its end.
constexpr size_t kOutputBytes = 4096;
// From a process's start to its first word, beside the limit of that case.
constexpr std::chrono::seconds kStartLimit{20};
// From the last case's end to the end of the process.
constexpr std::chrono::seconds kEndLimit{10};
// From the end of a process's pipe to that of the process.
constexpr std::chrono::seconds kPipeToEnd{2};
// A case that fails by itself after so long has waited in vain.
constexpr std::chrono::seconds kLongWait{5};
// From a process's end to that of what it has left behind; the same in the end of a run.
constexpr std::chrono::seconds kStrayLimit{10}, kLastStrayLimit{2};

constexpr const char* kStraysStay =
    "what it, or a case before it, has started goes on: these processes cannot be ended";

// A process at work on a batch.
struct Worker {
  Child child;
  Batch batch;
  size_t done = 0;               // cases of the batch that have ended
  bool in_case = false;          // the case at `done` has begun
  Clock::time_point until;       // when it hangs
  std::string messages, output;  // what has come and is not a whole line; the output's end
  CallRecord* record = nullptr;
  std::filesystem::path scratch;  // made by the first case that asks for a folder
};

// Whether it is a zombie; it stays one.
bool has_ended(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}

// What a process breaks that hangs in these calls; nothing if no call is open.
std::optional<Rule> rule_of_hang(const CallRecord& record) {
  const std::vector<Slot> open = record.open_slots();
  for (const Slot slot : open)
    if (must_not_block(slot)) return Rule::returns_at_once;
  if (open.empty()) return std::nullopt;
  if (open.front() == Slot::executor_drain) return rule_of(open.front());
  if (open.front() != Slot::event_wait) return Rule::returns;
  // A wait whose time is not over may wait for what never ends.
  const auto now = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
          .count());
  for (const OpenCall& call : record.open)
    if (call.slot == static_cast<int32_t>(Slot::event_wait) + 1 && call.until_ns < now)
      return Rule::ends_wait;
  return Rule::ends;
}

class Run {
 public:
  Run(const std::vector<Case>& all, const std::vector<size_t>& which, const RunOptions& options)
      : all_(all), options_(options), expected_(which.size()) {
    std::vector<size_t> first;
    for (const size_t index : which)
      (all[index].group() == kChecks ? checks_ : first).push_back(index);
    waiting_ = batches_of(all, first);
  }

  Result<RunResult> run() {
    adopt_strays();
    for (int i = 0; i < std::max(1, options_.jobs); ++i) {
      CallRecord* record = CallRecord::create();
      if (!record) return make_error(StatusCode::out_of_memory, "no memory for a child process");
      records_.push_back(record);
    }
    STRIA_RETURN_IF_ERROR(run_waiting());
    // What the others have left behind is looked at when all of it is there.
    CallRecord* all = sum();
    records_.resize(1);
    waiting_ = batches_of(all_, checks_);
    if (!stopped_) STRIA_RETURN_IF_ERROR(run_waiting());
    RunResult out;
    out.stopped = stopped_;
    for (auto& [index, result] : results_) out.cases.push_back(std::move(result));
    out.record = all;
    return out;
  }

 private:
  // The group whose cases look at the record of all others.
  static constexpr char kChecks = 'V';

  Status run_waiting() {
    while (!waiting_.empty() || !workers_.empty()) {
      if (options_.stop && *options_.stop) {
        end_all();
        stopped_ = true;
        break;
      }
      if (Status status = start_workers(); !status.ok()) {
        end_all();
        return status;
      }
      look();
    }
    return Status();
  }

  // Also after a stop was asked for: so in a short time.
  void end_all() {
    for (Worker& worker : workers_) end_child(worker.child);
    end_strays([](pid_t) { return false; }, kLastStrayLimit, nullptr);
    for (const Worker& worker : workers_) remove_scratch(worker);
    workers_.clear();
  }

  static void remove_scratch(const Worker& worker) {
    std::error_code error;
    std::filesystem::remove_all(worker.scratch, error);
  }

  Status start_workers() {
    while (!waiting_.empty() && workers_.size() < records_.size()) {
      Worker worker;
      worker.batch = std::move(waiting_.front());
      waiting_.pop_front();
      for (CallRecord* record : records_)
        if (std::none_of(workers_.begin(), workers_.end(),
                         [&](const Worker& other) { return other.record == record; }))
          worker.record = record;
      worker.record->forget_last_process();
      SubjectOptions subject = options_.subject;
      subject.record = worker.record;
      subject.scratch /= fmt::format("{}.{}", ::getpid(), next_worker_++);
      worker.scratch = subject.scratch;
      STRIA_ASSIGN(worker.child, start_child([&](int pipe) {
                     run_cases_here(all_, worker.batch.cases, subject, pipe);
                   }));
      worker.until = limit_of(worker) + patient(kStartLimit);
      workers_.push_back(std::move(worker));
    }
    return Status();
  }

  // When the case at worker.done hangs, if it begins now.
  Clock::time_point limit_of(const Worker& worker) const {
    return Clock::now() + patient(worker.done == worker.batch.cases.size()
                                      ? std::chrono::milliseconds(kEndLimit)
                                      : all_[worker.batch.cases[worker.done]].limit);
  }

  // A limit as long as the user's patience makes it.
  std::chrono::milliseconds patient(std::chrono::milliseconds limit) const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(limit * options_.subject.patience);
  }

  // Waits until a worker says something, or should have.
  void look() {
    std::vector<pollfd> polled;
    Clock::time_point until = Clock::now() + std::chrono::seconds(1);
    for (const Worker& worker : workers_) {
      polled.push_back({worker.child.messages, POLLIN, 0});
      polled.push_back({worker.child.output, POLLIN, 0});
      until = std::min(until, worker.until);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (::poll(polled.data(), polled.size(), std::max<int>(0, static_cast<int>(left.count()))) < 0)
      return;  // EINTR: `stop` may have changed
    for (size_t i = workers_.size(); i-- > 0;) {
      Worker& worker = workers_[i];
      take_output(worker);
      // A copy that the plugin forked may hold the pipe open.
      const bool gone = has_ended(worker.child.pid);
      const bool ended = take_messages(worker) || gone;
      if (ended || Clock::now() >= worker.until) finish(i, ended);
    }
  }

  // What is there now; a worker that floods us gets its turn again later.
  void take_output(Worker& worker) {
    char chunk[65536];
    const ssize_t count = ::read(worker.child.output, chunk, sizeof chunk);
    if (count <= 0) return;
    worker.output.append(chunk, static_cast<size_t>(count));
    if (worker.output.size() > kOutputBytes)
      worker.output.erase(0, worker.output.size() - kOutputBytes);
  }

  // True if the pipe is at its end: the process is gone.
  bool take_messages(Worker& worker) {
    char chunk[65536];
    const ssize_t count = ::read(worker.child.messages, chunk, sizeof chunk);
    if (count < 0) return false;
    worker.messages.append(chunk, static_cast<size_t>(count));
    for (size_t end; (end = worker.messages.find('\n')) != std::string::npos;
         worker.messages.erase(0, end + 1))
      if (const auto message = parse_message(worker.messages.substr(0, end)))
        take(worker, *message);
    if (worker.messages.size() > sizeof chunk) worker.messages.clear();  // no line of ours
    return count == 0;
  }

  void take(Worker& worker, const WorkerMessage& message) {
    if (worker.done >= worker.batch.cases.size() ||
        message.index != worker.batch.cases[worker.done])
      return;
    if (message.kind == WorkerMessage::Kind::begin) {
      worker.in_case = true;
      worker.until = limit_of(worker);
      worker.output.clear();
      return;
    }
    keep(worker, {message.index, message.ending, message.text, "", message.seconds, message.rule});
    ++worker.done;
    worker.in_case = false;
    // A case that gives up by itself, after a wait in vain, has hung as well.
    const auto limit =
        std::min<std::chrono::milliseconds>(all_[message.index].limit / 2, kLongWait);
    const bool hung = message.ending == Ending::fail &&
                      std::chrono::duration<double>(message.seconds) >= patient(limit);
    if (hung && !worker.batch.confirms) count_hang(all_[message.index].group(), &worker);
    worker.until = limit_of(worker);
  }

  // A result of a worker's current case.
  void keep(const Worker& worker, CaseResult result) {
    if (!is_good(result.ending)) result.output = worker.output;
    if (worker.batch.confirms) {
      CaseResult& first = results_[result.index];
      if (is_good(result.ending))
        first.text += "; in a process of its own it passes: it fails after others of its group";
      return;
    }
    const auto [it, is_new] = results_.try_emplace(result.index, result);
    // The case "ends" runs once for each process of its group: the worst counts.
    if (!is_new && is_good(it->second.ending)) it->second = result;
    const bool among_others = worker.batch.cases.size() > 1 && worker.done > 0;
    if (!is_good(result.ending) && among_others &&
        all_[result.index].name != end_of_group(all_[result.index].group()))
      waiting_.push_back({{result.index}, true});
    if (options_.progress) options_.progress(std::min(results_.size(), expected_), expected_);
  }

  // The worker has ended, or has to.
  void finish(size_t position, bool ended) {
    Worker worker = std::move(workers_[position]);
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(position));
    const std::string open = worker.record->open_calls();
    take_output(worker);
    if (ended) wait_a_little(worker);
    const bool lives = ended && !has_ended(worker.child.pid);
    const int status = end_child(worker.child);
    const bool all_gone = end_strays_of_ended();
    remove_scratch(worker);
    if (worker.done == worker.batch.cases.size()) {
      // All have been said. What goes on now is the last one's, as far as anybody can tell.
      if (!all_gone)
        keep(worker, {worker.batch.cases.back(), Ending::hang, kStraysStay, "", 0, {}});
      return;
    }
    const size_t index = worker.batch.cases[worker.done];
    const std::string where = open.empty() ? "" : ", in " + open;
    CaseResult result{index, Ending::crash, words_for(status) + where, "", 0, Rule::keeps_process};
    if (lives || (WIFEXITED(status) && WEXITSTATUS(status) == kUnheard)) {
      // Which call did it nobody knows: the process went on.
      result.text = "closed a descriptor that is not its own: the pipe to the suite";
    } else if (!ended) {
      const double seconds =
          std::chrono::duration<double>(all_[index].limit).count() * options_.subject.patience;
      result.ending = Ending::hang;
      result.rule = rule_of_hang(*worker.record);
      result.text = fmt::format("did not end within {} s{}", seconds, where);
      result.seconds = seconds;
    }
    const bool hangs = result.ending == Ending::hang;
    keep(worker, std::move(result));
    // The others of the batch go on in a new process.
    Batch rest{{worker.batch.cases.begin() + static_cast<std::ptrdiff_t>(worker.done) + 1,
                worker.batch.cases.end()},
               false};
    if (!rest.cases.empty() && !worker.batch.confirms) waiting_.push_front(std::move(rest));
    if (hangs && !worker.batch.confirms) count_hang(all_[index].group());
  }

  // Skips what waits of a group that has hung as often as it may. `worker` is at the group, and
  // goes on, unheard, until it is ended: the rest of its batch is skipped too.
  void count_hang(char group, Worker* worker = nullptr) {
    const int count = ++hangs_[group];
    if (count < std::max(1, options_.hangs >> std::min<size_t>(given_up_.size(), 30))) return;
    size_t skipped = 0;
    for (Batch& batch : waiting_) {
      if (all_[batch.cases.front()].group() != group) continue;
      for (const size_t index : batch.cases) skipped += skip(index, count);
      batch.cases.clear();
    }
    std::erase_if(waiting_, [](const Batch& batch) { return batch.cases.empty(); });
    if (worker) {
      for (size_t at = worker->done; at < worker->batch.cases.size(); ++at)
        skipped += skip(worker->batch.cases[at], count);
      worker->batch.cases.resize(worker->done);
    }
    if (skipped > 0) given_up_.insert(group);
    if (options_.progress) options_.progress(std::min(results_.size(), expected_), expected_);
  }

  // Whether the case had no result yet.
  bool skip(size_t index, int hangs) {
    CaseResult result{index, Ending::skip, "", "", 0, {}, false};
    result.text = fmt::format(
        "not tried: {} of the group's cases hang or wait in vain, and --hangs {} allows no more",
        hangs, options_.hangs);
    return results_.try_emplace(index, std::move(result)).second;
  }

  // What workers that have ended left behind: see child.h. False, once, if some of it goes on.
  bool end_strays_of_ended() {
    // Where that was so once there is no use in waiting again and again.
    const auto limit = strays_stay_ ? std::chrono::milliseconds(0) : patient(kStrayLimit);
    const bool all_gone = end_strays(
        [this](pid_t pid) {
          return std::any_of(workers_.begin(), workers_.end(),
                             [pid](const Worker& other) { return other.child.pid == pid; });
        },
        limit, options_.stop);
    const bool is_new = !all_gone && !strays_stay_ && !(options_.stop && *options_.stop);
    strays_stay_ |= is_new;
    return !is_new;
  }

  // The process has closed its pipe: it is about to end.
  void wait_a_little(const Worker& worker) const {
    const Clock::time_point until = Clock::now() + patient(kPipeToEnd);
    while (!has_ended(worker.child.pid) && Clock::now() < until) ::usleep(10'000);
  }

  CallRecord* sum() const {
    CallRecord* out = records_.front();
    for (size_t r = 1; r < records_.size(); ++r) {
      out->kernels += records_[r]->kernels;
      const uint64_t all = out->interpreted_kernels + records_[r]->interpreted_kernels;
      for (const Interpreted& some : records_[r]->interpreted)
        if (const uint64_t count = some.kernels; count > 0)
          out->add_interpreted(some.reason.get(), count);
      out->interpreted_kernels = all;  // also of more reasons than are kept
      for (int i = 0; i < kSlots; ++i) {
        if (out->device[0] == 0)
          std::copy(std::begin(records_[r]->device), std::end(records_[r]->device), out->device);
        SlotRecord& to = out->slots[i];
        const SlotRecord& from = records_[r]->slots[i];
        to.calls += from.calls;
        to.failures += from.failures;
        to.slow += from.slow;
        to.longest_ns = std::max<uint64_t>(to.longest_ns, from.longest_ns);
        if (const std::string fault = from.fault.get(); !fault.empty()) to.fault.put(fault);
        to.faults += from.faults;
      }
    }
    return out;
  }

  const std::vector<Case>& all_;
  const RunOptions& options_;
  std::deque<Batch> waiting_;
  std::vector<size_t> checks_;  // cases of kChecks
  const size_t expected_;
  std::vector<CallRecord*> records_;  // one for each process at once
  std::vector<Worker> workers_;
  std::map<size_t, CaseResult> results_;
  std::map<char, int> hangs_;  // by group
  std::set<char> given_up_;    // groups of which cases were skipped for their hangs
  int next_worker_ = 0;
  bool strays_stay_ = false;  // some of what workers left behind could not be ended
  bool stopped_ = false;
};

}  // namespace

Result<RunResult> run_cases(const std::vector<Case>& all, const std::vector<size_t>& which,
                            const RunOptions& options) {
  return Run(all, which, options).run();
}

}  // namespace stria::conformance
