// SPDX-License-Identifier: Apache-2.0
#include "engine/cycle_oracle.h"

#include <algorithm>
#include <limits>

namespace stria::sim {
namespace {

constexpr double kNothing = 1e-6;  // so few bytes count as none
constexpr uint64_t kMostTasks = 1'000'000;

struct Moving {
  const std::vector<uint32_t>* channels;
  double left;
};

struct Running {
  size_t task;
  uint64_t until;   // of its timer
  bool then_moves;  // a transfer in its latency
  std::vector<Moving> flows;
};

class ByCycles {
 public:
  ByCycles(const Machine& machine, const Unrolled& unrolled)
      : machine_(machine), graph_(unrolled.graph), number_(unrolled.number) {}

  Result<Timeline> run(uint64_t most_ticks) {
    const size_t count = graph_.size();
    start_.assign(count, 0);
    end_.assign(count, 0);
    instance_.assign(count, 0);
    ended_.assign(count, 0);
    state_.assign(count, State::waits);
    busy_.assign(machine_.instances(), false);
    idle_since_.assign(machine_.instances(), 0);
    waited_.assign(count, Spent::no_work);
    for (uint64_t now = 0; !all_done(); ++now) {
      if (now > most_ticks)
        return make_error(StatusCode::out_of_range, "not done after {} ticks", most_ticks);
      while (end_and_start(now)) {
      }
      carry();
    }
    return std::move(out_);
  }

 private:
  enum class State : uint8_t { waits, runs, done };

  bool all_done() const {
    return std::all_of(state_.begin(), state_.end(), [](State s) { return s == State::done; });
  }
  const TaskKind& kind(size_t task) const { return graph_.kinds[graph_.kind[task]]; }
  bool ready(size_t task) const {
    if (state_[task] != State::waits) return false;
    for (uint32_t w = graph_.first_wait[task]; w < graph_.first_wait[task + 1]; ++w)
      if (state_[graph_.waits[w]] != State::done) return false;
    return true;
  }

  void finish(size_t task, uint64_t now) {
    state_[task] = State::done;
    end_[task] = now;
    out_.ticks = std::max(out_.ticks, now);
    if (kind(task).work == TaskKind::Work::join) {
      ended_[task] = ended_for(task);
      return;
    }
    ended_[task] = kind(task).work == TaskKind::Work::transfer ? kEndedTransfer : kEndedOperation;
    busy_[instance_[task]] = false;
    idle_since_[instance_[task]] = now;
    out_.tasks.push_back(
        {number_[task], start_[task], now, graph_.kind[task], instance_[task], waited_[task]});
  }

  // What ended last among the things that the task waits for.
  uint8_t ended_for(size_t task) const {
    uint64_t last = 0;
    uint8_t out = 0;
    for (uint32_t w = graph_.first_wait[task]; w < graph_.first_wait[task + 1]; ++w) {
      const uint32_t before = graph_.waits[w];
      if (end_[before] > last) out = 0;
      last = std::max(last, end_[before]);
      if (end_[before] == last)
        out |= ended_[before] | (graph_.slot[task] == before ? kEndedSlot : 0);
    }
    return out;
  }

  // True if something happened that may let more happen at the same tick.
  bool end_and_start(uint64_t now) {
    bool happened = false;
    for (size_t r = 0; r < running_.size();) {
      Running& running = running_[r];
      if (running.until > now) {
        ++r;
        continue;
      }
      if (running.then_moves) {
        running.then_moves = false;
        const TaskKind& of = kind(running.task);
        running.flows.push_back({&way(running.task).channels, static_cast<double>(of.bytes)});
        for (const Flowing& flow : of.flows)
          if (of.bytes > 0)
            running.flows.push_back({&flow.channels, static_cast<double>(flow.bytes)});
      }
      if (std::any_of(running.flows.begin(), running.flows.end(),
                      [](const Moving& flow) { return flow.left > kNothing; })) {
        ++r;
        continue;
      }
      finish(running.task, now);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(r));
      happened = true;
    }
    for (size_t task = 0; task < graph_.size(); ++task)
      if (kind(task).work == TaskKind::Work::join && ready(task)) {
        finish(task, now);
        happened = true;
      }
    if (happened) return true;
    // Goes instance by instance, so that the lowest free one takes the lowest task.
    for (size_t g = 0; g < machine_.groups().size(); ++g) {
      const Group& group = machine_.groups()[g];
      for (uint32_t i = 0; i < group.count; ++i) {
        if (busy_[group.first + i]) continue;
        for (size_t task = 0; task < graph_.size(); ++task) {
          const TaskKind& of = kind(task);
          if (of.work == TaskKind::Work::join || of.group != g || !ready(task)) continue;
          if (of.instance >= 0 && of.instance != static_cast<int32_t>(i)) continue;
          start(task, group.first + i, i, now);
          happened = true;
          break;
        }
      }
    }
    return happened;
  }

  const Route::Way& way(size_t task) const {
    const Group& group = machine_.groups()[kind(task).group];
    return kind(task).route.ways[instance_[task] - group.first];
  }

  void start(size_t task, uint32_t instance, uint32_t number, uint64_t now) {
    const TaskKind& of = kind(task);
    state_[task] = State::runs;
    busy_[instance] = true;
    start_[task] = now;
    instance_[task] = instance;
    if (idle_since_[instance] < now) waited_[task] = waited_for(ended_for(task));
    out_.events += 2;
    Running running{task, now, false, {}};
    if (of.work == TaskKind::Work::transfer) {
      running.until = now + of.route.ways[number].latency_ticks;
      running.then_moves = true;
    } else {
      running.until = now + of.overhead_ticks + of.compute_ticks;
      for (const Flowing& flow : of.flows)
        running.flows.push_back({&flow.channels, static_cast<double>(flow.bytes)});
    }
    running_.push_back(std::move(running));
  }

  // Moves the bytes of one tick.
  void carry() {
    std::vector<double> room;
    for (const Channel& channel : machine_.channels()) room.push_back(channel.bytes_per_tick);
    std::vector<Moving*> open;
    for (Running& running : running_)
      for (Moving& flow : running.flows)
        if (flow.left > kNothing) open.push_back(&flow);
    while (!open.empty()) {
      std::vector<double> users(room.size(), 0);
      for (const Moving* flow : open)
        for (uint32_t channel : *flow->channels) ++users[channel];
      // What each of them can have alike, until one ends or a channel is full.
      double step = std::numeric_limits<double>::infinity();
      for (size_t channel = 0; channel < room.size(); ++channel)
        if (users[channel] > 0) step = std::min(step, room[channel] / users[channel]);
      for (const Moving* flow : open) step = std::min(step, flow->left);
      for (Moving* flow : open) {
        flow->left -= step;
        for (uint32_t channel : *flow->channels) room[channel] -= step;
      }
      std::erase_if(open, [&](const Moving* flow) {
        return flow->left <= kNothing ||
               std::any_of(flow->channels->begin(), flow->channels->end(),
                           [&](uint32_t channel) { return room[channel] <= kNothing; });
      });
    }
  }

  const Machine& machine_;
  const TaskGraph& graph_;
  const std::vector<uint64_t>& number_;
  Timeline out_;
  std::vector<State> state_;
  std::vector<uint64_t> start_, end_;  // of each node
  std::vector<uint32_t> instance_;     // likewise
  std::vector<uint8_t> ended_;         // the kind of end (Ended) of each node
  std::vector<Spent> waited_;
  std::vector<bool> busy_;
  std::vector<uint64_t> idle_since_;  // of each instance
  std::vector<Running> running_;
};

}  // namespace

Result<Timeline> simulate_by_cycles(const Machine& machine, const TaskGraph& graph,
                                    uint64_t most_ticks) {
  STRIA_ASSIGN(const Unrolled unrolled, unroll(graph, kMostTasks));
  return ByCycles(machine, unrolled).run(most_ticks);
}

}  // namespace stria::sim
