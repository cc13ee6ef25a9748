// SPDX-License-Identifier: Apache-2.0
#include "engine/flow_network.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace stria::sim {
namespace {

// What rounding of doubles may add to a time, in ticks: far below a tick, far above the error.
constexpr double kSlack = 1e-5;

// The tick so many whole ticks after `origin`. For "never" it is a tick that nothing reaches.
uint64_t tick_after(uint64_t origin, double time) {
  constexpr double kNever = 1e18;
  if (!(time < kNever)) return UINT64_MAX;
  return origin + static_cast<uint64_t>(std::max(0.0, std::ceil(time - kSlack)));
}

uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }

// Times are counted from a tick that moves with the clock, so that they are as exact late as early.
class FluidNetwork final : public FlowNetwork {
 public:
  explicit FluidNetwork(std::vector<double> widths)
      : widths_(std::move(widths)),
        users_(widths_.size()),
        free_(widths_.size()),
        open_(widths_.size()) {}

  void add(uint32_t owner, const uint32_t* channels, uint32_t count, uint64_t bytes,
           uint64_t now) override {
    Flow flow{owner, channels, count, static_cast<double>(bytes), 0, now, 0};
    bool alone = true;
    flow.rate = std::numeric_limits<double>::infinity();
    for (uint32_t l = 0; l < count; ++l) {
      alone = users_[channels[l]]++ == 0 && alone;
      flow.rate = std::min(flow.rate, widths_[channels[l]]);
    }
    flow.end = tick_after(now, flow.left / flow.rate);
    flows_.push_back(flow);
    stale_ = stale_ || !alone;
    now_ = now;
  }

  uint64_t advance(uint64_t limit, std::vector<uint32_t>& done) override {
    if (stale_) share();
    uint64_t first = UINT64_MAX;
    for (const Flow& flow : flows_) first = std::min(first, flow.end);
    if (flows_.empty() || first > limit) return now_ = limit;
    now_ = std::max(now_, first);
    size_t kept = 0;
    for (Flow& flow : flows_) {
      if (flow.end <= now_) {
        done.push_back(flow.owner);
        for (uint32_t l = 0; l < flow.count; ++l) stale_ = --users_[flow.channels[l]] > 0 || stale_;
      } else {
        flows_[kept++] = flow;
      }
    }
    flows_.resize(kept);
    return now_;
  }
  bool idle() const override { return flows_.empty(); }

  void write_state(uint64_t now, const std::vector<uint32_t>& names,
                   std::vector<uint64_t>& out) override {
    out.push_back(flows_.size());
    out.push_back(stale_);
    for (const Flow& flow : flows_) {
      out.insert(out.end(), {names[flow.owner], flow.count, bits(flow.left), bits(flow.rate),
                             now - flow.since, flow.end - now});
      out.insert(out.end(), flow.channels, flow.channels + flow.count);
    }
  }
  void shift(uint64_t ticks) override {
    now_ += ticks;
    for (Flow& flow : flows_) {
      flow.since += ticks;
      if (flow.end != UINT64_MAX) flow.end += ticks;
    }
  }

 private:
  struct Flow {
    uint32_t owner;
    const uint32_t* channels;
    uint32_t count;
    double left;     // bytes, at `since`
    double rate;     // bytes per tick
    uint64_t since;  // when it got its rate
    uint64_t end;
  };

  // Raises all rates alike. A channel that is full fixes those of its flows.
  void share() {
    stale_ = false;
    channels_.clear();
    for (Flow& flow : flows_) {
      flow.left = std::max(0.0, flow.left - flow.rate * static_cast<double>(now_ - flow.since));
      flow.since = now_;
      flow.rate = -1;
      for (uint32_t l = 0; l < flow.count; ++l) {
        const uint32_t channel = flow.channels[l];
        if (open_[channel]++ > 0) continue;
        free_[channel] = widths_[channel];
        channels_.push_back(channel);
      }
    }
    for (size_t left = flows_.size(); left > 0;) {
      uint32_t tightest = channels_[0];
      double least = std::numeric_limits<double>::infinity();
      for (uint32_t channel : channels_) {
        if (open_[channel] == 0) continue;
        const double part = free_[channel] / open_[channel];
        if (part < least) {
          least = part;
          tightest = channel;
        }
      }
      for (Flow& flow : flows_) {
        if (flow.rate >= 0 || std::find(flow.channels, flow.channels + flow.count, tightest) ==
                                  flow.channels + flow.count)
          continue;
        flow.rate = least;
        flow.end = tick_after(now_, flow.left / least);
        for (uint32_t l = 0; l < flow.count; ++l) {
          free_[flow.channels[l]] = std::max(0.0, free_[flow.channels[l]] - least);
          --open_[flow.channels[l]];
        }
        --left;
      }
    }
  }

  const std::vector<double> widths_;
  std::vector<uint32_t> users_;  // flows on each channel
  std::vector<double> free_;     // while sharing: width of each channel that is not given yet
  std::vector<uint32_t> open_;   // while sharing: flows without a rate
  std::vector<uint32_t> channels_;
  std::vector<Flow> flows_;  // in the order in which they were added
  uint64_t now_ = 0;
  bool stale_ = false;
};

// Times are doubles, in ticks from `origin_`: the tick that the network was last asked about.
class BurstNetwork final : public FlowNetwork {
 public:
  BurstNetwork(std::vector<double> widths, uint64_t burst_bytes)
      : widths_(std::move(widths)),
        free_at_(widths_.size()),
        burst_(static_cast<double>(burst_bytes)) {}

  void add(uint32_t owner, const uint32_t* channels, uint32_t count, uint64_t bytes,
           uint64_t now) override {
    count_from(now);
    flows_.push_back({owner, channels, count, static_cast<double>(bytes), 0, turn_++});
  }

  uint64_t advance(uint64_t limit, std::vector<uint32_t>& done) override {
    const auto most = static_cast<double>(limit - origin_);
    for (;;) {
      double next = std::numeric_limits<double>::infinity();  // when something can happen
      double end = std::numeric_limits<double>::infinity();
      for (const Flow& flow : flows_) {
        double& first = flow.left <= 0 ? end : next;
        first = std::min(first, flow.time);
      }
      const uint64_t end_tick = tick_after(origin_, end);
      if (end_tick <= limit && end_tick <= tick_after(origin_, next)) return finish(end_tick, done);
      if (next > most) {
        count_from(limit);
        return limit;
      }
      take_turns(next);
    }
  }
  bool idle() const override { return flows_.empty(); }

  void write_state(uint64_t now, const std::vector<uint32_t>& names,
                   std::vector<uint64_t>& out) override {
    count_from(now);
    std::vector<uint64_t> turns;
    for (const Flow& flow : flows_) turns.push_back(flow.served);
    std::sort(turns.begin(), turns.end());
    out.push_back(flows_.size());
    for (double free_at : free_at_) out.push_back(bits(free_at));
    for (const Flow& flow : flows_) {
      const auto turn = std::lower_bound(turns.begin(), turns.end(), flow.served) - turns.begin();
      out.insert(out.end(), {names[flow.owner], flow.count, bits(flow.left), bits(flow.time),
                             static_cast<uint64_t>(turn)});
      out.insert(out.end(), flow.channels, flow.channels + flow.count);
    }
  }
  void shift(uint64_t ticks) override { origin_ += ticks; }

 private:
  struct Flow {
    uint32_t owner;
    const uint32_t* channels;
    uint32_t count;
    double left;      // bytes for which no burst has been asked yet
    double time;      // when its last burst has passed all channels
    uint64_t served;  // turn of its last burst
  };

  // This is exact: differences of doubles and smaller whole numbers are doubles. What was free a
  // tick ago has been free for long enough: no burst starts as late as a tick after it could.
  void count_from(uint64_t now) {
    if (now == origin_) return;
    const auto passed = static_cast<double>(now - origin_);
    const auto move = [&](double& time) { time = std::max(-1.0, time - passed); };
    for (double& free_at : free_at_) move(free_at);
    for (Flow& flow : flows_) move(flow.time);
    origin_ = now;
  }

  // The next burst of each flow whose last one has passed. Among several, the one that has waited
  // longest comes first.
  void take_turns(double now) {
    waiting_.clear();
    for (Flow& flow : flows_)
      if (flow.left > 0 && flow.time <= now + kSlack) waiting_.push_back(&flow);
    std::sort(waiting_.begin(), waiting_.end(),
              [](const Flow* a, const Flow* b) { return a->served < b->served; });
    for (Flow* flow : waiting_) {
      const double bytes = std::min(burst_, flow->left), asked = flow->time;
      for (uint32_t l = 0; l < flow->count; ++l) {
        double& free_at = free_at_[flow->channels[l]];
        free_at = std::max(asked, free_at) + bytes / widths_[flow->channels[l]];
        flow->time = std::max(flow->time, free_at);
      }
      flow->left -= bytes;
      flow->served = turn_++;
    }
  }

  uint64_t finish(uint64_t tick, std::vector<uint32_t>& done) {
    size_t kept = 0;
    for (Flow& flow : flows_) {
      if (flow.left <= 0 && tick_after(origin_, flow.time) <= tick)
        done.push_back(flow.owner);
      else
        flows_[kept++] = flow;
    }
    flows_.resize(kept);
    count_from(tick);
    return tick;
  }

  const std::vector<double> widths_;
  std::vector<double> free_at_;
  const double burst_;
  std::vector<Flow> flows_;
  std::vector<Flow*> waiting_;
  uint64_t origin_ = 0;
  uint64_t turn_ = 0;
};

}  // namespace

std::unique_ptr<FlowNetwork> make_flow_network(BusModel model, std::vector<double> widths,
                                               uint64_t burst_bytes) {
  if (model == BusModel::fluid) return std::make_unique<FluidNetwork>(std::move(widths));
  return std::make_unique<BurstNetwork>(std::move(widths), burst_bytes);
}

}  // namespace stria::sim
