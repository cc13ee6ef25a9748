// SPDX-License-Identifier: Apache-2.0
#include "order_run.h"

#include <poll.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "child_process.h"
#include "order_check.h"
#include "stria/base/text.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/walk.h"

namespace stria::trust {
namespace {

using nlohmann::json;

constexpr uint64_t kChunk = 2500;
// A program with more statements ends its pipeline: unrolled loops of unrolled loops say nothing
// new and take long.
constexpr size_t kMostStatements = 600;

size_t statements_of(const stripe::Program& program) {
  size_t count = 0;
  stripe::visit_blocks(program.entry,
                       [&](const stripe::Place& place) { count += place.block->stmts.size(); });
  return count;
}

uint64_t number_of(uint64_t seed, uint64_t pipeline) { return seed * 1000003 + pipeline; }

std::string line_of(const json& said) {
  return said.dump(-1, ' ', false, json::error_handler_t::replace);
}

// One pipeline, in the child.
class OnePipeline {
 public:
  OnePipeline(const OrderOptions& options, const Programs& programs,
              const std::vector<PassInfo>& passes, const std::vector<OrderCheck>& checks,
              GuidedDraw& draw, const Say& say)
      : options_(options),
        programs_(programs),
        passes_(passes),
        checks_(checks),
        draw_(draw),
        say_(say) {}

  void run(uint64_t pipeline) {
    const uint64_t number = number_of(options_.seed, pipeline);
    const DrawnProgram from = programs_.draw(number);
    const Machine& machine = programs_.machines()[from.machine];
    const OrderCheck& check = checks_[from.machine];
    say_(line_of({{"begin", pipeline}}));
    auto values = interp::run_on_random(from.program, 1);
    if (!values.ok() || !check.why_not_legal(from.program).empty()) return;  // legal_test's matter
    stripe::Program program = from.program;
    bool regrouped = false;
    for (const std::string& step : from.begins)
      if (!one(check, program, step, *values, regrouped)) return;
    Dice dice(number ^ 0x5bd1e995u);
    std::vector<int64_t> uses(passes_.size(), 0);
    draw_.begin_pipeline();
    for (int64_t n = dice.between(5, 15); n > 0 && statements_of(program) <= kMostStatements; --n) {
      const DrawnStep step =
          draw_.draw(program, from, machine, uses, static_cast<size_t>(n - 1), dice);
      ++uses[step.pass];
      const bool goes_on = one(check, program, step.json, *values, regrouped);
      const auto result = last_.kind == OrderCheck::Outcome::Kind::same ? GuidedDraw::Result::same
                          : last_.kind == OrderCheck::Outcome::Kind::refused
                              ? GuidedDraw::Result::refused
                              : GuidedDraw::Result::changed;
      draw_.learn(step, result);
      json told = {{"pass", passes_[step.pass].name},
                   {"kind", from.kind},
                   {"result", static_cast<int>(result)}};
      if (result == GuidedDraw::Result::refused) told["why"] = last_.message.substr(0, 150);
      say_(line_of(told));
      if (!goes_on) return;
    }
  }

 private:
  bool one(const OrderCheck& check, stripe::Program& program, const std::string& step,
           interp::ProgramValues& values, bool& regrouped) {
    limit_time();
    say_(line_of({{"step", step}}));
    const stripe::Program before = program;
    const bool was_regrouped = regrouped;
    last_ = check.run(program, step, values, regrouped);
    if (last_.kind != OrderCheck::Outcome::Kind::wrong) return true;
    say_(line_of({{"fault", last_.fault},
                  {"message", last_.message},
                  {"before", stripe::print(before)},
                  {"regrouped", was_regrouped}}));
    return false;
  }

  const OrderOptions& options_;
  const Programs& programs_;
  const std::vector<PassInfo>& passes_;
  const std::vector<OrderCheck>& checks_;
  GuidedDraw& draw_;
  const Say& say_;
  OrderCheck::Outcome last_;
};

struct Chunk {
  uint64_t begin = 0, end = 0;
  std::set<uint64_t> skip;  // pipelines that kill the process
};

// What the child of one chunk has said so far.
struct Running {
  Chunk chunk;
  ChildProcess child;
  OrderReport report;
  uint64_t pipeline = 0;
  std::vector<std::string> steps;
};

class Parent {
 public:
  Parent(const OrderOptions& options, const Programs& programs, const std::vector<PassInfo>& passes,
         OrderReport& report, const std::function<void(uint64_t, size_t)>& progress)
      : options_(options),
        programs_(programs),
        passes_(passes),
        report_(report),
        progress_(progress) {
    for (const Machine& machine : programs.machines())
      checks_.push_back(OrderCheck::of(machine.model, passes).value());
  }

  void run() {
    for (uint64_t begin = 0; begin < options_.count; begin += kChunk)
      todo_.push_back({begin, std::min(begin + kChunk, options_.count), {}});
    while (!todo_.empty() || !running_.empty()) {
      while (!todo_.empty() && running_.size() < options_.jobs) start();
      std::vector<pollfd> fds;
      for (const auto& one : running_) fds.push_back({one->child.descriptor(), POLLIN, 0});
      poll(fds.data(), fds.size(), -1);
      for (size_t i = fds.size(); i-- > 0;)
        if (fds[i].revents != 0) hear(i);
    }
    std::stable_sort(report_.failures.begin(), report_.failures.end(),
                     [](const auto& a, const auto& b) { return a.number < b.number; });
  }

 private:
  void start() {
    const Chunk chunk = todo_.front();
    todo_.pop_front();
    running_.push_back(std::make_unique<Running>(
        Running{chunk, ChildProcess([&](const Say& say) { work(chunk, say); }), {}, 0, {}}));
  }

  void work(const Chunk& chunk, const Say& say) const {
    GuidedDraw draw(passes_);
    OnePipeline one(options_, programs_, passes_, checks_, draw, say);
    for (uint64_t i = chunk.begin; i < chunk.end; ++i)
      if (!chunk.skip.count(i)) one.run(i);
  }

  void hear(size_t at) {
    Running& one = *running_[at];
    std::vector<std::string> lines;
    const bool more = one.child.read(lines);
    for (const std::string& line : lines) hear_line(one, json::parse(line));
    if (more) return;
    const std::string died = one.child.wait();
    if (died.empty()) {
      add(one.report);
    } else {
      // Once more without it, as if it had not been there.
      OrderFailure failure = failure_at(one);
      failure.program = programs_.draw(number_of(options_.seed, one.pipeline)).program;
      failure.fault = died;
      failure.message = "the process died";
      report_.failures.push_back(std::move(failure));
      ++failed_;
      begun_ -= one.report.pipelines;
      failed_ -= one.report.failures.size();
      Chunk again = one.chunk;
      again.skip.insert(one.pipeline);
      todo_.push_front(again);
    }
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  OrderFailure failure_at(const Running& one) const {
    const DrawnProgram from = programs_.draw(number_of(options_.seed, one.pipeline));
    OrderFailure failure;
    failure.number = one.pipeline;
    failure.drawn_name = from.name;
    failure.machine = from.machine;
    failure.steps = one.steps;
    return failure;
  }

  void hear_line(Running& one, const json& said) {
    if (said.contains("begin")) {
      one.pipeline = said["begin"].get<uint64_t>();
      one.steps.clear();
      ++one.report.pipelines;
      progress_(++begun_, failed_);
    } else if (said.contains("step")) {
      one.steps.push_back(said["step"].get<std::string>());
    } else if (said.contains("fault")) {
      OrderFailure failure = failure_at(one);
      // The last step fails on the program before it: that says what is wrong most shortly.
      failure.steps = {one.steps.back()};
      failure.program = stripe::parse({"before", said["before"].get<std::string>()}).value();
      failure.regrouped = said["regrouped"].get<bool>();
      failure.fault = said["fault"].get<std::string>();
      failure.message = said["message"].get<std::string>();
      one.report.failures.push_back(std::move(failure));
      ++failed_;
    } else {
      Tally tally;
      tally.drawn = 1;
      const auto result = static_cast<GuidedDraw::Result>(said["result"].get<int>());
      tally.changed = result == GuidedDraw::Result::changed;
      tally.same = result == GuidedDraw::Result::same;
      tally.refused = result == GuidedDraw::Result::refused;
      const std::string pass = said["pass"].get<std::string>();
      one.report.by_pass[pass].add(tally);
      one.report.by_kind[said["kind"].get<std::string>()].add(tally);
      if (said.contains("why")) ++one.report.refusals[pass + ": " + said["why"].get<std::string>()];
    }
  }

  void add(const OrderReport& report) {
    report_.pipelines += report.pipelines;
    for (const auto& [pass, tally] : report.by_pass) report_.by_pass[pass].add(tally);
    for (const auto& [kind, tally] : report.by_kind) report_.by_kind[kind].add(tally);
    for (const auto& [why, times] : report.refusals) report_.refusals[why] += times;
    report_.failures.insert(report_.failures.end(), report.failures.begin(), report.failures.end());
  }

  const OrderOptions& options_;
  const Programs& programs_;
  const std::vector<PassInfo>& passes_;
  OrderReport& report_;
  const std::function<void(uint64_t, size_t)>& progress_;
  std::vector<OrderCheck> checks_;
  std::deque<Chunk> todo_;
  std::vector<std::unique_ptr<Running>> running_;
  uint64_t begun_ = 0;
  size_t failed_ = 0;
};

}  // namespace

Tally OrderReport::all() const {
  Tally out;
  for (const auto& [pass, tally] : by_pass) out.add(tally);
  return out;
}

OrderReport run_orders(const OrderOptions& options, const Programs& programs,
                       const std::vector<PassInfo>& passes,
                       const std::function<void(uint64_t, size_t)>& progress) {
  OrderReport report;
  Parent(options, programs, passes, report, progress).run();
  return report;
}

}  // namespace stria::trust
