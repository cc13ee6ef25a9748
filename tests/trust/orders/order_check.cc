// SPDX-License-Identifier: Apache-2.0
#include "order_check.h"

#include "known_intrinsics.h"
#include "option_sets.h"
#include "stria/builtins/evaluate.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::trust {
namespace {

const EvaluateIntrinsic kEvaluate = evaluate;

}  // namespace

Result<OrderCheck> OrderCheck::of(const HardwareModel& model, const std::vector<PassInfo>& passes) {
  STRIA_ASSIGN(ModelRules rules, ModelRules::of(model));
  return OrderCheck(model, passes, std::move(rules));
}

std::string OrderCheck::why_not_legal(const stripe::Program& program) const {
  const Status legal = stripe::verify(program, rules_.options(&known_intrinsics()));
  return legal.ok() ? "" : std::string(legal.message());
}

OrderCheck::Outcome OrderCheck::run(stripe::Program& program, const std::string& json,
                                    interp::ProgramValues& values, bool& regrouped) const {
  using Kind = Outcome::Kind;
  Outcome out;
  const auto failed = [&](const Status& status) {
    out.message = status.to_string();
    if (status.code() == StatusCode::internal || status.message().empty()) {
      out.kind = Kind::wrong;
      out.fault = status.message().empty() ? "no reason" : "internal error";
    } else {
      out.kind = Kind::refused;
    }
    return out;
  };
  const Result<Pipeline> step = parse_pipeline({"step", "[" + json + "]"}, {}, *model_, *passes_);
  if (!step.ok()) return failed(step.status());
  out.pass = step->steps[0].pass;
  PipelineOptions how;
  how.verify_each = false;
  how.evaluate = &kEvaluate;
  stripe::Program after = program;
  const auto reports = run_pipeline(after, *step, *model_, how);
  if (!reports.ok()) return failed(reports.status());
  if (after == program) return out;
  out.kind = Kind::changed;
  if (std::string why = why_not_legal(after); !why.empty()) {
    out.kind = Kind::wrong;
    out.fault = "not legal";
    out.message = std::move(why);
    program = std::move(after);
    return out;
  }
  regrouped = regrouped || regroups(out.pass);
  if (const double growth = error_growth(out.pass); growth != 1)
    for (interp::Reference& reference : values.expected)
      for (double& bound : reference.bound) bound *= growth;
  if (const Refusal wrong = interp::difference(
          after, values, regrouped ? interp::Same::within_bounds : interp::Same::exact)) {
    out.kind = Kind::wrong;
    out.fault = "wrong value";
    out.message = wrong.reason();
  }
  program = std::move(after);
  return out;
}

}  // namespace stria::trust
