// SPDX-License-Identifier: Apache-2.0
// Bytes that move over shared channels. Two models of sharing:
//
//   fluid  flows have rates, the largest fair ones (max-min), which change as flows come and go
//   burst  flows move in bursts of so many bytes; each channel takes bursts in the order in which they
//          were asked for, and a flow asks for its next one when the last has passed all its channels
//
// Alone, b bytes over channels of w1, w2 bytes per tick take ceil(b / min(w1, w2)) ticks in both.
// Deterministic: of equals the one that was added first goes first. Rates are doubles; ends are
// ticks, rounded up. Nothing depends on the tick at which all began: the same flows, so much later,
// have the same times, so much later, to the last bit.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace stria::sim {

enum class BusModel { fluid, burst };

class FlowNetwork {
 public:
  virtual ~FlowNetwork() = default;
  // `channels`: each once, at least one; they stay the caller's and valid. At a tick that advance()
  // has reached. `owner` comes back when the flow ends.
  virtual void add(uint32_t owner, const uint32_t* channels, uint32_t count, uint64_t bytes,
                   uint64_t now) = 0;
  // Goes on to the first end of a flow, at most to `limit`; owners of the flows that end then are
  // appended to `done`, in the order in which they were added. Returns the tick it got to.
  virtual uint64_t advance(uint64_t limit, std::vector<uint32_t>& done) = 0;
  virtual bool idle() const = 0;

  // All that matters of the flows under way for what comes, counted from `now`: two networks with
  // the same do the same. `names[owner]` stands for the owner.
  virtual void write_state(uint64_t now, const std::vector<uint32_t>& names,
                           std::vector<uint64_t>& out) = 0;
  // As if all had happened so many ticks later.
  virtual void shift(uint64_t ticks) = 0;
};

// `widths`: bytes per tick of each channel, above 0 where flows use it. `burst_bytes` of model burst.
std::unique_ptr<FlowNetwork> make_flow_network(BusModel model, std::vector<double> widths,
                                               uint64_t burst_bytes);

}  // namespace stria::sim
