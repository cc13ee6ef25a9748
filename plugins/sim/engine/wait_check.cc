// SPDX-License-Identifier: Apache-2.0
#include "engine/wait_check.h"

#include <algorithm>
#include <deque>
#include <map>

namespace stria::sim {
namespace {

constexpr uint64_t kUnknown = UINT64_MAX;

}  // namespace

// A point of a loop, or the graph itself.
struct WaitCheck::Point {
  struct Node {
    uint64_t ready = 0;       // the last end among what it waits for
    uint64_t end = kUnknown;  // its own end, if it has ended
    uint32_t open = 0;        // how many nodes that it waits for have not ended
  };
  const GraphPlan* plan = nullptr;
  Run* in = nullptr;  // null: the graph itself
  uint64_t point = 0;
  uint64_t begin = kUnknown;  // its first nodes may start from then on
  uint64_t end = 0;           // the last end of its nodes so far
  uint64_t changes = 0;       // grows with whatever happens to its nodes
  size_t left = 0;            // nodes that have not ended
  std::vector<Node> nodes;
  std::map<uint32_t, std::unique_ptr<Run>> runs;  // its loops under way
};

// A loop under way.
struct WaitCheck::Run {
  const GraphPlan::LoopPlan* plan = nullptr;
  Point* parent = nullptr;
  uint32_t node = 0;
  uint32_t serial = 0;
  uint64_t begin = 0;         // points that need no room may begin then
  uint64_t base = 0;          // all points before have ended
  uint64_t last = 0;          // when the last of them ended
  std::deque<uint64_t> ends;  // ends of the `depth` last of those points, if points need room
  std::deque<std::unique_ptr<Point>> window;  // from `base` on; null: nothing of it has ended
  std::unique_ptr<Point> before;              // point `base` - 1, if points wait for those before

  uint64_t points() const { return plan->loop->points; }
  uint64_t depth() const { return plan->loop->depth; }
  bool needs_room() const { return depth() < points(); }
  Point* at(uint64_t point) const {
    if (point + 1 == base) return before.get();
    return point >= base && point - base < window.size() ? window[point - base].get() : nullptr;
  }
  // Of the first point of which nothing has ended.
  uint64_t next() const {
    return base +
           static_cast<uint64_t>(std::find(window.begin(), window.end(), nullptr) - window.begin());
  }
};

// What is under way at a moment.
struct WaitCheck::Moment {
  std::vector<uint64_t> form;  // how far everything is
  struct Loop {
    uint32_t serial = 0;
    int32_t around = -1;  // position of the loop that it is in
    uint64_t base = 0, next = 0, begun = 0;
  };
  std::vector<Loop> loops;
  struct Time {
    uint64_t at = 0;
    uint32_t loop = 0;  // position
  };
  std::vector<Time> times;
};

// Visits all that is under way, always in the same order.
class WaitCheck::Walk {
 public:
  virtual ~Walk() = default;
  void point(Point& of) {
    if (of.in) {
      form(of.left);
      time(of.begin);
      time(of.end);
      for (Point::Node& node : of.nodes) {
        form(node.end == kUnknown ? node.open : kUnknown);
        if (node.end == kUnknown) time(node.ready);
      }
      for (const Loop::Carried& carried : of.in->plan->loop->carried)
        time(of.nodes[carried.before].end);
    } else {
      form(of.changes);  // nothing in the graph itself comes again
    }
    form(of.runs.size());
    for (auto& [node, loop] : of.runs) {
      form(node);
      run(*loop);
    }
  }

 protected:
  virtual void form(uint64_t value) = 0;
  virtual void time(uint64_t& at) = 0;
  virtual void enter(Run& run) = 0;
  virtual void leave() = 0;

 private:
  void run(Run& of) {
    enter(of);
    time(of.begin);
    time(of.last);
    form(of.ends.size());
    for (uint64_t& end : of.ends) time(end);
    form(of.window.size());
    for (const auto& point : of.window) {
      form(point != nullptr);
      if (point) this->point(*point);
    }
    form(of.before != nullptr);
    if (of.before) point(*of.before);
    leave();
  }
};

WaitCheck::WaitCheck(const TaskGraph& graph) : graph_(graph), plan_(graph), lines_(1) {
  root_ = made(plan_, nullptr);
  root_->begin = 0;
  for (uint32_t node : plan_.entries)
    if (!graph.is_loop(node) && graph.kinds[graph.kind[node]].work == TaskKind::Work::join)
      ended_.push_back({root_.get(), node, 0});
  settle();
}
WaitCheck::~WaitCheck() = default;

std::unique_ptr<WaitCheck::Point> WaitCheck::made(const GraphPlan& plan, Run* in) {
  auto out = std::make_unique<Point>();
  out->plan = &plan;
  out->in = in;
  out->left = plan.graph->size();
  out->nodes.resize(out->left);
  for (uint32_t node = 0; node < out->left; ++node) out->nodes[node].open = plan.waits_of(node);
  return out;
}

Status WaitCheck::add(const Timeline& piece) {
  // Loops that have ended need no line any more.
  lines_.assign(1, {});
  renumber(*root_, 0);
  loop_of_.assign(piece.tasks.size(), 0);
  return play(piece, 0, piece.tasks.size(), repeat_tree(piece), nullptr);
}

void WaitCheck::renumber(Point& point, uint32_t around) {
  for (auto& [node, run] : point.runs) {
    run->serial = static_cast<uint32_t>(lines_.size());
    lines_.push_back({around, run->plan->body->number.back()});
    for (const auto& inner : run->window)
      if (inner) renumber(*inner, run->serial);
  }
}

Status WaitCheck::finish() const {
  if (root_->left == 0) return {};
  for (uint32_t node = 0; node < root_->nodes.size(); ++node)
    if (root_->nodes[node].end == kUnknown)
      return internal_error("{} of {} tasks and loops have not ended, the first is number {}",
                            root_->left, root_->nodes.size(), plan_.number[node]);
  return internal_error("a task has not ended");
}

Status WaitCheck::play(const Timeline& piece, size_t first, size_t last,
                       const std::vector<RepeatTree>& repeats, const Turn* turn) {
  const auto play_tasks = [&](size_t from, size_t to) -> Status {
    for (size_t r = from; r < to; ++r) {
      TaskRecord record = piece.tasks[r];
      for (const Turn* t = turn; t; t = t->around) {
        record.number += t->time * t->repeat->steps[r - t->repeat->first];
        record.start += t->time * t->repeat->shift;
        record.end += t->time * t->repeat->shift;
      }
      STRIA_RETURN_IF_ERROR(task(record, r));
    }
    return {};
  };
  for (const RepeatTree& tree : repeats) {
    STRIA_RETURN_IF_ERROR(play_tasks(first, tree.repeat->first));
    STRIA_RETURN_IF_ERROR(play_repeat(piece, tree, turn));
    first = tree.repeat->last;
  }
  return play_tasks(first, last);
}

Status WaitCheck::play_repeat(const Timeline& piece, const RepeatTree& tree, const Turn* turn) {
  const Repeat& repeat = *tree.repeat;
  // If the state is not alike after the first time, it is compared again after the second, fourth,
  // eighth.
  uint64_t look_at = 0;
  for (uint64_t time = 0; time <= repeat.times; ++time) {
    const bool looks = time == look_at && time < repeat.times;
    const Moment before = looks ? moment() : Moment();
    const Turn own{&repeat, time, turn};
    STRIA_RETURN_IF_ERROR(play(piece, repeat.first, repeat.last, tree.inner, &own));
    if (!looks) continue;
    const uint64_t skipped = skip(before, repeat, repeat.times - time);
    time += skipped;
    look_at = skipped > 0 ? time + 1 : 2 * time + 1;
  }
  return {};
}

Status WaitCheck::too_early(const TaskRecord& record, const Point& point, uint32_t node) const {
  const std::string& name = graph_.kinds[record.kind].name;
  const TaskGraph& graph = *point.plan->graph;
  const auto name_of = [&](uint32_t other) {
    return graph.is_loop(other) ? std::string("a loop") : graph_.kinds[graph.kind[other]].name;
  };
  const auto waits = [&](uint32_t other, const Point& of, std::string_view where) -> Status {
    if (of.nodes[other].end == kUnknown)
      return internal_error("'{}' (task {}) starts at {}, '{}'{} which it waits for has not ended",
                            name, record.number, record.start, name_of(other), where);
    if (of.nodes[other].end > record.start)
      return internal_error("'{}' (task {}) starts at {}, '{}'{} which it waits for ends at {}",
                            name, record.number, record.start, name_of(other), where,
                            of.nodes[other].end);
    return {};
  };
  for (uint32_t w = graph.first_wait[node]; w < graph.first_wait[node + 1]; ++w)
    STRIA_RETURN_IF_ERROR(waits(graph.waits[w], point, ""));
  if (point.in && point.point > 0)
    for (const Loop::Carried& carried : point.in->plan->loop->carried) {
      if (carried.node != node) continue;
      const Point* before = point.in->at(point.point - 1);
      if (!before)
        return internal_error("'{}' (task {}) starts at {}, the point before has not begun", name,
                              record.number, record.start);
      STRIA_RETURN_IF_ERROR(waits(carried.before, *before, " of the point before"));
    }
  return internal_error("'{}' (task {}) starts at {}, point {} may begin at {}", name,
                        record.number, record.start, point.point, point.begin);
}

// A task of the timeline has ended.
Status WaitCheck::task(const TaskRecord& record, size_t at) {
  ++looked_at_;
  if (record.end < last_end_)
    return internal_error("'{}' (task {}) ends at {}, and stands behind one that ends at {}",
                          graph_.kinds[record.kind].name, record.number, record.end, last_end_);
  last_end_ = record.end;
  Point* point = root_.get();
  uint64_t number = record.number;
  for (;;) {
    const GraphPlan& plan = *point->plan;
    if (number >= plan.number.back()) return internal_error("there is no task {}", record.number);
    const auto after = std::upper_bound(plan.number.begin(), plan.number.end(), number);
    const auto node = static_cast<uint32_t>(after - plan.number.begin()) - 1;
    number -= plan.number[node];
    Point::Node& state = point->nodes[node];
    if (state.end != kUnknown)
      return internal_error("'{}' (task {}) runs twice", graph_.kinds[record.kind].name,
                            record.number);
    const bool enters = plan.waits_of(node) == 0;
    if (!plan.graph->is_loop(node)) {
      if (plan.graph->kind[node] != record.kind)
        return internal_error("task {} is '{}', and runs as '{}'", record.number,
                              graph_.kinds[plan.graph->kind[node]].name,
                              graph_.kinds[record.kind].name);
      if (state.open > 0 || record.start < state.ready || (enters && record.start < point->begin))
        return too_early(record, *point, node);
      loop_of_[at] = point->in ? point->in->serial : 0;
      ended_.push_back({point, node, record.end});
      settle();
      return {};
    }
    std::unique_ptr<Run>& run = point->runs[node];
    if (!run) {
      if (state.open > 0) return too_early(record, *point, node);
      run = std::make_unique<Run>();
      run->plan = &plan.loop(node);
      run->parent = point;
      run->node = node;
      run->begin = std::max(state.ready, enters ? point->begin : 0);
      run->serial = static_cast<uint32_t>(lines_.size());
      lines_.push_back({point->in ? point->in->serial : 0, run->plan->body->number.back()});
      ++point->changes;
    }
    const uint64_t size = run->plan->body->number.back();
    STRIA_ASSIGN(point, reach(*run, number / size, record));
    number %= size;
  }
}

// The point; it is made if nothing of it has ended before.
Result<WaitCheck::Point*> WaitCheck::reach(Run& run, uint64_t number, const TaskRecord& record) {
  const std::string& name = graph_.kinds[record.kind].name;
  if (number < run.base) return internal_error("'{}' (task {}) runs twice", name, record.number);
  while (run.window.size() <= number - run.base) run.window.emplace_back();
  std::unique_ptr<Point>& place = run.window[number - run.base];
  if (place) return place.get();
  uint64_t begin = run.begin;
  if (number >= run.depth()) {
    const uint64_t ended = number - run.depth();
    if (ended >= run.base)
      return internal_error("'{}' (task {}) starts at {}, point {} has not made room for point {}",
                            name, record.number, record.start, ended, number);
    begin = run.ends[ended - (run.base - run.ends.size())];
  }
  place = made(*run.plan->body, &run);
  Point& point = *place;
  point.point = number;
  point.begin = begin;
  if (number > 0) {
    const Point* before = run.at(number - 1);
    for (const Loop::Carried& carried : run.plan->loop->carried) {
      Point::Node& node = point.nodes[carried.node];
      const uint64_t end = before ? before->nodes[carried.before].end : kUnknown;
      if (end == kUnknown)
        ++node.open;
      else
        node.ready = std::max(node.ready, end);
    }
  }
  for (uint32_t node : point.plan->entries)
    if (!point.plan->graph->is_loop(node) && point.nodes[node].open == 0 &&
        graph_.kinds[point.plan->graph->kind[node]].work == TaskKind::Work::join)
      ended_.push_back({&point, node, std::max(begin, point.nodes[node].ready)});
  settle();
  return &point;
}

void WaitCheck::release(Point& point, uint32_t node, uint64_t at) {
  Point::Node& state = point.nodes[node];
  ++point.changes;
  state.ready = std::max(state.ready, at);
  if (--state.open > 0 || point.plan->graph->is_loop(node)) return;
  if (graph_.kinds[point.plan->graph->kind[node]].work != TaskKind::Work::join) return;
  const bool enters = point.plan->waits_of(node) == 0;
  ended_.push_back({&point, node, std::max(state.ready, enters ? point.begin : 0)});
}

void WaitCheck::settle() {
  for (size_t e = 0; e < ended_.size(); ++e) {
    const auto [point, node, at] = ended_[e];
    const GraphPlan& plan = *point->plan;
    point->nodes[node].end = at;
    point->end = std::max(point->end, at);
    ++point->changes;
    for (uint32_t a = plan.first[node]; a < plan.first[node + 1]; ++a)
      release(*point, plan.after[a], at);
    if (point->in)
      if (Point* next = point->in->at(point->point + 1)) {
        const GraphPlan::LoopPlan& loop = *point->in->plan;
        for (uint32_t c = loop.first_carried[node]; c < loop.first_carried[node + 1]; ++c)
          release(*next, loop.carried[c], at);
      }
    if (--point->left == 0 && point->in) end_of_point(*point);
  }
  ended_.clear();
}

void WaitCheck::end_of_point(Point& point) {
  Run& run = *point.in;
  if (point.point != run.base) return;
  while (!run.window.empty() && run.window.front() && run.window.front()->left == 0) {
    run.last = std::max(run.last, run.window.front()->end);
    if (run.needs_room()) {
      run.ends.push_back(run.last);
      if (run.ends.size() > run.depth()) run.ends.pop_front();
    }
    ++run.base;
    if (!run.plan->loop->carried.empty()) run.before = std::move(run.window.front());
    run.window.pop_front();
  }
  if (run.base < run.points()) return;
  Point& parent = *run.parent;
  const uint32_t node = run.node;
  ended_.push_back({&parent, node, run.last});
  parent.runs.erase(node);
}

WaitCheck::Moment WaitCheck::moment() {
  class Write : public Walk {
   public:
    Moment out;

   protected:
    void form(uint64_t value) override { out.form.push_back(value); }
    void time(uint64_t& at) override {
      out.times.push_back({at, static_cast<uint32_t>(inside_.back())});
    }
    void enter(Run& run) override {
      out.loops.push_back({run.serial, inside_.empty() ? -1 : inside_.back(), run.base, run.next(),
                           run.base + run.window.size()});
      inside_.push_back(static_cast<int32_t>(out.loops.size()) - 1);
    }
    void leave() override { inside_.pop_back(); }

   private:
    std::vector<int32_t> inside_;
  };
  Write write;
  write.point(*root_);
  return std::move(write.out);
}

// How many further times were proved and left out; 0 if the moment now is not `before` again.
uint64_t WaitCheck::skip(const Moment& before, const Repeat& repeat, uint64_t times) {
  const Moment now = moment();
  if (now.form != before.form || repeat.shift == 0) return 0;
  std::vector<uint64_t> step(now.loops.size());
  std::vector<bool> moves(step.size());  // the loop goes on, or one around it does
  std::map<uint32_t, uint64_t> step_of;  // by serial
  bool any = false;
  class Loops : public Walk {
   public:
    std::vector<Run*> runs;

   protected:
    void form(uint64_t) override {}
    void time(uint64_t&) override {}
    void enter(Run& run) override { runs.push_back(&run); }
    void leave() override {}
  };
  Loops loops;
  loops.point(*root_);
  for (size_t l = 0; l < step.size(); ++l) {
    const Moment::Loop &a = before.loops[l], &b = now.loops[l];
    const Run& run = *loops.runs[l];
    if (b.base < a.base) return 0;
    step[l] = b.base - a.base;
    moves[l] = step[l] > 0 || (b.around >= 0 && moves[static_cast<size_t>(b.around)]);
    if (a.serial != b.serial && (step[l] > 0 || !moves[l])) return 0;
    if (step[l] == 0) continue;
    any = true;
    // Points that wait for room are not like points that do not.
    if (run.needs_room() && a.next < run.depth()) return 0;
    times = std::min(times, (run.points() - b.begun) / step[l]);
    step_of[b.serial] = step[l];
  }
  if (!any || times == 0) return 0;
  for (size_t t = 0; t < now.times.size(); ++t) {
    const uint64_t a = before.times[t].at, b = now.times[t].at;
    if (a != b && (!moves[now.times[t].loop] || b - a != repeat.shift)) return 0;
  }
  for (size_t r = repeat.first; r < repeat.last; ++r) {
    uint64_t by = 0;
    for (uint32_t loop = loop_of_[r]; loop != 0; loop = lines_[loop].around)
      if (const auto at = step_of.find(loop); at != step_of.end())
        by += at->second * lines_[loop].size;
    if (by != repeat.steps[r - repeat.first]) return 0;
  }

  class Shift : public Walk {
   public:
    Shift(const Moment& before, const Moment& now, const std::vector<uint64_t>& step,
          uint64_t times, uint64_t by)
        : before_(before), now_(now), step_(step), times_(times), by_(by) {}

   protected:
    void form(uint64_t) override {}
    void time(uint64_t& at) override {
      if (before_.times[time_].at != now_.times[time_].at) at += by_;
      ++time_;
    }
    void enter(Run& run) override {
      const uint64_t by = step_[loop_++] * times_;
      run.base += by;
      for (const auto& point : run.window)
        if (point) point->point += by;
      if (run.before) run.before->point += by;
    }
    void leave() override {}

   private:
    const Moment &before_, &now_;
    const std::vector<uint64_t>& step_;
    const uint64_t times_, by_;
    size_t time_ = 0, loop_ = 0;
  };
  Shift(before, now, step, times, times * repeat.shift).point(*root_);
  last_end_ += times * repeat.shift;
  return times;
}

}  // namespace stria::sim
