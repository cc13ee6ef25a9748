// SPDX-License-Identifier: Apache-2.0
#include "order_failure.h"

#include <algorithm>

#include "child_process.h"
#include "stria/base/text.h"
#include "stria/pass/reproducer.h"
#include "stria/pass/shrink.h"
#include "stria/stripe/text/printer.h"

namespace stria::trust {
namespace {

using nlohmann::json;

// The first line's rule: without its place, names and numbers.
std::string rule_of(const std::string& message) {
  std::string line = message.substr(0, message.find('\n'));
  if (const size_t at = line.rfind("`: "); at != std::string::npos) line = line.substr(at + 3);
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    const char quote = line[i];
    if (quote == '\'' || quote == '`') {
      const size_t end = line.find(quote, i + 1);
      if (end != std::string::npos) {
        out += "…";
        i = end;
        continue;
      }
    }
    if (quote >= '0' && quote <= '9') {
      if (out.empty() || out.back() != '#') out += '#';
      continue;
    }
    out += quote;
  }
  // A path of blocks at the beginning.
  if (const size_t at = out.find(": "); at != std::string::npos && out.find('/') < at)
    out = out.substr(at + 2);
  return out;
}

// Runs the steps in this process.
void try_steps(const OrderFailure& failure, const Machine& machine,
               const std::vector<PassInfo>& passes, const Say& say) {
  const Result<OrderCheck> check = OrderCheck::of(machine.model, passes);
  if (!check.ok() || !check->why_not_legal(failure.program).empty()) return;
  auto values = interp::run_on_random(failure.program, 1);
  if (!values.ok()) return;
  stripe::Program program = failure.program;
  bool regrouped = failure.regrouped;
  for (size_t i = 0; i < failure.steps.size(); ++i) {
    say(json{{"step", i}}.dump());
    const OrderCheck::Outcome outcome = check->run(program, failure.steps[i], *values, regrouped);
    if (outcome.kind != OrderCheck::Outcome::Kind::wrong) continue;
    say(json{{"fault", outcome.fault}, {"message", outcome.message}}.dump(
        -1, ' ', false, json::error_handler_t::replace));
    return;
  }
}

bool fails_alike(OrderFailure& failure, const std::string& signature, const Machine& machine,
                 const std::vector<PassInfo>& passes) {
  return fails(failure, machine, passes) && failure.signature() == signature;
}

}  // namespace

std::string OrderFailure::signature() const {
  const json step = json::parse(steps.back());
  std::string pass;
  for (auto it = step.begin(); it != step.end(); ++it)
    if (it.key() != "name") pass = it.key();
  // Where in the values it shows is chance.
  return fmt::format("{}: {}: {}", pass, fault, fault == "wrong value" ? "" : rule_of(message));
}

bool fails(OrderFailure& failure, const Machine& machine, const std::vector<PassInfo>& passes) {
  std::string died;
  const std::vector<std::string> lines =
      run_in_child([&](const Say& say) { try_steps(failure, machine, passes, say); }, died);
  size_t step = 0;
  bool wrong = false;
  for (const std::string& line : lines) {
    const json said = json::parse(line);
    if (said.contains("step")) step = said["step"].get<size_t>();
    if (!said.contains("fault")) continue;
    wrong = true;
    failure.fault = said["fault"].get<std::string>();
    failure.message = said["message"].get<std::string>();
  }
  if (!died.empty() && !lines.empty()) {
    wrong = true;
    failure.fault = died;
    failure.message = "the process died";
  }
  if (wrong) failure.steps.resize(step + 1);
  return wrong;
}

OrderFailure made_small(const OrderFailure& failure, const Machine& machine,
                        const std::vector<PassInfo>& passes, int64_t max_tries) {
  const std::string signature = failure.signature();
  OrderFailure best = failure;
  auto take = [&](OrderFailure candidate) {
    if (!fails_alike(candidate, signature, machine, passes)) return false;
    best = std::move(candidate);
    return true;
  };
  // Steps, from the last but one to the first.
  for (size_t i = best.steps.size() - 1; i-- > 0;) {
    OrderFailure candidate = best;
    candidate.steps.erase(candidate.steps.begin() + static_cast<std::ptrdiff_t>(i));
    take(std::move(candidate));
  }
  // Options.
  for (size_t i = 0; i < best.steps.size(); ++i) {
    const json step = json::parse(best.steps[i]);
    for (auto pass = step.begin(); pass != step.end(); ++pass) {
      if (!pass->is_object()) continue;
      for (auto option = pass->begin(); option != pass->end(); ++option) {
        json less = json::parse(best.steps[i]);
        less[pass.key()].erase(option.key());
        OrderFailure candidate = best;
        candidate.steps[i] = less.dump();
        take(std::move(candidate));
      }
    }
  }
  best.program = shrink(best.program,
                        [&](const stripe::Program& smaller) {
                          OrderFailure candidate = best;
                          candidate.program = smaller;
                          return fails_alike(candidate, signature, machine, passes) &&
                                 candidate.steps.size() == best.steps.size();
                        },
                        {.max_tries = max_tries});
  fails(best, machine, passes);
  return best;
}

std::string as_reproducer(const OrderFailure& failure, const Machine& machine) {
  Reproducer out;
  out.verify_each = true;
  out.pipeline = fmt::format("[{}]", join(failure.steps, ", "));
  out.hw = machine.model.to_string();
  out.program = stripe::print(failure.program);
  out.failure = fmt::format("{}: {}", failure.fault, failure.message);
  return out.to_string();
}

}  // namespace stria::trust
