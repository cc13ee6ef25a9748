// SPDX-License-Identifier: Apache-2.0
#include "engine/flow_network.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::sim {
namespace {

// What rounding of doubles may add to a time, in ticks; far below a tick, far above their error.
constexpr double kSlack = 1e-5;

// Of "never" a tick that none reaches.
uint64_t tick_of(double time) {
  constexpr double kNever = 1e18;
  return time < kNever ? static_cast<uint64_t>(std::ceil(time - kSlack)) : UINT64_MAX;
}

struct Flow {
  uint32_t owner = 0;
  const uint32_t* lanes = nullptr;
  uint32_t count = 0;
  double left = 0;      // bytes
  double rate = 0;      // fluid: bytes per tick; burst: of the narrowest lane
  double time = 0;      // fluid: of `left`; burst: when its next burst may start
  double end = 0;       // fluid
  uint64_t served = 0;  // burst: turn of its last burst
};

class FluidNetwork final : public FlowNetwork {
 public:
  explicit FluidNetwork(std::vector<double> widths)
      : widths_(std::move(widths)),
        users_(widths_.size()),
        free_(widths_.size()),
        open_(widths_.size()) {}

  void add(uint32_t owner, const uint32_t* lanes, uint32_t count, uint64_t bytes,
           uint64_t now) override {
    Flow flow{owner, lanes, count, static_cast<double>(bytes), 0, static_cast<double>(now), 0, 0};
    bool alone = true;
    flow.rate = std::numeric_limits<double>::infinity();
    for (uint32_t l = 0; l < count; ++l) {
      alone = users_[lanes[l]]++ == 0 && alone;
      flow.rate = std::min(flow.rate, widths_[lanes[l]]);
    }
    flow.end = flow.time + flow.left / flow.rate;
    flows_.push_back(flow);
    stale_ = stale_ || !alone;
    now_ = now;
  }

  uint64_t advance(uint64_t limit, std::vector<uint32_t>& done) override {
    if (stale_) share();
    double first = std::numeric_limits<double>::infinity();
    for (const Flow& flow : flows_) first = std::min(first, flow.end);
    if (flows_.empty() || tick_of(first) > limit) return now_ = limit;
    now_ = std::max(now_, tick_of(first));
    const auto now = static_cast<double>(now_);
    size_t kept = 0;
    for (Flow& flow : flows_) {
      if (flow.end <= now + kSlack) {
        done.push_back(flow.owner);
        for (uint32_t l = 0; l < flow.count; ++l) stale_ = --users_[flow.lanes[l]] > 0 || stale_;
      } else {
        flows_[kept++] = flow;
      }
    }
    flows_.resize(kept);
    return now_;
  }
  bool idle() const override { return flows_.empty(); }

 private:
  // Fills all rates up alike; a lane that is full fixes those of its flows.
  void share() {
    stale_ = false;
    const auto now = static_cast<double>(now_);
    lanes_.clear();
    for (Flow& flow : flows_) {
      flow.left = std::max(0.0, flow.left - flow.rate * (now - flow.time));
      flow.time = now;
      flow.rate = -1;
      for (uint32_t l = 0; l < flow.count; ++l) {
        const uint32_t lane = flow.lanes[l];
        if (open_[lane]++ > 0) continue;
        free_[lane] = widths_[lane];
        lanes_.push_back(lane);
      }
    }
    for (size_t left = flows_.size(); left > 0;) {
      uint32_t tightest = lanes_[0];
      double least = std::numeric_limits<double>::infinity();
      for (uint32_t lane : lanes_) {
        if (open_[lane] == 0) continue;
        const double part = free_[lane] / open_[lane];
        if (part < least) {
          least = part;
          tightest = lane;
        }
      }
      for (Flow& flow : flows_) {
        if (flow.rate >= 0 ||
            std::find(flow.lanes, flow.lanes + flow.count, tightest) == flow.lanes + flow.count)
          continue;
        flow.rate = least;
        flow.end = now + flow.left / least;
        for (uint32_t l = 0; l < flow.count; ++l) {
          free_[flow.lanes[l]] = std::max(0.0, free_[flow.lanes[l]] - least);
          --open_[flow.lanes[l]];
        }
        --left;
      }
    }
  }

  const std::vector<double> widths_;
  std::vector<uint32_t> users_;  // flows on each lane
  std::vector<double> free_;     // while sharing: not given yet
  std::vector<uint32_t> open_;   // while sharing: flows without a rate
  std::vector<uint32_t> lanes_;
  std::vector<Flow> flows_;  // in the order in which they were added
  uint64_t now_ = 0;
  bool stale_ = false;
};

class BurstNetwork final : public FlowNetwork {
 public:
  BurstNetwork(std::vector<double> widths, uint64_t burst_bytes)
      : widths_(std::move(widths)),
        free_at_(widths_.size()),
        burst_(static_cast<double>(burst_bytes)) {}

  void add(uint32_t owner, const uint32_t* lanes, uint32_t count, uint64_t bytes,
           uint64_t now) override {
    Flow flow{owner, lanes, count, static_cast<double>(bytes), 0, static_cast<double>(now), 0, 0};
    flow.rate = std::numeric_limits<double>::infinity();
    for (uint32_t l = 0; l < count; ++l) flow.rate = std::min(flow.rate, widths_[lanes[l]]);
    flow.served = turn_++;
    flows_.push_back(flow);
    time_ = std::max(time_, flow.time);
  }

  uint64_t advance(uint64_t limit, std::vector<uint32_t>& done) override {
    const auto most = static_cast<double>(limit);
    for (;;) {
      double next = std::numeric_limits<double>::infinity();  // something can happen
      double end = std::numeric_limits<double>::infinity();
      for (const Flow& flow : flows_) {
        if (flow.left <= 0) {
          end = std::min(end, flow.time);
          continue;
        }
        double start = flow.time;
        for (uint32_t l = 0; l < flow.count; ++l) start = std::max(start, free_at_[flow.lanes[l]]);
        next = std::min(next, start);
      }
      if (tick_of(end) <= limit && tick_of(end) <= tick_of(next)) return finish(tick_of(end), done);
      if (next > most) return limit;
      time_ = std::max(time_, next);
      grant();
    }
  }
  bool idle() const override { return flows_.empty(); }

 private:
  // A burst to each flow that can have one now, those first that have waited longest.
  void grant() {
    waiting_.clear();
    for (Flow& flow : flows_)
      if (flow.left > 0 && flow.time <= time_ + kSlack) waiting_.push_back(&flow);
    std::sort(waiting_.begin(), waiting_.end(),
              [](const Flow* a, const Flow* b) { return a->served < b->served; });
    for (Flow* flow : waiting_) {
      bool free = true;
      for (uint32_t l = 0; l < flow->count; ++l)
        free = free && free_at_[flow->lanes[l]] <= time_ + kSlack;
      if (!free) continue;
      double start = flow->time;
      for (uint32_t l = 0; l < flow->count; ++l) start = std::max(start, free_at_[flow->lanes[l]]);
      const double bytes = std::min(burst_, flow->left);
      for (uint32_t l = 0; l < flow->count; ++l)
        free_at_[flow->lanes[l]] = start + bytes / widths_[flow->lanes[l]];
      flow->left -= bytes;
      flow->time = start + bytes / flow->rate;
      flow->served = turn_++;
    }
  }

  uint64_t finish(uint64_t tick, std::vector<uint32_t>& done) {
    size_t kept = 0;
    for (Flow& flow : flows_) {
      if (flow.left <= 0 && tick_of(flow.time) <= tick)
        done.push_back(flow.owner);
      else
        flows_[kept++] = flow;
    }
    flows_.resize(kept);
    return tick;
  }

  const std::vector<double> widths_;
  std::vector<double> free_at_;
  const double burst_;
  std::vector<Flow> flows_;
  std::vector<Flow*> waiting_;
  double time_ = 0;
  uint64_t turn_ = 0;
};

}  // namespace

std::unique_ptr<FlowNetwork> make_flow_network(BusModel model, std::vector<double> widths,
                                               uint64_t burst_bytes) {
  if (model == BusModel::fluid) return std::make_unique<FluidNetwork>(std::move(widths));
  return std::make_unique<BurstNetwork>(std::move(widths), burst_bytes);
}

}  // namespace stria::sim
