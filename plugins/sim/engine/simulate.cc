// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>

#include "engine/progress.h"
#include "engine/task_order.h"

namespace stria::sim {
namespace {

constexpr uint64_t kLastTick = uint64_t{1} << 53;

template <typename T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<T>>;

class Simulation {
 public:
  // `order`: instances take their tasks in this order; null: each takes the first one that is
  // ready.
  Simulation(const Machine& machine, const TaskGraph& graph, const SimulateOptions& options,
             bool in_pieces, TaskOrder* order)
      : machine_(machine),
        graph_(graph),
        options_(options),
        in_pieces_(in_pieces),
        order_(order),
        progress_(graph) {
    std::vector<double> widths;
    for (const Channel& channel : machine.channels()) widths.push_back(channel.bytes_per_tick);
    network_ = make_flow_network(options.buses, std::move(widths), options.burst_bytes);
    const size_t groups = machine.groups().size();
    any_.resize(groups);
    free_.resize(groups);
    idle_.resize(groups);
    for (size_t g = 0; g < groups; ++g) {
      idle_[g] = machine.groups()[g].count;
      free_[g].assign(idle_[g], true);
    }
    own_.resize(machine.instances());
    idle_since_.resize(machine.instances());
    reached_.assign(machine.instances(), false);
    fixed_.assign(groups, 0);
    touched_.assign(groups, false);
    // Nodes outside of loops are looked at one by one.
    out_.tasks.reserve(in_pieces ? std::min<size_t>(graph.size(), options.piece_records)
                                 : graph.size());
    loop_of_.reserve(out_.tasks.capacity());
  }

  // Runs until all has ended, or a piece is full.
  Status run() {
    if (!begun_) {
      begun_ = true;
      progress_.begin();
      settle();
    }
    while (!progress_.done()) {
      const uint64_t unknown = order_ ? order_->unknown_from() : TaskOrder::kNone;
      if (order_) STRIA_RETURN_IF_ERROR(order_->status());
      if (timers_.empty() && due_.empty() && network_->idle() && unknown == TaskOrder::kNone)
        return internal_error("at tick {} nothing is under way, and nothing may start", now_);
      uint64_t limit = timers_.empty() ? kLastTick : timers_.top().at;
      if (!due_.empty()) limit = std::min(limit, due_.top().first);
      limit = std::min(limit, std::max(unknown, now_));
      done_.clear();
      now_ = network_->idle() ? limit : network_->advance(limit, done_);
      if (now_ >= kLastTick) return too_long();
      for (uint32_t task : done_) part_done(task);
      while (!timers_.empty() && timers_.top().at == now_) {
        const uint32_t task = timers_.top().task;
        timers_.pop();
        timer(task);
      }
      for (; !due_.empty() && due_.top().first == now_; due_.pop()) touch(due_.top().second);
      if (unknown <= now_) {
        order_->know(now_);
        for (uint32_t g = 0; g < free_.size(); ++g) touch(g);
      }
      settle();
      if (options_.skip_ahead) look_for_steady_loops();
      if (now_ >= kLastTick) return too_long();
      if (in_pieces_ && out_.tasks.size() >= options_.piece_records) return {};
      if (out_.tasks.size() > kMostRecords)
        return make_error(StatusCode::out_of_range,
                          "more than {} operations and transfers that do not repeat themselves",
                          kMostRecords);
    }
    return {};
  }
  bool done() const { return progress_.done(); }

  // What has ended since the last piece. All later tasks start at `horizon` or after it. Ticks and
  // events are those of all pieces so far.
  Timeline take_piece(uint64_t& horizon) {
    horizon = now_;
    for (const Task& task : tasks_)
      if (task.parts > 0) horizon = std::min(horizon, task.start);
    Timeline piece;
    std::swap(piece, out_);
    out_.ticks = piece.ticks;
    out_.events = piece.events;
    loop_of_.clear();
    progress_.forget_from(0);
    return piece;
  }

 private:
  // A task under way.
  struct Task {
    Progress::Node node;
    uint64_t serial = 0, start = 0;
    uint64_t timer = 0;  // when its timer ends; 0: it has none
    uint64_t idle = 0;   // ticks for which its instance did nothing before
    uint32_t kind = 0, instance = 0;
    uint32_t parts = 0;  // timers and flows that have not ended
    Spent waited = Spent::no_work;
    bool moves = false;
  };
  // At one tick the lowest number comes first: who moves first gets the first turn.
  struct Timer {
    uint64_t at, number;
    uint32_t task;
    bool operator>(const Timer& other) const {
      return std::pair(at, number) > std::pair(other.at, other.number);
    }
  };
  // Among ready tasks, the one with the lowest number goes first.
  struct Ready {
    uint64_t number;
    Progress::Node node;
    bool operator>(const Ready& other) const { return number > other.number; }
  };

  static Status too_long() {
    return make_error(StatusCode::out_of_range,
                      "the simulation takes more than 2^53 ticks of time");
  }
  const TaskKind& kind_of(uint32_t task) const { return graph_.kinds[tasks_[task].kind]; }

  void push_ready(Progress::Node node) {
    const TaskKind& kind = graph_.kinds[Progress::kind(node)];
    const Ready ready{Progress::number(node), node};
    if (order_) {
      in_order_.emplace(ready.number, node);
    } else if (kind.instance < 0) {
      any_[kind.group].push(ready);
    } else {
      own_[machine_.groups()[kind.group].first + static_cast<uint32_t>(kind.instance)].push(ready);
      ++fixed_[kind.group];
    }
    touch(kind.group);
  }
  void take_ready() {
    for (const Progress::Node& node : progress_.ready()) push_ready(node);
    progress_.ready().clear();
  }

  void touch(uint32_t group) {
    if (touched_[group]) return;
    touched_[group] = true;
    touched_list_.push_back(group);
  }

  // All ends at this tick, then all starts. A task that takes no time ends at once.
  void settle() {
    for (;;) {
      for (uint32_t task : ended_) end(task);
      if (!ended_.empty()) look_again();
      ended_.clear();
      take_ready();
      if (touched_list_.empty()) return;
      std::sort(touched_list_.begin(), touched_list_.end());
      starting_.swap(touched_list_);
      for (uint32_t group : starting_) touched_[group] = false;
      for (uint32_t group : starting_) start_group(group);
      starting_.clear();
    }
  }

  void end(uint32_t task) {
    const Task& of = tasks_[task];
    out_.ticks = std::max(out_.ticks, now_);
    ++out_.events;
    const TaskKind& kind = kind_of(task);
    const Group& group = machine_.groups()[kind.group];
    out_.tasks.push_back(
        {Progress::number(of.node), of.start, now_, of.kind, of.instance, of.waited});
    loop_of_.push_back(Progress::loop_of(of.node));
    free_[kind.group][of.instance - group.first] = true;
    idle_since_[of.instance] = now_;
    ++idle_[kind.group];
    touch(kind.group);
    spare_.push_back(task);
    progress_.ended(of.node,
                    kind.work == TaskKind::Work::transfer ? kEndedTransfer : kEndedOperation, now_);
  }

  void start_group(uint32_t g) {
    if (order_) return start_in_order(g);
    const Group& group = machine_.groups()[g];
    for (uint32_t i = 0; i < group.count && idle_[g] > 0; ++i) {
      if (any_[g].empty() && fixed_[g] == 0) return;
      if (!free_[g][i]) continue;
      MinHeap<Ready>& own = own_[group.first + i];
      const bool take_own = !own.empty() && (any_[g].empty() || any_[g].top() > own.top());
      if (!take_own && any_[g].empty()) continue;
      MinHeap<Ready>& from = take_own ? own : any_[g];
      const Progress::Node node = from.top().node;
      from.pop();
      if (take_own) --fixed_[g];
      free_[g][i] = false;
      --idle_[g];
      start(node, group.first + i, i, waited_for(Progress::why(node)));
    }
  }

  void start_in_order(uint32_t g) {
    const Group& group = machine_.groups()[g];
    for (uint32_t i = 0; i < group.count && idle_[g] > 0; ++i) {
      const uint32_t instance = group.first + i;
      if (!free_[g][i]) continue;
      const auto [number, due, waited] = order_->next(instance, now_);
      if (number == TaskOrder::kNone) continue;
      if (!reached_[instance]) {
        reached_[instance] = progress_.reach(number, now_);
        if (!reached_[instance]) {
          not_reached_.push_back(g);
          continue;
        }
        take_ready();
      }
      const auto at = in_order_.find(number);
      if (at == in_order_.end()) continue;
      if (due > now_) {
        due_.push({due, g});
        ++held_;
        continue;
      }
      const Progress::Node node = at->second;
      in_order_.erase(at);
      order_->take(instance);
      reached_[instance] = false;
      free_[g][i] = false;
      --idle_[g];
      start(node, instance, i, waited == Spent::no_work ? Spent::data : waited);
    }
  }

  // An end may have made room for points that instances have not reached.
  void look_again() {
    for (uint32_t group : not_reached_) touch(group);
    not_reached_.clear();
  }

  // `waited`: for what the instance waited before, if it did nothing.
  void start(Progress::Node node, uint32_t instance, uint32_t number, Spent waited) {
    ++out_.events;
    uint32_t task;
    if (spare_.empty()) {
      task = static_cast<uint32_t>(tasks_.size());
      tasks_.emplace_back();
    } else {
      task = spare_.back();
      spare_.pop_back();
    }
    Task& of = tasks_[task];
    of = {};
    of.node = node;
    of.serial = ++serial_;
    of.start = now_;
    of.kind = Progress::kind(node);
    of.instance = instance;
    of.parts = 1;
    of.idle = now_ - idle_since_[instance];
    if (of.idle > 0) of.waited = waited;
    idle_since_[instance] = 0;
    const TaskKind& kind = graph_.kinds[of.kind];
    if (kind.work == TaskKind::Work::transfer) {
      const Route::Way& way = kind.route.ways[number];
      if (way.latency_ticks > 0)
        set_timer(task, way.latency_ticks);
      else
        move(task, way);
    } else {
      add_flows(task);
      const uint64_t ticks = kind.overhead_ticks + kind.compute_ticks;
      if (ticks > 0)
        set_timer(task, ticks);
      else
        part_done(task);
    }
    // If this start lets further points begin, the next instance finds them.
    progress_.started(node, now_);
    take_ready();
  }

  void set_timer(uint32_t task, uint64_t ticks) {
    tasks_[task].timer = now_ + ticks;
    push_timer(task);
  }

  void push_timer(uint32_t task) {
    timers_.push({tasks_[task].timer, Progress::number(tasks_[task].node), task});
  }

  void timer(uint32_t task) {
    tasks_[task].timer = 0;
    const TaskKind& kind = kind_of(task);
    if (kind.work == TaskKind::Work::transfer)
      move(task, kind.route.ways[tasks_[task].instance - machine_.groups()[kind.group].first]);
    else
      part_done(task);
  }

  void move(uint32_t task, const Route::Way& way) {
    const uint64_t bytes = kind_of(task).bytes;
    if (bytes == 0) return part_done(task);
    add_flows(task);
    tasks_[task].moves = true;
    network_->add(task, way.channels.data(), static_cast<uint32_t>(way.channels.size()), bytes,
                  now_);
  }

  void add_flows(uint32_t task) {
    for (const Flowing& flow : kind_of(task).flows) {
      if (flow.bytes == 0) continue;
      ++tasks_[task].parts;
      tasks_[task].moves = true;
      network_->add(task, flow.channels.data(), static_cast<uint32_t>(flow.channels.size()),
                    flow.bytes, now_);
    }
  }

  void part_done(uint32_t task) {
    if (--tasks_[task].parts == 0) ended_.push_back(task);
  }

  // --- skipping ahead

  // Each loop keeps the moment after its first, second, fourth, eighth, … point, and compares later
  // moments with it. So any period is found within three times its length.
  void look_for_steady_loops() {
    for (Progress::Watched* loop : progress_.advanced()) {
      ++loop->points;
      const uint64_t sketch = this->sketch();
      if (!loop->saved.form.empty() && loop->sketch == sketch) {
        const Moment now = moment();
        if (const auto steady = steady_between(loop->saved, now)) {
          skip(loop->saved, now, *steady);
          loop->saved = {};
          loop->save_at = loop->points + 1;
          return;
        }
      }
      if (loop->points < loop->save_at) continue;
      loop->saved = moment();
      loop->sketch = sketch;
      loop->save_at = 2 * loop->points;
    }
  }

  // A hash that is the same for moments that are alike, and cheaper than a moment.
  uint64_t sketch() {
    uint64_t out = progress_.frames() + in_order_.size();
    const auto add = [&](uint64_t value) { out = (out ^ value) * 0x9e37'79b9'7f4a'7c15 + value; };
    for (size_t g = 0; g < free_.size(); ++g) {
      add(any_[g].size());
      add(fixed_[g] << 16 | idle_[g]);
    }
    names_.assign(tasks_.size(), 0);
    flowing_.clear();
    network_->write_state(now_, names_, flowing_);
    for (uint64_t value : flowing_) add(value);
    return out;
  }

  Moment moment() {
    Moment out;
    out.now = now_;
    out.events = out_.events;
    out.records = out_.tasks.size();
    out.idle_since = idle_since_;
    running_.clear();
    for (uint32_t i = 0; i < tasks_.size(); ++i)
      if (tasks_[i].parts > 0) running_.push_back(i);
    // Those of a node are few: as many as run.
    names_.assign(tasks_.size(), 0);
    in_form_.clear();
    progress_.write_state(out, [&](Progress::Node node) {
      const auto at = std::find_if(running_.begin(), running_.end(), [&](uint32_t task) {
        return tasks_[task].node.frame == node.frame && tasks_[task].node.node == node.node;
      });
      const Task& task = tasks_[*at];
      names_[*at] = static_cast<uint32_t>(out.tasks.size());
      in_form_.push_back(*at);
      out.tasks.push_back({task.serial, task.start, task.timer, task.moves});
      out.form.insert(out.form.end(), {task.instance, task.parts, task.moves, task.timer != 0,
                                       task.idle, static_cast<uint64_t>(task.waited)});
    });
    network_->write_state(now_, names_, out.form);
    if (order_) order_->write_state(out);
    out.held = held_;
    return out;
  }

  void skip(const Moment& before, const Moment& now, const Steady& steady) {
    const uint64_t ticks = now.now - before.now;
    if (steady.times > (kLastTick - now_) / ticks) {
      now_ = kLastTick;
      return;
    }
    const uint64_t by = ticks * steady.times;
    progress_.skip(steady.steps, steady.times);
    if (order_) order_->skip(before, now, steady.times);
    Repeat repeat{before.records, out_.tasks.size(), steady.times, ticks, {}};
    for (size_t r = repeat.first; r < repeat.last; ++r)
      repeat.steps.push_back(progress_.step_of(loop_of_[r]));
    progress_.forget_from(repeat.first + 1);
    out_.repeats.push_back(std::move(repeat));
    out_.events += (now.events - before.events) * steady.times;
    out_.ticks += by;
    now_ += by;
    network_->shift(by);
    timers_ = {};
    for (size_t t = 0; t < in_form_.size(); ++t) {
      Task& task = tasks_[in_form_[t]];
      if (!steady.task_lasts[t]) {
        task.start += by;
        if (task.timer != 0) task.timer += by;
      }
      if (task.timer != 0) push_timer(in_form_[t]);
    }
    for (size_t i = 0; i < idle_since_.size(); ++i)
      if (!steady.instance_lasts[i]) idle_since_[i] += by;
    // The numbers of tasks have grown.
    for (auto& heap : any_) heap = {};
    for (auto& heap : own_) heap = {};
    std::fill(fixed_.begin(), fixed_.end(), 0);
    in_order_.clear();
    progress_.visit_ready([&](Progress::Node node) { push_ready(node); });
    for (uint32_t group : touched_list_) touched_[group] = false;
    touched_list_.clear();
    due_ = {};
    if (order_)
      for (uint32_t g = 0; g < free_.size(); ++g) start_in_order(g);
  }

  const Machine& machine_;
  const TaskGraph& graph_;
  const SimulateOptions options_;
  const bool in_pieces_;
  bool begun_ = false;
  TaskOrder* order_;
  Progress progress_;
  Timeline out_;
  std::vector<uint32_t> loop_of_;  // of each record
  std::unique_ptr<FlowNetwork> network_;
  uint64_t now_ = 0;
  uint64_t serial_ = 0;
  std::vector<Task> tasks_;  // those in spare_ have ended
  std::vector<uint32_t> spare_;
  MinHeap<Timer> timers_;
  std::vector<uint32_t> done_, ended_;
  std::vector<MinHeap<Ready>> any_;  // by group: ready for any instance
  std::vector<MinHeap<Ready>> own_;  // by instance: ready for it alone
  // With a given order: the ready tasks by number; the instances whose next task's point has begun;
  // the groups of instances whose next task's point has not.
  std::unordered_map<uint64_t, Progress::Node> in_order_;
  std::vector<bool> reached_;
  std::vector<uint32_t> not_reached_;
  MinHeap<std::pair<uint64_t, uint32_t>> due_;  // ready before their time, and their groups
  uint64_t held_ = 0;                           // how often there was one
  std::vector<uint32_t> fixed_, idle_;          // by group: tasks in own_, free instances
  std::vector<std::vector<bool>> free_;         // by group and instance
  std::vector<uint64_t> idle_since_;            // by instance; 0 while it works
  std::vector<bool> touched_;                   // by group: something may start
  std::vector<uint32_t> touched_list_, starting_;
  // The last moment: the tasks under way in its order, and the place of each task in it.
  std::vector<uint32_t> in_form_, names_, running_;
  std::vector<uint64_t> flowing_;
};

Result<Timeline> run_all(Simulation&& simulation, const TakePiece& take) {
  for (;;) {
    STRIA_RETURN_IF_ERROR(simulation.run());
    const bool done = simulation.done();
    uint64_t horizon = 0;
    Timeline piece = simulation.take_piece(horizon);
    if (!take) return piece;
    Timeline ends;
    ends.ticks = piece.ticks;
    ends.events = piece.events;
    STRIA_RETURN_IF_ERROR(take(std::move(piece), horizon));
    if (done) return ends;
  }
}

}  // namespace

Result<Timeline> simulate(const Machine& machine, const TaskGraph& graph,
                          const SimulateOptions& options, const TakePiece& take) {
  STRIA_RETURN_IF_ERROR(numbers_of(graph).status());
  if (options.buses == BusModel::fluid)
    return run_all(Simulation(machine, graph, options, take != nullptr, nullptr), take);
  SimulateOptions fluid = options;
  fluid.buses = BusModel::fluid;
  Simulation scheduled(machine, graph, fluid, true, nullptr);
  TaskOrder order(
      [&scheduled]() -> Result<TaskOrder::Piece> {
        STRIA_RETURN_IF_ERROR(scheduled.run());
        TaskOrder::Piece piece;
        piece.last = scheduled.done();
        piece.timeline = scheduled.take_piece(piece.horizon);
        return piece;
      },
      machine.instances());
  return run_all(Simulation(machine, graph, options, take != nullptr, &order), take);
}

}  // namespace stria::sim
