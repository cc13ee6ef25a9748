// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include "events/random_graph.h"

namespace stria::conformance {
namespace {

constexpr size_t kBuffers = 3;
constexpr uint64_t kBytes = 96;

using What = GraphNode::What;

class Planner {
 public:
  Planner(const GraphOptions& options, size_t executors)
      : options_(options), executors_(executors), random_(options.seed * 7919 + 17) {}

  GraphPlan plan() {
    for (size_t b = 0; b < kBuffers; ++b) {
      out_.before.push_back(pattern(kBytes, static_cast<uint32_t>(500 + b)));
      touched_.emplace_back(kBytes);
    }
    out_.after = out_.before;
    for (int i = 0; i < options_.nodes; ++i) add_node();
    for (size_t i = 0; i < out_.nodes.size(); ++i)
      if (out_.nodes[i].what == What::host) out_.signal_order.push_back(i);
    std::shuffle(out_.signal_order.begin(), out_.signal_order.end(), random_);
    return std::move(out_);
  }

 private:
  // Who wrote a byte last, and who has read it since.
  struct Byte {
    int writer = -1;
    std::vector<size_t> readers;
  };

  size_t below(size_t limit) { return random_() % limit; }
  bool one_in(size_t count) { return below(count) == 0; }

  void pick_range(GraphNode& node, uint64_t multiple) {
    node.target = below(kBuffers);
    node.bytes = (1 + below(kBytes / 2 / multiple)) * multiple;
    node.target_offset = below(kBytes - node.bytes + 1);
  }

  void pick_work(GraphNode& node) {
    const size_t kind = below(options_.mappings ? 8 : 7);
    if (out_.nodes.empty() || kind == 0) {
      node.what = What::host;
      node.fails = options_.failures && one_in(3);
    } else if (kind <= 3) {
      node.what = What::fill;
      node.written = pattern(size_t{1} << below(5), static_cast<uint32_t>(random_()));
      pick_range(node, node.written.size());
    } else if (kind <= 6) {
      node.what = What::copy;
      pick_range(node, 1);
      node.source = below(kBuffers);
      // Within one buffer the ranges must not overlap.
      do {
        node.source_offset = below(kBytes - node.bytes + 1);
        if (node.source != node.target || node.source_offset + node.bytes <= node.target_offset ||
            node.target_offset + node.bytes <= node.source_offset)
          break;
        node.source = below(kBuffers);
      } while (true);
    } else {
      node.what = What::map;
      pick_range(node, 1);
      node.written = pattern(node.bytes, static_cast<uint32_t>(random_()));
    }
  }

  // The nodes that must come before this one, as it touches what they have touched.
  std::vector<size_t> needed(const GraphNode& node) const {
    std::vector<size_t> out;
    const auto writer_of = [&](const Byte& byte) {
      if (byte.writer >= 0) out.push_back(static_cast<size_t>(byte.writer));
    };
    if (node.what == What::copy)
      for (uint64_t i = 0; i < node.bytes; ++i)
        writer_of(touched_[node.source][node.source_offset + i]);
    for (uint64_t i = 0; i < node.bytes; ++i) {
      const Byte& byte = touched_[node.target][node.target_offset + i];
      writer_of(byte);
      out.insert(out.end(), byte.readers.begin(), byte.readers.end());
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  void pick_waits(GraphNode& node) {
    std::vector<size_t> all = needed(node);
    // What others of the list come after need not be in it.
    for (size_t i = 0; i < all.size();) {
      const bool implied = std::any_of(all.begin(), all.end(), [&](size_t other) {
        return all[i] < other && before_[other][all[i]];
      });
      if (implied && !one_in(3))
        all.erase(all.begin() + static_cast<ptrdiff_t>(i));
      else
        ++i;
    }
    for (size_t extra = below(3); extra > 0 && !out_.nodes.empty(); --extra)
      all.push_back(below(out_.nodes.size()));
    if (!all.empty() && one_in(5)) all.push_back(all[below(all.size())]);
    std::shuffle(all.begin(), all.end(), random_);
    for (const size_t wait : all) node.waits.push_back({wait, options_.ends && one_in(4)});
  }

  void touch(const GraphNode& node, size_t index) {
    if (node.what == What::copy)
      for (uint64_t i = 0; i < node.bytes; ++i)
        touched_[node.source][node.source_offset + i].readers.push_back(index);
    for (uint64_t i = 0; i < node.bytes; ++i) {
      Byte& byte = touched_[node.target][node.target_offset + i];
      byte.writer = static_cast<int>(index);
      byte.readers.clear();
    }
  }

  // What it does to the buffers, now that all before it have done theirs.
  void act(GraphNode& node) {
    Bytes& target = out_.after[node.target];
    const auto begin = target.begin() + static_cast<ptrdiff_t>(node.target_offset);
    node.found.assign(begin, begin + static_cast<ptrdiff_t>(node.bytes));
    const Bytes source = out_.after[node.source];
    for (uint64_t i = 0; i < node.bytes; ++i)
      target[node.target_offset + i] = node.what == What::copy
                                           ? source[node.source_offset + i]
                                           : node.written[i % node.written.size()];
  }

  void add_node() {
    const size_t index = out_.nodes.size();
    GraphNode node;
    node.executor = below(executors_);
    pick_work(node);
    std::vector<bool> before(index + 1, false);
    if (node.what == What::host) {
      if (node.fails) node.cause = static_cast<int>(index);
    } else {
      pick_waits(node);
      for (const GraphNode::Wait& wait : node.waits) {
        before[wait.node] = true;
        for (size_t i = 0; i < wait.node; ++i)
          if (before_[wait.node][i]) before[i] = true;
        if (node.cause < 0 && !wait.end) node.cause = out_.nodes[wait.node].cause;
      }
      touch(node, index);
      if (node.cause < 0) act(node);
    }
    before_.push_back(std::move(before));
    out_.nodes.push_back(std::move(node));
  }

  const GraphOptions options_;
  const size_t executors_;
  std::mt19937 random_;
  GraphPlan out_;
  std::vector<std::vector<Byte>> touched_;  // of each buffer
  std::vector<std::vector<bool>> before_;   // of each node: the nodes that it comes after
};

}  // namespace

GraphPlan make_plan(const GraphOptions& options, size_t executors) {
  return Planner(options, executors).plan();
}

}  // namespace stria::conformance
