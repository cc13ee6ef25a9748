// SPDX-License-Identifier: Apache-2.0
#include "engine/task_order.h"

#include <utility>

namespace stria::sim {

TaskOrder::TaskOrder(std::function<Result<Piece>()> source, uint32_t instances)
    : source_(std::move(source)), piece_of_(instances, 0), waiting_(instances) {}

void TaskOrder::fetch() {
  Result<Piece> piece = source_();
  if (!piece.ok()) {
    status_ = piece.status();
    all_here_ = true;
    return;
  }
  horizon_ = piece->horizon;
  all_here_ = piece->last;
  const auto instances = static_cast<uint32_t>(piece_of_.size());
  KeptPiece& kept = pieces_.emplace_back();
  kept.timeline = std::move(piece->timeline);
  kept.lines.resize(instances);
  const std::vector<TaskRecord>& tasks = kept.timeline.tasks;
  // How many tasks each instance had when a record came; repeats start there.
  std::vector<size_t> position(tasks.size());
  for (size_t r = 0; r < tasks.size(); ++r) {
    Line& line = kept.lines[tasks[r].instance];
    position[r] = line.tasks.size();
    line.tasks.push_back(static_cast<uint32_t>(r));
    line.inside.push_back(-1);
  }
  // Inner repeats come first: a task that has a span already lies in an inner one.
  for (size_t n = 0; n < kept.timeline.repeats.size(); ++n) {
    const Repeat& repeat = kept.timeline.repeats[n];
    std::vector<int32_t> span_of(instances, -1);
    for (size_t r = repeat.first; r < repeat.last; ++r) {
      const uint32_t instance = tasks[r].instance;
      Line& line = kept.lines[instance];
      int32_t& own = span_of[instance];
      if (own < 0) {
        own = static_cast<int32_t>(line.spans.size());
        line.spans.push_back({position[r], position[r], n, -1, 0});
      }
      line.spans[static_cast<size_t>(own)].last = position[r] + 1;
      int32_t* outermost = &line.inside[position[r]];
      while (*outermost >= 0 && *outermost != own)
        outermost = &line.spans[static_cast<size_t>(*outermost)].around;
      *outermost = own;
    }
  }
  // The instances that have waited for the piece.
  const uint64_t number = first_ + pieces_.size() - 1;
  kept.instances = std::exchange(waiting_, 0);
  for (uint32_t i = 0; i < instances; ++i)
    if (piece_of_[i] == number) move_on(i);
}

void TaskOrder::move_on(uint32_t instance) {
  uint64_t& at = piece_of_[instance];
  for (; has_task(instance); ++at) {
    KeptPiece& piece = piece_of(instance);
    const Line& line = piece.lines[instance];
    if (line.at < line.tasks.size()) break;
    --piece.instances;
    if (at + 1 < first_ + pieces_.size()) ++pieces_[at + 1 - first_].instances;
  }
  if (!has_task(instance)) ++waiting_;
  // Drops pieces that all instances have left behind.
  for (; !pieces_.empty() && pieces_.front().instances == 0; ++first_) pieces_.pop_front();
}

TaskOrder::Next TaskOrder::next(uint32_t instance, uint64_t now) {
  if (!has_task(instance)) know(now);
  if (!has_task(instance)) return {kNone, all_here_ ? kNone : horizon_};
  const KeptPiece& piece = piece_of(instance);
  const Line& line = piece.lines[instance];
  const size_t record = line.tasks[line.at];
  const TaskRecord& task = piece.timeline.tasks[record];
  Next out{task.number, task.start, task.waited};
  for (int32_t s = line.inside[line.at]; s >= 0; s = line.spans[static_cast<size_t>(s)].around) {
    const Span& span = line.spans[static_cast<size_t>(s)];
    const Repeat& repeat = piece.timeline.repeats[span.repeat];
    out.number += span.done * repeat.steps[record - repeat.first];
    out.start += span.done * repeat.shift;
  }
  return out;
}

void TaskOrder::take(uint32_t instance) {
  KeptPiece& piece = piece_of(instance);
  Line& line = piece.lines[instance];
  int32_t s = line.inside[line.at++];
  while (s >= 0) {
    Span& span = line.spans[static_cast<size_t>(s)];
    if (span.last != line.at) return;
    if (span.done < piece.timeline.repeats[span.repeat].times) {
      ++span.done;
      line.at = span.first;
      return;
    }
    span.done = 0;
    s = span.around;
  }
  if (line.at == line.tasks.size()) move_on(instance);
}

void TaskOrder::write_state(Moment& moment) {
  for (uint32_t instance = 0; instance < piece_of_.size(); ++instance) {
    const uint64_t start = next(instance, moment.now).start;
    moment.form.push_back(piece_of_[instance]);
    moment.starts.push_back(start == kNone || start <= moment.now ? 0 : start);
    if (!has_task(instance)) continue;
    const KeptPiece& piece = piece_of(instance);
    const Line& line = piece.lines[instance];
    moment.form.push_back(line.at);
    for (int32_t s = line.inside[line.at]; s >= 0; s = line.spans[static_cast<size_t>(s)].around) {
      const Span& span = line.spans[static_cast<size_t>(s)];
      const Repeat& repeat = piece.timeline.repeats[span.repeat];
      moment.turns.push_back(
          {piece_of_[instance], span.repeat, span.done, repeat.times, repeat.shift});
    }
  }
}

void TaskOrder::skip(const Moment& before, const Moment& now, uint64_t times) {
  size_t turn = 0;
  for (uint32_t instance = 0; instance < piece_of_.size(); ++instance) {
    if (!has_task(instance)) continue;
    Line& line = piece_of(instance).lines[instance];
    for (int32_t s = line.inside[line.at]; s >= 0; s = line.spans[static_cast<size_t>(s)].around) {
      line.spans[static_cast<size_t>(s)].done +=
          times * (now.turns[turn].done - before.turns[turn].done);
      ++turn;
    }
  }
}

}  // namespace stria::sim
