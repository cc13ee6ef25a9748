// SPDX-License-Identifier: Apache-2.0
#include "events/trial.h"

namespace stria::conformance {
namespace {

constexpr uint64_t kBytes = 203;

}  // namespace

std::string_view name_of(Op op) {
  static constexpr std::string_view kNames[] = {"fill", "copy", "map_current", "map_discard",
                                                "map_read"};
  return kNames[static_cast<size_t>(op)];
}

std::string_view name_of(Kind kind) {
  static constexpr std::string_view kNames[] = {"host",        "fill",     "copy", "map_current",
                                                "map_discard", "map_read", "end"};
  return kNames[static_cast<size_t>(kind)];
}

MapMode mode_of(Op op) {
  return op == Op::map_current   ? MapMode::current
         : op == Op::map_discard ? MapMode::discard
                                 : MapMode::read;
}

Result<Trial> Trial::start(const Bench& bench, Op op, const EventList& waits, size_t on) {
  Trial trial(bench, op);
  trial.before_ = pattern(kBytes, 300);
  trial.after_ = op == Op::map_read ? trial.before_ : pattern(kBytes, 301);
  STRIA_ASSIGN(trial.target_, bench.buffer(trial.before_));
  if (op == Op::fill) {
    trial.after_ = bytes_of(kBytes, 0x6b);
    STRIA_ASSIGN(trial.event_, bench.fill(trial.target_, kBytes, 0x6b, waits, on));
    return trial;
  }
  if (op == Op::copy) {
    STRIA_ASSIGN(trial.source_, bench.buffer(trial.after_));
    STRIA_ASSIGN(trial.event_, bench.copy(trial.source_, 0, trial.target_, 0, kBytes, waits, on));
    return trial;
  }
  STRIA_ASSIGN(Mapped mapped, Mapped::make(bench, mode_of(op), trial.target_, 0, kBytes, waits));
  trial.mapped_.emplace(std::move(mapped));
  return trial;
}

Status Trial::was_done() {
  const std::string what(name_of(op_));
  STRIA_RETURN_IF_ERROR(bench_->finish(done()).with_context(what));
  if (mapped_) {
    if (op_ != Op::map_discard)
      STRIA_RETURN_IF_ERROR(mapped_->holds(before_, what + ": its memory"));
    if (op_ != Op::map_read) mapped_->write(after_);
    STRIA_RETURN_IF_ERROR(mapped_->end());
  }
  return bench_->holds(target_, after_, what + ": the buffer after it");
}

Status Trial::was_not_done() {
  if (mapped_) {
    STRIA_ASSIGN(const Event ended, mapped_->unmap());
    (void)bench_->finish(ended);  // may fail as the mapping did
  }
  return bench_->holds(target_, before_,
                       fmt::format("{} was not to be done: its buffer", name_of(op_)));
}

Result<OpenEvent> OpenEvent::make(const Bench& bench, Kind kind) {
  OpenEvent out(bench, kind);
  STRIA_ASSIGN(out.gate_, bench.subject().host_event());
  if (kind == Kind::end) {
    STRIA_ASSIGN(out.end_, bench.end_of(out.gate_));
  } else if (kind != Kind::host) {
    const auto op = static_cast<Op>(static_cast<int>(kind) - 1);
    STRIA_ASSIGN(Trial trial, Trial::start(bench, op, list_of(out.gate_)));
    out.trial_.emplace(std::move(trial));
  }
  STRIA_RETURN_IF_ERROR(bench.flush());
  return out;
}

Status OpenEvent::succeed() {
  STRIA_RETURN_IF_ERROR(bench_->subject().signal(gate_));
  return bench_->finish(event());
}

Status OpenEvent::fail(const Failure& failure) {
  failed_ = true;
  STRIA_RETURN_IF_ERROR(signal_failure(*bench_, gate_, failure));
  if (kind_ == Kind::end) return bench_->finish(event());
  return fails_with(*bench_, event(), failure,
                    fmt::format("the event of {} whose wait failed", name_of(kind_)));
}

Status OpenEvent::close() {
  if (!trial_) return Status();
  return failed_ ? trial_->was_not_done() : trial_->was_done();
}

}  // namespace stria::conformance
