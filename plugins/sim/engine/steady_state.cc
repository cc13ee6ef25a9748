// SPDX-License-Identifier: Apache-2.0
#include "engine/steady_state.h"

#include <algorithm>

namespace stria::sim {

std::optional<Steady> steady_between(const Moment& before, const Moment& now) {
  if (before.form != now.form || before.now >= now.now) return std::nullopt;
  const uint64_t passed = now.now - before.now;
  Steady out;
  out.times = UINT64_MAX;
  for (size_t l = 0; l < now.loops.size(); ++l) {
    const Moment::Progress &a = before.loops[l], &b = now.loops[l];
    if (a.points != b.points || b.base < a.base) return std::nullopt;
    const uint64_t step = b.base - a.base;
    out.steps.push_back(step);
    if (step == 0) continue;
    // Another run of the same loop is at another point: it came there in another way.
    if (a.serial != b.serial) return std::nullopt;
    out.times = std::min(out.times, (b.points - b.begun) / step);
  }
  // Unless some loop goes on, there is nothing to repeat.
  if (out.times == UINT64_MAX || out.times == 0) return std::nullopt;
  for (size_t t = 0; t < now.tasks.size(); ++t) {
    const Moment::Task &a = before.tasks[t], &b = now.tasks[t];
    const bool moved_on =
        b.start - a.start == passed && (a.timer == 0 ? b.timer == 0 : b.timer - a.timer == passed);
    const bool lasts = a.serial == b.serial && !b.moves && b.timer != 0;
    if (!moved_on && !lasts) return std::nullopt;
    out.task_lasts.push_back(!moved_on);
    // It must end after all the times that are skipped.
    if (!moved_on) out.times = std::min(out.times, (b.timer - 1 - now.now) / passed);
  }
  for (size_t i = 0; i < now.idle_since.size(); ++i) {
    const uint64_t a = before.idle_since[i], b = now.idle_since[i];
    if (a != b && b - a != passed) return std::nullopt;
    out.instance_lasts.push_back(a == b);
  }
  for (size_t i = 0; i < now.starts.size(); ++i) {
    const uint64_t a = before.starts[i], b = now.starts[i];
    if (b == 0 ? a == 0 : b - a == passed) continue;
    if (b == 0 || a != b) return std::nullopt;
    // That must come after all the times that are skipped.
    out.times = std::min(out.times, (b - 1 - now.now) / passed);
  }
  // All instances that are in a repeat of the order must have come equally far in it.
  const Moment::Turn* moved = nullptr;
  uint64_t further = 0;
  for (size_t t = 0; t < now.turns.size(); ++t) {
    const Moment::Turn &a = before.turns[t], &b = now.turns[t];
    if (a.piece != b.piece || a.repeat != b.repeat || b.done < a.done) return std::nullopt;
    if (a.done == b.done) continue;
    if (moved &&
        (moved->piece != b.piece || moved->repeat != b.repeat || further != b.done - a.done))
      return std::nullopt;
    moved = &b;
    further = b.done - a.done;
    out.times = std::min(out.times, (b.times - b.done) / further);
  }
  // An instance that is late and catches up does not do the same again. One that falls back does,
  // unless something was held back before that no longer is.
  if (moved && passed != further * moved->shift &&
      (passed < further * moved->shift || before.held != now.held))
    return std::nullopt;
  if (out.times == 0) return std::nullopt;
  return out;
}

}  // namespace stria::sim
