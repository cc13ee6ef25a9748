// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace stria::sim {
namespace {

constexpr uint64_t kLastTick = uint64_t{1} << 53;

template <typename T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<T>>;

class Simulation {
 public:
  Simulation(const Machine& machine, const TaskGraph& graph, const SimulateOptions& options)
      : machine_(machine), graph_(graph) {
    std::vector<double> widths;
    for (const Lane& lane : machine.lanes()) widths.push_back(lane.bytes_per_tick);
    network_ = make_flow_network(options.buses, std::move(widths), options.burst_bytes);
    const size_t count = graph.size();
    out_.start.resize(count);
    out_.end.resize(count);
    out_.instance.resize(count);
    open_.resize(count);
    parts_.resize(count);
    // Who waits for each task, as one list.
    first_.assign(count + 1, 0);
    for (uint32_t before : graph.waits) ++first_[before + 1];
    for (size_t t = 0; t < count; ++t) first_[t + 1] += first_[t];
    after_.resize(graph.waits.size());
    std::vector<uint32_t> at(first_.begin(), first_.end() - 1);
    for (size_t t = 0; t < count; ++t) {
      open_[t] = graph.first_wait[t + 1] - graph.first_wait[t];
      for (uint32_t w = graph.first_wait[t]; w < graph.first_wait[t + 1]; ++w)
        after_[at[graph.waits[w]]++] = static_cast<uint32_t>(t);
    }
    any_.resize(machine.groups().size());
    free_.resize(machine.groups().size());
    for (size_t g = 0; g < machine.groups().size(); ++g)
      for (uint32_t i = 0; i < machine.groups()[g].count; ++i) free_[g].push_back(true);
    idle_.resize(machine.groups().size());
    for (size_t g = 0; g < idle_.size(); ++g) idle_[g] = machine.groups()[g].count;
    own_.resize(machine.instances());
    fixed_.assign(machine.groups().size(), 0);
    touched_.assign(machine.groups().size(), false);
  }

  Result<Timeline> run() {
    for (size_t t = 0; t < graph_.size(); ++t)
      if (open_[t] == 0) make_ready(static_cast<uint32_t>(t));
    settle();
    while (left_ > 0) {
      const uint64_t limit = timers_.empty() ? kLastTick : timers_.top().first;
      done_.clear();
      now_ = network_->idle() ? limit : network_->advance(limit, done_);
      if (now_ >= kLastTick)
        return make_error(StatusCode::out_of_range,
                          "the simulation takes more than 2^53 ticks of time");
      for (uint32_t task : done_) part_done(task);
      while (!timers_.empty() && timers_.top().first == now_) {
        const uint32_t task = timers_.top().second;
        timers_.pop();
        timer(task);
      }
      settle();
    }
    return std::move(out_);
  }

 private:
  const TaskKind& kind_of(uint32_t task) const { return graph_.kinds[graph_.kind[task]]; }

  void make_ready(uint32_t task) {
    const TaskKind& kind = kind_of(task);
    if (kind.work == TaskKind::Work::join) {
      ended_.push_back(task);
      ++left_;
      out_.start[task] = now_;
      return;
    }
    ++left_;
    if (kind.instance < 0) {
      any_[kind.group].push(task);
    } else {
      own_[machine_.groups()[kind.group].first + static_cast<uint32_t>(kind.instance)].push(task);
      ++fixed_[kind.group];
    }
    touch(kind.group);
  }

  void touch(uint32_t group) {
    if (touched_[group]) return;
    touched_[group] = true;
    touched_list_.push_back(group);
  }

  // All ends at this tick, then all starts; what takes no time ends at once.
  void settle() {
    for (;;) {
      for (size_t e = 0; e < ended_.size(); ++e) end(ended_[e]);
      ended_.clear();
      if (touched_list_.empty()) return;
      std::sort(touched_list_.begin(), touched_list_.end());
      starting_.swap(touched_list_);
      for (uint32_t group : starting_) touched_[group] = false;
      for (uint32_t group : starting_) start_group(group);
      starting_.clear();
    }
  }

  void end(uint32_t task) {
    out_.end[task] = now_;
    out_.ticks = std::max(out_.ticks, now_);
    --left_;
    const TaskKind& kind = kind_of(task);
    if (kind.work != TaskKind::Work::join) {
      ++out_.events;
      const Group& group = machine_.groups()[kind.group];
      free_[kind.group][out_.instance[task] - group.first] = true;
      ++idle_[kind.group];
      touch(kind.group);
    }
    for (uint32_t a = first_[task]; a < first_[task + 1]; ++a)
      if (--open_[after_[a]] == 0) make_ready(after_[a]);
  }

  void start_group(uint32_t g) {
    const Group& group = machine_.groups()[g];
    for (uint32_t i = 0; i < group.count && idle_[g] > 0; ++i) {
      if (any_[g].empty() && fixed_[g] == 0) return;
      if (!free_[g][i]) continue;
      MinHeap<uint32_t>& own = own_[group.first + i];
      const bool take_own = !own.empty() && (any_[g].empty() || own.top() < any_[g].top());
      if (!take_own && any_[g].empty()) continue;
      MinHeap<uint32_t>& from = take_own ? own : any_[g];
      const uint32_t task = from.top();
      from.pop();
      if (take_own) --fixed_[g];
      free_[g][i] = false;
      --idle_[g];
      out_.instance[task] = group.first + i;
      start(task, i);
    }
  }

  void start(uint32_t task, uint32_t instance) {
    ++out_.events;
    out_.start[task] = now_;
    const TaskKind& kind = kind_of(task);
    if (kind.work == TaskKind::Work::transfer) {
      const Route::Way& way = kind.route.ways[instance];
      parts_[task] = 1;
      if (way.latency_ticks > 0)
        timers_.push({now_ + way.latency_ticks, task});
      else
        move(task, way);
      return;
    }
    parts_[task] = 1;
    for (const Flowing& flow : kind.flows) {
      if (flow.bytes == 0) continue;
      ++parts_[task];
      network_->add(task, flow.lanes.data(), static_cast<uint32_t>(flow.lanes.size()), flow.bytes,
                    now_);
    }
    const uint64_t ticks = kind.overhead_ticks + kind.compute_ticks;
    if (ticks > 0)
      timers_.push({now_ + ticks, task});
    else
      part_done(task);
  }

  void timer(uint32_t task) {
    const TaskKind& kind = kind_of(task);
    if (kind.work == TaskKind::Work::transfer)
      move(task, kind.route.ways[out_.instance[task] - machine_.groups()[kind.group].first]);
    else
      part_done(task);
  }

  void move(uint32_t task, const Route::Way& way) {
    const uint64_t bytes = kind_of(task).bytes;
    if (bytes == 0) return part_done(task);
    network_->add(task, way.lanes.data(), static_cast<uint32_t>(way.lanes.size()), bytes, now_);
  }

  void part_done(uint32_t task) {
    if (--parts_[task] == 0) ended_.push_back(task);
  }

  const Machine& machine_;
  const TaskGraph& graph_;
  Timeline out_;
  std::unique_ptr<FlowNetwork> network_;
  uint64_t now_ = 0;
  size_t left_ = 0;              // tasks that are ready or under way
  std::vector<uint32_t> open_;   // of each task: what it still waits for
  std::vector<uint32_t> parts_;  // of each task under way: timers and flows that have not ended
  std::vector<uint32_t> first_, after_;
  MinHeap<std::pair<uint64_t, uint32_t>> timers_;
  std::vector<uint32_t> done_, ended_;
  std::vector<MinHeap<uint32_t>> any_;   // by group: ready for any instance
  std::vector<MinHeap<uint32_t>> own_;   // by instance: ready for it alone
  std::vector<uint32_t> fixed_, idle_;   // by group: tasks in own_, free instances
  std::vector<std::vector<bool>> free_;  // by group and instance
  std::vector<bool> touched_;            // by group: something may start
  std::vector<uint32_t> touched_list_, starting_;
};

}  // namespace

Result<Timeline> simulate(const Machine& machine, const TaskGraph& graph,
                          const SimulateOptions& options) {
  return Simulation(machine, graph, options).run();
}

}  // namespace stria::sim
