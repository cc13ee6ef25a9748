// SPDX-License-Identifier: Apache-2.0
// Bytes that move over shared channels. There are two models of sharing:
//
//   fluid  Flows have rates, the largest fair ones (max-min). The rates change as flows come and
//          go.
//   burst  Flows move in bursts of so many bytes. Each channel takes bursts in the order in which
//          they were asked for. A flow asks for its next burst when the last one has passed all
//          channels.
//
// In both, b bytes that move alone over channels of w1 and w2 bytes per tick take ceil(b / min(w1,
// w2)) ticks. The result is deterministic: among equals, the flow that was added first goes first.
// Rates are doubles; ends are ticks, rounded up. Nothing depends on the tick at which all began:
// the same flows, so much later, have the same times, so much later, to the last bit.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace stria::sim {

enum class BusModel { fluid, burst };

class FlowNetwork {
 public:
  virtual ~FlowNetwork() = default;
  // Adds a flow at a tick that advance() has reached. `channels`: at least one, each once; the
  // array stays the caller's and must stay valid. `owner` comes back when the flow ends.
  virtual void add(uint32_t owner, const uint32_t* channels, uint32_t count, uint64_t bytes,
                   uint64_t now) = 0;
  // Goes on to the first end of a flow, but at most to `limit`. Appends the owners of the flows
  // that end then to `done`, in the order in which they were added. Returns the tick that it got
  // to.
  virtual uint64_t advance(uint64_t limit, std::vector<uint32_t>& done) = 0;
  virtual bool idle() const = 0;

  // Writes all that matters of the flows under way for what comes, counted from `now`: two networks
  // with the same state do the same. `names[owner]` stands for the owner.
  virtual void write_state(uint64_t now, const std::vector<uint32_t>& names,
                           std::vector<uint64_t>& out) = 0;
  // Moves all that has happened so many ticks later.
  virtual void shift(uint64_t ticks) = 0;
};

// `widths`: bytes per tick of each channel, above 0 for channels that flows use. `burst_bytes` is
// for the model burst.
std::unique_ptr<FlowNetwork> make_flow_network(BusModel model, std::vector<double> widths,
                                               uint64_t burst_bytes);

}  // namespace stria::sim
