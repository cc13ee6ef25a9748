// SPDX-License-Identifier: Apache-2.0
// Finds that a simulation repeats itself. Two moments are alike if all that matters for what comes
// is the same in both, counted from the moment and from the points that the loops have come to.
// Then what happened between them happens again and again, until a loop has no points left for it.
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
  size_t records = 0;  // of the timeline by then
  // All state but what follows here; times and points are counted from the moment's.
  std::vector<uint64_t> form;
  // Loops under way, in the order of the form.
  struct Progress {
    uint64_t serial = 0;  // unique in the simulation
    uint64_t base = 0;    // the first point that has not ended
    uint64_t begun = 0;   // how many points have begun
    uint64_t points = 0;
  };
  std::vector<Progress> loops;
  // Tasks under way, likewise.
  struct Task {
    uint64_t serial = 0;
    uint64_t start = 0;
    uint64_t timer = 0;  // when its timer ends; 0: it has none
    bool moves = false;  // it moves bytes
  };
  std::vector<Task> tasks;
  std::vector<uint64_t> idle_since;  // of each instance
  // If instances follow a given order: the tick before which each instance takes nothing (0 if it
  // has passed), and for each repeat that an instance is in, how far the instance has come in it.
  std::vector<uint64_t> starts;
  struct Turn {
    uint64_t piece = 0;  // of the order
    size_t repeat = 0;   // which repeat of the piece
    uint64_t done = 0, times = 0;
    uint64_t shift = 0;  // ticks that one time takes
  };
  std::vector<Turn> turns;
  uint64_t held = 0;  // how often something was ready before its time
};

// What may be skipped after the second of two moments that are alike.
struct Steady {
  uint64_t times = 0;           // how many times more all of it happens
  std::vector<uint64_t> steps;  // by loop: the points that one time moves it on
  // By task and by instance: whether it did nothing but run, or wait, from the first moment on.
  std::vector<bool> task_lasts, instance_lasts;
};

// nullopt if the moments are not alike, or no room is left for another time.
std::optional<Steady> steady_between(const Moment& before, const Moment& now);

}  // namespace stria::sim
