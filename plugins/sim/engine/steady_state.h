// SPDX-License-Identifier: Apache-2.0
// When a simulation repeats itself: two moments are alike if all that matters for what comes is the
// same in both, counted from the moment and from the points that the loops have come to. What
// happened between them then happens again and again, until a loop has no points left for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace stria::sim {

// A moment of a simulation.
struct Moment {
  uint64_t now = 0;
  uint64_t events = 0;
  size_t records = 0;  // that the timeline had
  // Everything but what follows here, with times and points counted from the moment's.
  std::vector<uint64_t> form;
  // Loops under way, in the order in which the form has them.
  struct Progress {
    uint64_t serial = 0;  // tells it from all others of the simulation
    uint64_t base = 0;    // the first point that has not ended
    uint64_t begun = 0;   // how many points have
    uint64_t points = 0;
  };
  std::vector<Progress> loops;
  // Tasks under way, likewise.
  struct Task {
    uint64_t serial = 0;
    uint64_t start = 0;
    uint64_t timer = 0;  // when its timer ends, 0: it has none
    bool moves = false;  // bytes
  };
  std::vector<Task> tasks;
  std::vector<uint64_t> idle_since;  // of each instance
  // Of a given order: before which tick an instance takes nothing, 0 if that has passed; how far it
  // has come that repeats itself, for each repeat that an instance is in.
  std::vector<uint64_t> starts;
  struct Turn {
    uint64_t piece = 0;  // of the order
    size_t repeat = 0;   // which one of it
    uint64_t done = 0, times = 0;
    uint64_t shift = 0;  // ticks that a time of it takes
  };
  std::vector<Turn> turns;
  uint64_t held = 0;  // how often something was ready before its time
};

// What may be skipped after the second of two moments.
struct Steady {
  uint64_t times = 0;           // that all of it happens again
  std::vector<uint64_t> steps;  // of each loop, points
  // Of each task and instance: it did nothing but last, or wait, from the first moment on.
  std::vector<bool> task_lasts, instance_lasts;
};

// Nothing if the moments are not alike, or no room is left for another time.
std::optional<Steady> steady_between(const Moment& before, const Moment& now);

}  // namespace stria::sim
