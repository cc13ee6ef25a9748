// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression. How many boxes are left is the size of its result, so that boxes and scores
// must be known when the program is made.
#include <fmt/format.h>

#include <algorithm>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/shape/moves.h"
#include "stria/type/scalar.h"

namespace stria::onnx::operators {
namespace {

struct Box {
  float low[2], high[2];
  float area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

Box box_of(const HostTensor& boxes, int64_t number, bool by_center) {
  float c[4];
  for (int64_t k = 0; k < 4; ++k)
    c[k] = static_cast<float>(load_scalar(boxes.type(), boxes.data(), number * 4 + k).to_double());
  Box out;
  for (int d = 0; d < 2; ++d) {
    // Centre and extent, or any two corners that lie across from each other.
    out.low[d] = by_center ? c[d] - c[d + 2] / 2 : std::min(c[d], c[d + 2]);
    out.high[d] = by_center ? c[d] + c[d + 2] / 2 : std::max(c[d], c[d + 2]);
  }
  return out;
}

// Do they share more than `threshold` of what they cover together?
bool overlaps(const Box& a, const Box& b, float threshold) {
  Box both;
  for (int d = 0; d < 2; ++d) {
    both.low[d] = std::max(a.low[d], b.low[d]);
    both.high[d] = std::min(a.high[d], b.high[d]);
    if (both.high[d] <= both.low[d]) return false;
  }
  const float shared = both.area(), together = a.area() + b.area() - shared;
  return together > 0 && shared / together > threshold;
}

}  // namespace

Status non_max_suppression(NodeWriter& node) {
  STRIA_ASSIGN(const std::shared_ptr<const HostTensor> boxes, node.known(0));
  STRIA_ASSIGN(const std::shared_ptr<const HostTensor> scores, node.known(1));
  int64_t most = 0;
  double iou_threshold = 0, score_threshold = 0;
  if (node.has(2)) {
    STRIA_ASSIGN(most, node.integer(2));
  }
  if (node.has(3)) {
    STRIA_ASSIGN(iou_threshold, node.number(3));
  }
  if (node.has(4)) {
    STRIA_ASSIGN(score_threshold, node.number(4));
  }
  STRIA_ASSIGN(const int64_t by_center, node.integer_attribute("center_point_box", 0));
  const Sizes& b = boxes->sizes();
  const Sizes& s = scores->sizes();
  if (b.size() != 3 || s.size() != 3 || b[0] != s[0] || b[1] != s[2] || b[2] != 4)
    return node.error(
        fmt::format("boxes of sizes [{}] and scores of [{}]", list_text(b), list_text(s)));
  std::vector<int64_t> chosen;
  for (int64_t batch_class = 0; batch_class < s[0] * s[1]; ++batch_class) {
    const int64_t batch = batch_class / s[1];
    const auto score = [&](int64_t box) {
      return load_scalar(scores->type(), scores->data(), batch_class * s[2] + box).to_double();
    };
    std::vector<int64_t> order;
    for (int64_t box = 0; box < b[1]; ++box)
      if (!node.has(4) || score(box) > score_threshold) order.push_back(box);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t x, int64_t y) { return score(x) > score(y); });
    std::vector<Box> kept;
    for (const int64_t number : order) {
      if (static_cast<int64_t>(kept.size()) >= most) break;
      const Box box = box_of(*boxes, batch * b[1] + number, by_center != 0);
      if (std::any_of(kept.begin(), kept.end(), [&](const Box& other) {
            return overlaps(box, other, static_cast<float>(iou_threshold));
          }))
        continue;
      kept.push_back(box);
      chosen.insert(chosen.end(), {batch, batch_class % s[1], number});
    }
  }
  STRIA_ASSIGN(HostTensor out, integer_table(chosen, {static_cast<int64_t>(chosen.size()) / 3, 3}));
  return node.result_known(0, std::move(out));
}

}  // namespace stria::onnx::operators
