// SPDX-License-Identifier: Apache-2.0
// Scalar statements: loads, arithmetic, stores.
#include <algorithm>

#include "maker.h"
#include "stria/stripe/scalar_types.h"

namespace stria::trust {

using stripe::Operation;

namespace {

bool is_one_element(const View& view) {
  return std::all_of(view.ref.shape.dims.begin(), view.ref.shape.dims.end(),
                     [](const Dim& dim) { return dim.size == 1; });
}

}  // namespace

std::string Maker::new_scalar(Frame& frame) {
  static const std::vector<std::string> names = {"a", "b", "s", "t", "v"};
  return dice_.one_of(names) + std::to_string(frame.scalars++);
}

void Maker::constant(Frame& frame, Scalars& known, DataType type) {
  const std::string name = new_scalar(frame);
  const Scalar value = type == DataType::boolean ? Scalar::of_bool(dice_.once_in(2))
                       : is_float(type)
                           ? Scalar::of_float(type, static_cast<double>(dice_.between(-8, 8)) / 4)
                           : Scalar::of_int(type, dice_.between(-3, 5));
  frame.block.stmts.push_back({Operation(stripe::Constant{name, value})});
  known.emplace_back(name, type);
}

void Maker::load_index(Frame& frame, Scalars& known) {
  const std::string name = new_scalar(frame);
  const DataType type = dice_.once_in(3) ? DataType::i64 : DataType::i32;
  frame.block.stmts.push_back(
      {Operation(stripe::LoadIndex{random_form(frame) + dice_.between(-1, 1), name, type})});
  known.emplace_back(name, type);
}

stripe::ChosenCoordinates Maker::choose(Frame& frame, Scalars& known, const View& view) {
  stripe::ChosenCoordinates at;
  for (const Dim& dim : view.ref.shape.dims) {
    if (dim.size == 1) {
      at.push_back("");
      continue;
    }
    std::vector<std::string> integers;
    for (const auto& [name, type] : known)
      if (is_integer(type)) integers.push_back(name);
    if (integers.empty() || dice_.once_in(2)) {
      load_index(frame, known);
      integers = {known.back().first};
    }
    at.push_back(dice_.one_of(integers));
  }
  return at;
}

void Maker::intrinsic(Frame& frame, Scalars& known) {
  static const std::vector<std::string> of_floats = {"add", "sub", "add", "sub",  "max",  "min",
                                                     "mul", "neg", "abs", "relu", "tanh", "ident"};
  static const std::vector<std::string> of_integers = {"add", "sub", "mul",       "max",
                                                       "min", "neg", "bit_and",   "bit_xor",
                                                       "div", "mod", "bit_right", "ident"};
  static const std::vector<std::string> compared = {"cmp_lt", "cmp_ge", "cmp_eq"};
  auto numbers = [&] {
    Scalars out;
    for (const auto& one : known)
      if (one.second != DataType::boolean) out.push_back(one);
    return out;
  };
  if (numbers().empty()) constant(frame, known, DataType::i32);
  const auto a = dice_.one_of(numbers()), b = dice_.one_of(numbers());
  DataType type = byte_size(a.second) >= byte_size(b.second) ? a.second : b.second;
  if (is_float(a.second) != is_float(b.second)) type = is_float(a.second) ? a.second : b.second;
  if (dice_.once_in(5)) type = is_float(type) ? DataType::fp64 : DataType::i32;
  auto add = [&](const std::string& name, std::vector<std::string> inputs) {
    const std::string into = new_scalar(frame);
    frame.block.stmts.push_back(
        {Operation(stripe::Intrinsic{name, type, {into}, std::move(inputs)})});
    known.emplace_back(into, stripe::intrinsic_result_type(name, type));
  };
  if (dice_.once_in(8)) {
    add(dice_.one_of(compared), {a.first, b.first});
    add("cond", {known.back().first, a.first, b.first});
    return;
  }
  const std::string name = dice_.one_of(is_float(type) ? of_floats : of_integers);
  if (name == "neg" || name == "abs" || name == "relu" || name == "tanh" || name == "ident")
    add(name, {a.first});
  else
    add(name, {a.first, b.first});
}

void Maker::store(Frame& frame, Scalars& known, const View& view) {
  const DataType to = view.ref.agg ? view.ref.agg->type : view.ref.shape.type;
  std::vector<std::string> fitting;
  for (const auto& [name, type] : known)
    if (is_float(type) == is_float(to) && type != DataType::boolean) fitting.push_back(name);
  if (fitting.empty() && !known.empty() && dice_.once_in(4)) fitting.push_back(known.back().first);
  if (fitting.empty()) {
    if (is_float(to))
      constant(frame, known, to);
    else
      load_index(frame, known);
    fitting = {known.back().first};
  }
  const std::string from = dice_.once_in(4) ? dice_.one_of(fitting) : fitting.back();
  stripe::ChosenCoordinates at;
  if (!is_one_element(view)) at = choose(frame, known, view);
  frame.block.stmts.push_back({Operation(stripe::Store{from, view.ref.into, at})});
}

void Maker::scalars(Frame& frame, bool leaf) {
  Scalars known;
  auto usable = [&](const View& view) {
    const bool plain = view.ref.tags.has("zero_fill");
    return (plain || is_confined(frame, view)) && (leaf || is_one_element(view));
  };
  auto load = [&](const View& view) {
    stripe::ChosenCoordinates at;
    if (!is_one_element(view)) at = choose(frame, known, view);
    const std::string name = new_scalar(frame);
    frame.block.stmts.push_back({Operation(stripe::Load{view.ref.into, name, at})});
    known.emplace_back(name, view.ref.shape.type);
  };
  for (const View& view : frame.views)
    if (view.readable && usable(view) && !dice_.once_in(4)) load(view);
  if (dice_.once_in(4)) load_index(frame, known);
  if (known.empty() || dice_.once_in(4)) constant(frame, known, type());
  for (size_t n = dice_.below(4); n > 0; --n) intrinsic(frame, known);
  if (leaf && dice_.once_in(8)) {
    // A buffer of one element, for one point.
    stripe::Refinement ref;
    ref.dir = stripe::RefDir::none;
    ref.into = frame.new_view_name("T" + std::to_string(tensors_));
    ref.shape.type = type();
    if (dice_.once_in(2)) ref.shape.dims = {{1, 1}};
    ref.access.assign(ref.shape.rank(), Affine(0));
    View view;
    view.ref = ref;
    view.tensor = tensors_++;
    view.depth = frame.depth;
    frame.block.refs.push_back(ref);
    store(frame, known, view);
    load(view);
    if (dice_.once_in(2)) {
      intrinsic(frame, known);
      store(frame, known, view);
      load(view);
    }
    frame.views.push_back(std::move(view));
  }
  for (size_t v = 0; v < frame.views.size(); ++v) {
    const View& view = frame.views[v];
    if (!view.writable || !usable(view)) continue;
    store(frame, known, view);
    if (view.readable && is_one_element(view) && dice_.once_in(8)) load(view);
  }
}

}  // namespace stria::trust
