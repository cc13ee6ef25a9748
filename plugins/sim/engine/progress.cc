// SPDX-License-Identifier: Apache-2.0
#include "engine/progress.h"

#include <algorithm>

namespace stria::sim {

struct Progress::Frame {
  struct NodeState {
    uint64_t when = 0;  // when something ended last that it waits for
    uint32_t open = 0;  // how many nodes it still waits for
    State state = State::waits;
    uint8_t why = 0;  // what ended then
  };
  const GraphPlan* plan = nullptr;
  Activation* in = nullptr;  // null: the graph itself
  uint64_t point = 0;
  uint64_t number = 0;       // of its first task
  uint64_t when = 0;         // when its last node ended
  uint32_t left = 0;         // nodes that have not ended
  mutable uint32_t low = 0;  // all before it have ended
  uint32_t high = 0;         // nothing has happened to the nodes from here on
  uint8_t why = 0;           // what ended then
  bool touched = false;      // something in it has started
  std::vector<NodeState> nodes;
  std::vector<std::unique_ptr<Activation>> loops;  // in the order of the graph's loops
};

struct Progress::Activation {
  const GraphPlan::LoopPlan* plan = nullptr;
  Frame* parent = nullptr;
  uint32_t node = 0;
  uint32_t serial = 0;
  uint64_t base = 0, begun = 0;
  std::deque<std::unique_ptr<Frame>> window;  // points base to begun; null: the point has ended
  std::vector<std::unique_ptr<Frame>> spare;
  uint64_t began_at = 0, ended_at = 0;    // when the loop began, when a point ended last
  uint64_t moved_at = 0, moved_from = 0;  // the tick at which base grew last, and from where
  uint8_t why = 0, ended_why = 0;
  bool advanced = false;
  Watched watched;

  uint64_t points() const { return plan->loop->points; }
  uint64_t depth() const { return plan->loop->depth; }
  uint64_t number() const { return parent->number + parent->plan->number[node]; }
  Frame* at(uint64_t point) const {
    return point >= base && point < begun ? window[point - base].get() : nullptr;
  }
};

Progress::Progress(const TaskGraph& graph) : plan_(graph), lines_(1) {}
Progress::~Progress() = default;

uint32_t Progress::kind(Node node) { return node.frame->plan->graph->kind[node.node]; }
uint64_t Progress::number(Node node) {
  return node.frame->number + node.frame->plan->number[node.node];
}
uint8_t Progress::why(Node node) { return node.frame->nodes[node.node].why; }
uint32_t Progress::loop_of(Node node) { return node.frame->in ? node.frame->in->serial : 0; }

void Progress::begin() {
  root_ = std::make_unique<Frame>();
  Frame& root = *root_;
  root.plan = &plan_;
  const size_t count = plan_.graph->size();
  root.left = static_cast<uint32_t>(count);
  root.nodes.resize(count);
  root.loops.resize(plan_.loops.size());
  for (size_t node = 0; node < count; ++node) root.nodes[node].open = plan_.waits_of(node);
  done_ = count == 0;
  for (uint32_t node : plan_.entries) make_ready({&root, node}, 0);
  settle(0);
}

void Progress::make_ready(Node node, uint64_t now) {
  Frame& frame = *node.frame;
  Frame::NodeState& state = frame.nodes[node.node];
  state.state = State::ready;
  frame.high = std::max(frame.high, node.node + 1);
  const TaskGraph& graph = *frame.plan->graph;
  if (!graph.is_loop(node.node)) {
    if (plan_.graph->kinds[graph.kind[node.node]].work == TaskKind::Work::join)
      queue_.push_back({node, state.why});
    else
      ready_.push_back(node);
    return;
  }
  state.state = State::runs;
  auto loop = std::make_unique<Activation>();
  loop->plan = &frame.plan->loop(node.node);
  loop->parent = &frame;
  loop->node = node.node;
  loop->serial = static_cast<uint32_t>(lines_.size());
  loop->began_at = now;
  loop->why = state.why;
  lines_.push_back({frame.in ? frame.in->serial : 0, loop->plan->body->number.back(), 0});
  Activation& made = *loop;
  frame.loops[graph.kind[node.node] & ~TaskGraph::kLoop] = std::move(loop);
  pump(made, now);
}

// A further point may begin if there is room for it, and the point before has something under way.
// Until then, all that the further point could start comes after the same of the point before.
void Progress::pump(Activation& loop, uint64_t now) {
  while (loop.begun < loop.points() && loop.begun - loop.base < loop.depth() &&
         (loop.window.empty() || !loop.window.back() || loop.window.back()->touched))
    enter(loop, now);
}

void Progress::enter(Activation& loop, uint64_t now) {
  const GraphPlan& plan = *loop.plan->body;
  const size_t count = plan.graph->size();
  std::unique_ptr<Frame> made;
  if (loop.spare.empty()) {
    made = std::make_unique<Frame>();
    made->plan = &plan;
    made->in = &loop;
    made->nodes.resize(count);
    made->loops.resize(plan.loops.size());
  } else {
    made = std::move(loop.spare.back());
    loop.spare.pop_back();
  }
  Frame& frame = *made;
  frame.point = loop.begun;
  frame.number = loop.number() + frame.point * plan.number.back();
  frame.left = static_cast<uint32_t>(count);
  frame.low = frame.high = 0;
  frame.when = 0;
  frame.why = 0;
  frame.touched = false;
  for (size_t node = 0; node < count; ++node) {
    frame.nodes[node] = {};
    frame.nodes[node].open = plan.waits_of(node);
  }
  const Frame* before = frame.point > 0 ? loop.at(frame.point - 1) : nullptr;
  if (before)
    for (const Loop::Carried& carried : loop.plan->loop->carried)
      if (before->nodes[carried.before].state != State::done) ++frame.nodes[carried.node].open;
  loop.window.push_back(std::move(made));
  ++loop.begun;
  ++frames_under_way_;
  // Was room made at this tick, or before?
  const bool pipelined = frame.point >= loop.depth();
  const bool just_now = loop.moved_at == now && frame.point >= loop.moved_from + loop.depth();
  for (uint32_t node : plan.entries) {
    Frame::NodeState& state = frame.nodes[node];
    state.why = pipelined ? uint8_t{kEndedSlot} : loop.why;
    state.when = !pipelined ? loop.began_at : just_now ? now : now - 1;
    if (state.open == 0) make_ready({&frame, node}, now);
  }
}

void Progress::release(Node node, uint8_t ended, uint64_t now) {
  Frame::NodeState& state = node.frame->nodes[node.node];
  state.why = state.when == now ? static_cast<uint8_t>(state.why | ended) : ended;
  state.when = now;
  node.frame->high = std::max(node.frame->high, node.node + 1);
  if (--state.open == 0) make_ready(node, now);
}

void Progress::started(Node node, uint64_t now) {
  node.frame->nodes[node.node].state = State::runs;
  for (Frame* frame = node.frame; frame && !frame->touched;
       frame = frame->in ? frame->in->parent : nullptr) {
    frame->touched = true;
    if (frame->in) pump(*frame->in, now);
  }
  settle(now);
}

bool Progress::reach(uint64_t number, uint64_t now) {
  Frame* frame = root_.get();
  for (;;) {
    const GraphPlan& plan = *frame->plan;
    const auto after = std::upper_bound(plan.number.begin(), plan.number.end(), number);
    const auto node = static_cast<uint32_t>(after - plan.number.begin()) - 1;
    if (!plan.graph->is_loop(node)) return true;
    Activation* loop = frame->loops[plan.graph->kind[node] & ~TaskGraph::kLoop].get();
    if (!loop) return false;
    const uint64_t size = loop->plan->body->number.back();
    number -= plan.number[node];
    const uint64_t point = number / size;
    number %= size;
    const uint64_t begun = loop->begun;
    while (loop->begun <= point && loop->begun - loop->base < loop->depth()) enter(*loop, now);
    if (loop->begun > begun) settle(now);
    frame = loop->at(point);
    if (!frame) return false;
  }
}

void Progress::ended(Node node, Ended ended, uint64_t now) {
  queue_.push_back({node, ended});
  settle(now);
}

void Progress::settle(uint64_t now) {
  for (size_t q = 0; q < queue_.size(); ++q) {
    const auto [node, why] = queue_[q];
    Frame& frame = *node.frame;
    const GraphPlan& plan = *frame.plan;
    frame.nodes[node.node].state = State::done;
    const uint32_t first = plan.first[node.node], last = plan.first[node.node + 1];
    for (uint32_t a = first; a < last; ++a) {
      const uint32_t after = plan.after[a];
      const bool room = plan.graph->slot[after] == node.node;
      release({&frame, after}, room ? static_cast<uint8_t>(why | kEndedSlot) : why, now);
    }
    if (first == last) {  // it ends the point
      frame.why = frame.when == now ? static_cast<uint8_t>(frame.why | why) : why;
      frame.when = now;
    }
    if (frame.in)
      if (Frame* next = frame.in->at(frame.point + 1)) {
        const GraphPlan::LoopPlan& loop = *frame.in->plan;
        for (uint32_t c = loop.first_carried[node.node]; c < loop.first_carried[node.node + 1]; ++c)
          release({next, loop.carried[c]}, why, now);
      }
    if (--frame.left == 0) end_of_point(&frame, now);
  }
  queue_.clear();
}

void Progress::end_of_point(Frame* frame, uint64_t now) {
  if (!frame->in) {
    done_ = true;
    return;
  }
  Activation& loop = *frame->in;
  loop.ended_why =
      loop.ended_at == now ? static_cast<uint8_t>(loop.ended_why | frame->why) : frame->why;
  loop.ended_at = now;
  --frames_under_way_;
  std::unique_ptr<Frame>& place = loop.window[frame->point - loop.base];
  loop.spare.push_back(std::move(place));
  if (frame->point == loop.base) {
    if (loop.moved_at != now || loop.base == 0) loop.moved_from = loop.base;
    loop.moved_at = now;
    while (!loop.window.empty() && !loop.window.front()) {
      loop.window.pop_front();
      ++loop.base;
    }
  }
  if (loop.base == loop.points()) {
    Frame& parent = *loop.parent;
    const Node node{&parent, loop.node};
    const uint8_t why = loop.ended_why;
    std::erase(advanced_, &loop);
    parent.loops[parent.plan->graph->kind[loop.node] & ~TaskGraph::kLoop].reset();
    queue_.push_back({node, why});
    return;
  }
  if (!loop.advanced) {
    loop.advanced = true;
    advanced_.push_back(&loop);
  }
  pump(loop, now);
}

// --- for skipping ahead

std::vector<Progress::Watched*> Progress::advanced() {
  std::vector<Watched*> out;
  for (Activation* loop : advanced_) {
    loop->advanced = false;
    if (loop->begun < loop->points()) out.push_back(&loop->watched);
  }
  advanced_.clear();
  return out;
}

void Progress::visit_loops(Frame& frame, const std::function<void(Activation&)>& visit) const {
  for (const auto& loop : frame.loops) {
    if (!loop) continue;
    visit(*loop);
    for (const auto& point : loop->window)
      if (point) visit_loops(*point, visit);
  }
}

void Progress::forget_from(size_t records) {
  visit_loops(*root_, [&](Activation& loop) {
    if (loop.watched.saved.form.empty() || loop.watched.saved.records < records) return;
    loop.watched.saved = {};
    loop.watched.save_at = loop.watched.points + 1;
  });
}

void Progress::write_state(Moment& moment, const std::function<void(Node)>& running) const {
  write_frame(*root_, moment, running);
}

void Progress::write_frame(const Frame& frame, Moment& moment,
                           const std::function<void(Node)>& running) const {
  while (frame.low < frame.high && frame.nodes[frame.low].state == State::done) ++frame.low;
  moment.form.push_back(frame.low);
  moment.form.push_back(frame.high);
  moment.form.push_back(frame.touched);
  for (uint32_t node = frame.low; node < frame.high; ++node) {
    const Frame::NodeState& state = frame.nodes[node];
    moment.form.push_back(static_cast<uint64_t>(state.state) << 32 | state.open);
    if (state.state != State::runs) continue;
    if (!frame.plan->graph->is_loop(node)) {
      running({const_cast<Frame*>(&frame), node});
      continue;
    }
    const Activation& loop = *frame.loops[frame.plan->graph->kind[node] & ~TaskGraph::kLoop];
    moment.loops.push_back({loop.serial, loop.base, loop.begun, loop.points()});
    // The rest of the first `depth` points has room from the start.
    moment.form.push_back(loop.begun - loop.base);
    moment.form.push_back(loop.begun < loop.depth() ? loop.why : uint64_t{kEndedSlot});
    for (const auto& point : loop.window) {
      moment.form.push_back(point != nullptr);
      if (point) write_frame(*point, moment, running);
    }
  }
}

void Progress::skip(const std::vector<uint64_t>& steps, uint64_t times) {
  for (Line& line : lines_) line.step = 0;
  Moment order;
  write_state(order, [](Node) {});
  for (size_t l = 0; l < steps.size(); ++l) lines_[order.loops[l].serial].step = steps[l];
  visit_loops(*root_, [&](Activation& loop) {
    const uint64_t by = lines_[loop.serial].step * times;
    loop.base += by;
    loop.begun += by;
    for (const auto& point : loop.window)
      if (point) point->point += by;
  });
  renumber(*root_);
}

void Progress::renumber(Frame& frame) {
  for (const auto& loop : frame.loops) {
    if (!loop) continue;
    for (const auto& point : loop->window) {
      if (!point) continue;
      point->number = loop->number() + point->point * loop->plan->body->number.back();
      renumber(*point);
    }
  }
}

uint64_t Progress::step_of(uint32_t loop) const {
  uint64_t out = 0;
  for (; loop != 0; loop = lines_[loop].around) out += lines_[loop].step * lines_[loop].size;
  return out;
}

void Progress::visit_ready(const std::function<void(Node)>& visit) const {
  const std::function<void(Frame&)> look = [&](Frame& frame) {
    for (uint32_t node = frame.low; node < frame.high; ++node) {
      const Frame::NodeState& state = frame.nodes[node];
      if (state.state == State::ready)
        visit({&frame, node});
      else if (state.state == State::runs && frame.plan->graph->is_loop(node))
        for (const auto& point :
             frame.loops[frame.plan->graph->kind[node] & ~TaskGraph::kLoop]->window)
          if (point) look(*point);
    }
  };
  look(*root_);
}

}  // namespace stria::sim
