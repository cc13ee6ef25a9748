// SPDX-License-Identifier: Apache-2.0
// GridSample and AffineGrid: an image at coordinates that are computed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

struct Sampling {
  std::string mode, padding;
  bool align_corners = false;
};

// An expression for x, reflected at both borders until it lies between them.
std::string reflected(const std::string& x, double low, double high) {
  if (low == high) return fmt::format("({} * 0 + {:.1f})", x, low);
  // Distance from the lower border within one period, which goes up and comes down.
  const double length = high - low;
  const std::string t = fmt::format("abs({} - ({:.1f}))", x, low);
  return fmt::format("({:.1f} - abs({} % {:.1f} - {:.1f}))", low + length, t, 2 * length, length);
}

std::string padded_coordinate(const Sampling& how, const std::string& x, int64_t size) {
  const double edge = how.align_corners ? 0 : 0.5;
  // What lies in the outer half of a pixel at the border stays where it is.
  if (how.padding == "border")
    return fmt::format("({0} < {1:.1f} || {0} > {2:.1f} ? max(min({0}, {3}.0), 0.0) : {0})", x,
                       -edge, static_cast<double>(size) - 1 + edge, size - 1);
  if (how.padding == "reflection") return reflected(x, -edge, static_cast<double>(size) - 1 + edge);
  return x;
}

std::string cubic_weight(const std::string& d) {
  // Of a distance: the two polynomials that Resize has, with a = -0.75.
  return fmt::format(
      "({0} <= 1 ? (1.25 * {0} - 2.25) * {0} * {0} + 1 : "
      "((-0.75 * {0} + 3.75) * {0} - 6.0) * {0} + 3.0)",
      d);
}

// The taps along one axis of the image: positions [batch, points, taps], and -1 where there is
// nothing; weights alike.
struct Taps {
  std::string positions, weights;
  int64_t count = 1;
};

Result<Taps> taps_along(NodeWriter& node, const Sampling& how, const std::string& grid,
                        int64_t size) {
  const std::string x = how.align_corners
                            ? node.let(fmt::format("({} + 1) / 2.0 * {}", grid, size - 1))
                            : node.let(fmt::format("(({} + 1) * {} - 1) / 2.0", grid, size));
  Taps out;
  std::string at;
  if (how.mode == "nearest") {
    const std::string whole = node.let(fmt::format("round({})", x));
    at = node.let(padded_coordinate(how, whole, size));
    if (how.padding == "reflection") at = node.let(fmt::format("floor({})", at));
  } else {
    // At a border cubic taps are held one by one, as the frameworks do that export them; the
    // standard's reference moves the point to the border first.
    const bool tap_by_tap = how.mode == "cubic" && how.padding == "border";
    // Beyond all taps nothing changes; far away fp32 has no halves.
    const std::string inside =
        node.let(tap_by_tap ? fmt::format("max(min({}, {}.0), -3.0)", x, size + 2)
                            : padded_coordinate(how, x, size));
    std::vector<double> steps;
    if (how.mode == "linear")
      steps = {0, 1};
    else
      steps = {-1, 0, 1, 2};
    out.count = static_cast<int64_t>(steps.size());
    STRIA_ASSIGN(HostTensor table, number_table(DataType::fp32, steps, {out.count}));
    const std::string step = node.constant(std::move(table));
    const std::string tap = node.let(fmt::format("floor({}) + {}", inside, step));
    const std::string distance = node.let(fmt::format("abs({} - {})", tap, inside));
    out.weights =
        node.let(how.mode == "linear" ? fmt::format("1 - {}", distance) : cubic_weight(distance));
    at = how.padding == "border" ? node.let(fmt::format("max(min({}, {}.0), 0.0)", tap, size - 1))
                                 : node.let(padded_coordinate(how, tap, size));
    // Half a pixel beside the border is half a pixel inside it: the pixel at the border.
    if (how.padding == "reflection") at = node.let(fmt::format("floor({})", at));
  }
  out.positions = node.let(fmt::format("{0} >= 0 && {0} < {1} ? as_int({0}, 64) : -1", at, size));
  return out;
}

// A tensor [batch, points, taps of one axis] as [batch, points, 1, …, taps, …, 1].
std::string on_own_axis(const std::string& x, const Sizes& head, size_t axis, size_t rank,
                        int64_t taps) {
  Sizes sizes = head;
  for (size_t d = 0; d < rank; ++d) sizes.push_back(d == axis ? taps : 1);
  return reshaped(x, sizes);
}

}  // namespace

Status grid_sample(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string grid, node.tensor(1));
  Sampling how;
  STRIA_ASSIGN(how.mode, node.string_attribute("mode", "linear"));
  STRIA_ASSIGN(how.padding, node.string_attribute("padding_mode", "zeros"));
  STRIA_ASSIGN(const int64_t align_corners, node.integer_attribute("align_corners", 0));
  how.align_corners = align_corners != 0;
  if (how.mode == "bilinear") how.mode = "linear";
  if (how.mode == "bicubic") how.mode = "cubic";
  if (how.mode != "nearest" && how.mode != "linear" && how.mode != "cubic")
    return node.error(fmt::format("mode '{}'", how.mode));
  if (how.padding != "zeros" && how.padding != "border" && how.padding != "reflection")
    return node.error(fmt::format("padding_mode '{}'", how.padding));
  const Sizes& sizes = node.type(0).sizes;
  const Sizes& grid_sizes = node.type(1).sizes;
  const size_t rank = sizes.size() < 3 ? 0 : sizes.size() - 2;
  if (rank == 0 || grid_sizes.size() != sizes.size() || grid_sizes[0] != sizes[0] ||
      grid_sizes.back() != static_cast<int64_t>(rank))
    return node.error(fmt::format("a grid of sizes [{}] for an image of [{}]",
                                  list_text(grid_sizes), list_text(sizes)));
  const DataType type = node.type(0).type;
  const int64_t pixels = product(sizes, 2, sizes.size());
  const int64_t points = product(grid_sizes, 1, grid_sizes.size() - 1);
  const std::string flat_grid = node.let(
      reshaped(stria::onnx::cast(
                   grid, node.type(1).type == DataType::fp64 ? DataType::fp64 : DataType::fp32),
               {sizes[0], points, static_cast<int64_t>(rank)}));
  std::string row, weight, all_in;
  int64_t taps = 1;
  const Sizes head = {sizes[0], points};
  for (size_t d = 0; d < rank; ++d) {
    // The last axis of the image comes first in the grid.
    const std::string one = moved(node, flat_grid, {"b", "p", std::to_string(rank - 1 - d)},
                                  {"b", "p", "0"}, {sizes[0], points, 1});
    STRIA_ASSIGN(const Taps along, taps_along(node, how, one, sizes[d + 2]));
    taps *= along.count;
    const std::string at = node.let(on_own_axis(along.positions, head, d, rank, along.count));
    row += fmt::format("{}{} * {}", d == 0 ? "" : " + ", at, product(sizes, d + 3, sizes.size()));
    all_in += fmt::format("{}{} >= 0", d == 0 ? "" : " && ", at);
    if (along.count > 1) {
      const std::string w = node.let(on_own_axis(along.weights, head, d, rank, along.count));
      weight += (d == 0 ? "" : " * ") + w;
    }
  }
  const std::string pixel = node.let(row);
  const std::string place = node.let(
      reshaped(fmt::format("{} ? {} + index({}, 0) * {} : -1", all_in, pixel, pixel, pixels),
               {sizes[0], points, taps}));
  // Rows of channels.
  const std::string image = node.let(reshaped(x, {sizes[0], sizes[1], pixels}));
  const std::string rows =
      moved(node, image, {"b", "c", "p"}, {"b", "p", "c"}, {sizes[0], pixels, sizes[1]});
  const std::string line = node.let(reshaped(rows, {sizes[0] * pixels, sizes[1]}));
  const std::string got = node.let(fmt::format("gather_or_zero({}, {})", line, place));
  std::string y;
  const Sizes turned = {sizes[0], sizes[1], points};
  if (weight.empty()) {
    y = moved(node, got, {"b", "p", "0", "c"}, {"b", "c", "p"}, turned);
  } else {
    const std::string weights = node.let(reshaped(weight, {sizes[0], points, taps}));
    y = node.fresh();
    node.line(fmt::format("{}[b, c, p : {}] = +({}[b, p, t, c] * {}[b, p, t]);", y,
                          list_text(turned), got, weights));
  }
  Sizes result = {sizes[0], sizes[1]};
  result.insert(result.end(), grid_sizes.begin() + 1, grid_sizes.end() - 1);
  return node.result(0, reshaped(stria::onnx::cast(y, type), result));
}

Status affine_grid(NodeWriter& node) {
  STRIA_ASSIGN(const std::string theta, node.tensor(0));
  STRIA_ASSIGN(const Sizes size, node.integers(1));
  STRIA_ASSIGN(const int64_t align_corners, node.integer_attribute("align_corners", 0));
  const size_t rank = size.size() < 3 ? 0 : size.size() - 2;
  const auto count = static_cast<int64_t>(rank);
  if (rank == 0 || node.type(0).sizes != Sizes{size[0], count, count + 1})
    return node.error(fmt::format("theta of sizes [{}] for an image of [{}]",
                                  list_text(node.type(0).sizes), list_text(size)));
  // Row d of theta is a sum over coordinates, the last axis first, and an offset.
  std::vector<std::string> points, ones(rank, "0");
  Sizes sizes = {size[0]};
  for (size_t d = 0; d < rank; ++d) {
    points.push_back(fmt::format("p{}", d));
    sizes.push_back(size[d + 2]);
  }
  sizes.push_back(count);
  const std::string offset = moved(
      node, theta, {"b", "d", std::to_string(rank)},
      [&] {
        std::vector<std::string> to = ones;
        to.insert(to.begin(), "b");
        to.push_back("d");
        return to;
      }(),
      [&] {
        Sizes to(rank + 2, 1);
        to[0] = size[0];
        to.back() = count;
        return to;
      }());
  std::string sum = offset;
  for (size_t d = 0; d < rank; ++d) {
    std::vector<double> places;
    STRIA_RETURN_IF_ERROR(
        check_table(node, fmt::format("an axis of {} points", size[d + 2]), {size[d + 2]}));
    const auto n = static_cast<double>(size[d + 2]);
    for (int64_t p = 0; p < size[d + 2]; ++p) {
      const auto at = static_cast<double>(p);
      if (align_corners)
        places.push_back(n == 1 ? 0 : 2 * at / (n - 1) - 1);
      else
        places.push_back((2 * at + 1) / n - 1);
    }
    STRIA_ASSIGN(HostTensor table, number_table(node.type(0).type, places, {size[d + 2]}));
    const std::string name = node.fresh();
    node.line(fmt::format("{}[b, {}, d : {}] = +({}[b, d, {}] * {}[p{}]);", name,
                          fmt::join(points, ", "), list_text(sizes), theta, rank - 1 - d,
                          node.constant(std::move(table)), d));
    sum += " + " + name;
  }
  return node.result(0, sum);
}

}  // namespace stria::onnx::operators
