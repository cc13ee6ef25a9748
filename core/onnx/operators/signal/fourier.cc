// SPDX-License-Identifier: Apache-2.0
// DFT and STFT: products with a matrix of cosines and sines.
#include <fmt/format.h>

#include <numbers>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
namespace {

// The matrix has the square of that many elements.
constexpr int64_t kMostPoints = 16384;

struct Fourier {
  DataType type = DataType::fp32;       // of the matrix
  int64_t points = 0;                   // of the transform
  int64_t inputs = 0, outputs = 0;      // elements that are read and made
  int64_t parts_in = 1, parts_out = 2;  // real, imaginary
  bool inverse = false;
  bool half = false;  // inputs are the first half of points that are symmetric
};

// [outputs, inputs, parts_in, parts_out]: what an input adds to an output.
std::string fourier_matrix(NodeWriter& node, const Fourier& of) {
  const std::string zero = node.let("0");
  const std::string places =
      contract(node, '=', {"k", "n", "i", "o"}, {of.outputs, of.inputs, of.parts_in, of.parts_out},
               zero + "[]");
  const auto at = [&](int axis) { return fmt::format("index({}, {})", places, axis); };
  // The angle in quarters of a turn and a rest, which is an eighth at most: equal and opposite
  // sines and cosines are the same numbers, and those of whole quarters are exact.
  const std::string quarters = node.let(fmt::format("4 * ({} * {} % {})", at(0), at(1), of.points));
  const std::string quarter = node.let(fmt::format("{} / {}", quarters, of.points));
  const std::string rest = node.let(fmt::format("{} % {}", quarters, of.points));
  const std::string upper = node.let(fmt::format("2 * {} > {}", rest, of.points));
  const std::string angle =
      node.let(fmt::format("{} * {}",
                           converted(fmt::format("({0} ? {1} - {2} : {2})", upper, of.points, rest),
                                     DataType::i32, of.type),
                           literal(std::numbers::pi / 2 / static_cast<double>(of.points))));
  const std::string cosine = node.let(fmt::format("{} ? sin({}) : cos({})", upper, angle, angle));
  const std::string sine = node.let(fmt::format("{} ? cos({}) : sin({})", upper, angle, angle));
  // A real part goes into a real one with the cosine; other pairs take a quarter more or less.
  const std::string turned = node.let(
      fmt::format("({} + {} * ({} - {}) + 4) % 4", quarter, of.inverse ? -1 : 1, at(3), at(2)));
  std::string out = fmt::format("({0} == 0 ? {1} : ({0} == 1 ? -{2} : ({0} == 2 ? -{1} : {2})))",
                                turned, cosine, sine);
  if (of.half) {
    // The others stand for their mirror images, too.
    std::string alone = fmt::format("{} == 0", at(1));
    if (of.points % 2 == 0) alone += fmt::format(" || {} == {}", at(1), of.points / 2);
    out += fmt::format(" * ({} ? 1 : 2)", alone);
  }
  if (of.inverse) out += fmt::format(" * {}", literal(1 / static_cast<double>(of.points)));
  return node.let(out);
}

Status check_points(const NodeWriter& node, int64_t points) {
  if (points < 1) return node.error(fmt::format("a transform of {} points", points));
  if (points > kMostPoints)
    return node.not_supported(fmt::format("{} points; at most {}", points, kMostPoints));
  return {};
}

}  // namespace

Status discrete_fourier_transform(NodeWriter& node) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  const Sizes& sizes = node.type(0).sizes;
  const int64_t rank = node.rank(0);
  if (rank < 2 || sizes.back() < 1 || sizes.back() > 2)
    return node.error("the last dimension of its input is not that of 1 or 2 parts");
  int64_t written = -2;
  if (node.version() < 20) {
    STRIA_ASSIGN(written, node.integer_attribute("axis", 1));
  } else if (node.has(2)) {
    STRIA_ASSIGN(written, node.integer(2));
  }
  STRIA_ASSIGN(const int64_t axis, node.axis(written, rank));
  if (axis == rank - 1) return node.error("its axis is that of the parts");
  STRIA_ASSIGN(const int64_t inverse, node.integer_attribute("inverse", 0));
  STRIA_ASSIGN(const int64_t onesided, node.integer_attribute("onesided", 0));
  const int64_t size = sizes[static_cast<size_t>(axis)];
  Fourier of;
  of.type = wide_type(node.type(0).type);
  of.inverse = inverse != 0;
  of.half = inverse && onesided;
  of.points = of.half ? 2 * (size - 1) : size;
  if (node.has(1)) {
    STRIA_ASSIGN(of.points, node.integer(1));
  }
  STRIA_RETURN_IF_ERROR(check_points(node, of.points));
  // Inputs behind the end are left out, missing ones are zeros.
  of.inputs = of.half ? of.points / 2 + 1 : of.points;
  of.outputs = onesided && !inverse ? of.points / 2 + 1 : of.points;
  of.parts_in = sizes.back();
  of.parts_out = of.half ? 1 : 2;
  const std::string matrix = fourier_matrix(node, of);
  Forms source = indices("i", sizes.size()), forms = source;
  Sizes result = sizes;
  source[static_cast<size_t>(axis)] = "n";
  source.back() = "p";
  forms[static_cast<size_t>(axis)] = "k";
  forms.back() = "q";
  result[static_cast<size_t>(axis)] = of.outputs;
  result.back() = of.parts_out;
  if (of.type != node.type(0).type) x = node.let(wide(x, node.type(0).type));
  const std::string out = contract(node, '+', forms, result,
                                   fmt::format("{} * {}[k, n, p, q]", access(x, source), matrix));
  return node.result(0, narrow(out, node.type(0).type));
}

Status short_time_fourier_transform(NodeWriter& node) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  Sizes sizes = node.type(0).sizes;
  if (sizes.size() == 2) sizes.push_back(1);
  if (sizes.size() != 3 || sizes[2] < 1 || sizes[2] > 2)
    return node.error("its signal is not [batch, length, 1 or 2]");
  STRIA_ASSIGN(const int64_t step, node.integer(1));
  STRIA_ASSIGN(const int64_t onesided, node.integer_attribute("onesided", 1));
  const DataType type = node.type(0).type;
  Fourier of;
  of.type = wide_type(type);
  if (node.has(3)) {
    STRIA_ASSIGN(of.points, node.integer(3));
  } else if (node.has(2) && node.rank(2) == 1) {
    of.points = node.size(2, 0);
  } else {
    return node.error("it needs a window or a frame_length");
  }
  STRIA_RETURN_IF_ERROR(check_points(node, of.points));
  if (step < 1 || of.points > sizes[1])
    return node.error(
        fmt::format("frames of {} elements every {} of {}", of.points, step, sizes[1]));
  of.inputs = of.points;
  of.outputs = onesided ? of.points / 2 + 1 : of.points;
  of.parts_in = sizes[2];
  std::string matrix = fourier_matrix(node, of);
  if (node.has(2)) {
    STRIA_ASSIGN(const std::string window, node.tensor(2));
    if (node.type(2).sizes != Sizes{of.points})
      return node.error(fmt::format("its window has not {} elements", of.points));
    matrix = node.let(
        fmt::format("{} * {}", matrix, reshaped(wide(window, type), {1, of.points, 1, 1})));
  }
  x = node.let(reshaped(wide(x, type), sizes));
  const int64_t frames = (sizes[1] - of.points) / step + 1;
  const std::string out = contract(
      node, '+', {"b", "f", "k", "q"}, {sizes[0], frames, of.outputs, 2},
      fmt::format("{}[b, {}, p] * {}[k, n, p, q]", x, affine({{step, "f"}, {1, "n"}}, 0), matrix));
  return node.result(0, narrow(out, type));
}

}  // namespace stria::onnx::operators
