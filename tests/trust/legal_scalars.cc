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
  // Half of the time one that leaves something as it is, or nearly.
  static const std::vector<double> floats = {0.0, 0.0, -0.0, 1.0, -1.0};
  static const std::vector<int64_t> integers = {0, 0, 1, -1};
  const bool special = dice_.once_in(2);
  const Scalar value =
      type == DataType::boolean ? Scalar::of_bool(dice_.once_in(2))
      : is_float(type)
          ? Scalar::of_float(type, special ? dice_.one_of(floats)
                                           : static_cast<double>(dice_.between(-8, 8)) / 4)
          : Scalar::of_int(type, special ? dice_.one_of(integers) : dice_.between(-3, 5));
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

std::string Maker::compute(Frame& frame, Scalars& known, const std::string& name, DataType type,
                           std::vector<std::string> inputs) {
  const std::string into = new_scalar(frame);
  frame.block.stmts.push_back(
      {Operation(stripe::Intrinsic{name, type, {into}, std::move(inputs)})});
  known.emplace_back(into, stripe::intrinsic_result_type(name, type));
  return into;
}

bool Maker::again(Frame& frame, Scalars& known) {
  std::vector<stripe::Intrinsic> all;
  for (const stripe::Statement& stmt : frame.block.stmts)
    if (auto* op = std::get_if<stripe::Intrinsic>(&stmt.op)) all.push_back(*op);
  if (all.empty()) return false;
  const stripe::Intrinsic& one = dice_.one_of(all);
  std::vector<std::string> inputs = one.inputs;
  if (inputs.size() == 2 && dice_.once_in(2)) std::swap(inputs[0], inputs[1]);
  if (inputs.size() == 3 && dice_.once_in(2)) std::swap(inputs[1], inputs[2]);
  const std::string same = compute(frame, known, one.name, one.type, std::move(inputs));
  if (known.back().second != DataType::boolean && dice_.once_in(2))
    combine(frame, known, one.outputs[0], same);
  return true;
}

void Maker::combine(Frame& frame, Scalars& known, const std::string& a, const std::string& b) {
  auto type_of = [&](const std::string& name) {
    return std::find_if(known.begin(), known.end(),
                        [&](const auto& one) { return one.first == name; })
        ->second;
  };
  static const std::vector<std::string> names = {"sub", "sub", "add", "max", "min"};
  const DataType left = type_of(a), right = type_of(b);
  const DataType type = is_float(left) != is_float(right)     ? (is_float(left) ? left : right)
                        : byte_size(left) >= byte_size(right) ? left
                                                              : right;
  compute(frame, known, dice_.one_of(names), type, {a, b});
}

void Maker::both_ways(Frame& frame, Scalars& known, const std::string& a, const std::string& b,
                      DataType type) {
  static const std::vector<std::string> of_integers = {"sub", "sub", "div", "mod", "bit_right"};
  const std::string name = is_float(type) || dice_.once_in(2) ? "sub" : dice_.one_of(of_integers);
  const std::string left = compute(frame, known, name, type, {a, b});
  const std::string right = compute(frame, known, name, type, {b, a});
  if (!dice_.once_in(4)) combine(frame, known, left, right);
}

void Maker::with_constant(Frame& frame, Scalars& known) {
  static const std::vector<std::string> of_floats = {"sub", "sub", "add", "mul", "max", "div"};
  static const std::vector<std::string> of_integers = {"sub",    "sub",     "add", "mul",    "max",
                                                       "bit_or", "bit_and", "div", "bit_xor"};
  Scalars numbers;
  for (const auto& one : known)
    if (one.second != DataType::boolean) numbers.push_back(one);
  if (numbers.empty()) return;
  const auto a = dice_.once_in(2) ? numbers.back() : dice_.one_of(numbers);
  if (dice_.once_in(4)) {
    // Which of two, decided here.
    const auto b = dice_.one_of(numbers);
    if (dice_.once_in(2)) {
      constant(frame, known, DataType::boolean);
    } else {
      constant(frame, known, DataType::i32);
      const std::string left = known.back().first;
      constant(frame, known, DataType::i32);
      compute(frame, known, "cmp_lt", DataType::i32, {left, known.back().first});
    }
    const std::string which = known.back().first;
    const DataType type =
        is_float(a.second) == is_float(b.second) || is_float(a.second) ? a.second : b.second;
    compute(frame, known, "cond", type, {which, a.first, b.first});
    return;
  }
  constant(frame, known, a.second);
  std::vector<std::string> inputs = {a.first, known.back().first};
  const std::string name = dice_.one_of(is_float(a.second) ? of_floats : of_integers);
  if (name != "div" && dice_.once_in(2)) std::swap(inputs[0], inputs[1]);
  compute(frame, known, name, a.second, std::move(inputs));
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
  if (dice_.once_in(4) && again(frame, known)) return;
  if (dice_.once_in(3)) return with_constant(frame, known);
  const auto a = dice_.one_of(numbers()), b = dice_.one_of(numbers());
  DataType type = byte_size(a.second) >= byte_size(b.second) ? a.second : b.second;
  if (is_float(a.second) != is_float(b.second)) type = is_float(a.second) ? a.second : b.second;
  if (dice_.once_in(5)) type = is_float(type) ? DataType::fp64 : DataType::i32;
  auto add = [&](const std::string& name, std::vector<std::string> inputs) {
    compute(frame, known, name, type, std::move(inputs));
  };
  if (a.first != b.first && dice_.once_in(8))
    return both_ways(frame, known, a.first, b.first, type);
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

void Maker::load(Frame& frame, Scalars& known, const View& view) {
  stripe::ChosenCoordinates at;
  if (!is_one_element(view)) at = choose(frame, known, view);
  const std::string name = new_scalar(frame);
  frame.block.stmts.push_back({Operation(stripe::Load{view.ref.into, name, at})});
  known.emplace_back(name, view.ref.shape.type);
}

void Maker::small_buffer(Frame& frame, Scalars& known) {
  stripe::Refinement ref;
  ref.dir = stripe::RefDir::none;
  ref.into = frame.new_view_name("T" + std::to_string(tensors_));
  // Of a type that a scalar has, or of one that cannot hold all that is stored.
  const DataType like = known.back().second == DataType::boolean ? type() : known.back().second;
  ref.shape.type = like;
  for (int n = dice_.once_in(2) ? 0 : 4; n > 0 && ref.shape.type == like; --n)
    if (const DataType other = type_like(like); byte_size(other) <= byte_size(like))
      ref.shape.type = other;
  if (dice_.once_in(2)) ref.shape.dims = {{1, 1}};
  ref.access.assign(ref.shape.rank(), Affine(0));
  View view;
  view.ref = ref;
  view.tensor = tensors_++;
  view.depth = frame.depth;
  frame.block.refs.push_back(ref);
  store(frame, known, view);
  if (dice_.once_in(2)) load(frame, known, view);
  for (size_t n = dice_.below(3); n > 0; --n) {
    intrinsic(frame, known);
    store(frame, known, view);
    if (dice_.once_in(2)) load(frame, known, view);
  }
  load(frame, known, view);
  frame.views.push_back(std::move(view));
}

void Maker::scalars(Frame& frame, bool leaf) {
  Scalars known;
  auto usable = [&](const View& view) {
    const bool plain = view.ref.tags.has("zero_fill");
    return (plain || is_confined(frame, view)) && (leaf || is_one_element(view));
  };
  std::vector<std::string> wished;
  for (const View& view : frame.views)
    if (view.readable && usable(view) && (view.wished || !dice_.once_in(4))) {
      load(frame, known, view);
      if (view.wished) wished.push_back(known.back().first);
    }
  if (dice_.once_in(4)) load_index(frame, known);
  if (known.empty() || dice_.once_in(4)) constant(frame, known, type());
  for (size_t n = dice_.below(4); n > 0; --n) intrinsic(frame, known);
  if (dice_.once_in(leaf ? 5 : 8)) small_buffer(frame, known);
  for (const std::string& name : wished) {
    if (known.back().second == DataType::boolean || dice_.once_in(2))
      known.emplace_back(*std::find_if(known.begin(), known.end(),
                                       [&](const auto& one) { return one.first == name; }));
    else
      combine(frame, known, known.back().first, name);
  }
  for (size_t v = 0; v < frame.views.size(); ++v) {
    const View& view = frame.views[v];
    if (!view.writable || !usable(view)) continue;
    store(frame, known, view);
    if (!view.readable || !is_one_element(view)) continue;
    // What has just been stored is read, and replaced.
    if (!dice_.once_in(3)) continue;
    load(frame, known, view);
    if (dice_.once_in(2)) continue;
    const std::string name = known.back().first;
    intrinsic(frame, known);
    if (known.back().second != DataType::boolean) combine(frame, known, known.back().first, name);
    store(frame, known, view);
  }
}

}  // namespace stria::trust
