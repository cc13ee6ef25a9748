// SPDX-License-Identifier: Apache-2.0
// The state of a task graph while it runs: which nodes wait, are ready, run, or have ended. Of a
// loop it keeps the points that have begun and not ended. If all points of a loop may begin at
// once, it keeps only those of which something may start next.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "engine/graph_plan.h"
#include "engine/steady_state.h"
#include "engine/timeline.h"

namespace stria::sim {

class Progress {
 public:
  struct Activation;
  struct Frame;
  // A node of a point, or of the graph itself.
  struct Node {
    Frame* frame = nullptr;
    uint32_t node = 0;
  };

  // `graph` must outlive it.
  explicit Progress(const TaskGraph& graph);
  ~Progress();

  // Makes the nodes ready that wait for nothing.
  void begin();
  void started(Node node, uint64_t now);
  // `ended` says what kind of node has ended.
  void ended(Node node, Ended ended, uint64_t now);
  // For a caller that takes tasks in an order of its own: begins the point that the task is in, if
  // there is room for it. True if the point has begun.
  bool reach(uint64_t number, uint64_t now);
  // Tasks that are ready; the caller takes them out of the list.
  std::vector<Node>& ready() { return ready_; }
  bool done() const { return done_; }

  static uint32_t kind(Node node);
  static uint64_t number(Node node);
  // What ended when the node became ready.
  static uint8_t why(Node node);
  // The serial of the loop that the node is in; 0: none.
  static uint32_t loop_of(Node node);

  // --- for skipping ahead

  // Loops under way that have more points, and of which points have ended since the last call.
  struct Watched {
    uint64_t points = 0;   // how often the loop was returned
    uint64_t save_at = 1;  // the next power of two of that
    Moment saved;          // an empty form: none is saved
    uint64_t sketch = 0;   // a hash of it
  };
  std::vector<Watched*> advanced();
  // Forgets the moments that were saved when the timeline had so many records or more.
  void forget_from(size_t records);
  // Adds this state to the moment. Calls `running` for each node that runs, in the order of the
  // form.
  void write_state(Moment& moment, const std::function<void(Node)>& running) const;
  size_t frames() const { return frames_under_way_; }
  // Moves each loop on by its `steps` points (in the order of write_state), so many times.
  void skip(const std::vector<uint64_t>& steps, uint64_t times);
  // How much the number of a task in the loop grows then, each time.
  uint64_t step_of(uint32_t loop) const;
  // Visits all tasks that are ready and have not started.
  void visit_ready(const std::function<void(Node)>& visit) const;

 private:
  enum class State : uint8_t { waits, ready, runs, done };
  void make_ready(Node node, uint64_t now);
  void release(Node node, uint8_t ended, uint64_t now);
  void settle(uint64_t now);
  void end_of_point(Frame* frame, uint64_t now);
  void pump(Activation& loop, uint64_t now);
  void enter(Activation& loop, uint64_t now);
  Frame* take(const GraphPlan& plan);
  void write_frame(const Frame& frame, Moment& moment,
                   const std::function<void(Node)>& running) const;
  void visit_loops(Frame& frame, const std::function<void(Activation&)>& visit) const;
  void renumber(Frame& frame);

  struct Line {
    uint32_t around = 0;  // the loop around it
    uint64_t size = 0;    // how many numbers a point takes
    uint64_t step = 0;    // points that the last skip moved on
  };
  struct EndedNode {
    Node node;
    uint8_t why = 0;
  };
  GraphPlan plan_;
  std::unique_ptr<Frame> root_;
  std::vector<Node> ready_;
  std::vector<EndedNode> queue_;
  std::vector<Activation*> advanced_;
  std::vector<Line> lines_;  // by the serial of a loop
  size_t frames_under_way_ = 0;
  bool done_ = false;
};

}  // namespace stria::sim
