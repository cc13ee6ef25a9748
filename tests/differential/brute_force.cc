// SPDX-License-Identifier: Apache-2.0
// The interpreter's own oracle: every index assignment of a box that surely holds all valid ones is
// tried, and what is valid is decided by the definition (docs/semantics.md M1). Slow on purpose.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tile_case.h"

namespace stria::differential {
namespace {

struct Tensor {
  DataType type = DataType::fp32;
  std::vector<int64_t> sizes;
  std::vector<BruteValue> values;
};
using Tensors = std::map<std::string, Tensor>;

double unit_roundoff(DataType type) {
  switch (type) {
    case DataType::fp16: return 0x1p-11;
    case DataType::bf16: return 0x1p-8;
    case DataType::fp32: return 0x1p-24;
    // The values here are doubles themselves: their own rounding counts as well.
    default: return 0x1p-52;
  }
}

double largest(DataType type) {
  switch (type) {
    case DataType::fp16: return 65504;
    case DataType::bf16:
    case DataType::fp32: return 3.3e38;
    default: return std::numeric_limits<double>::max();
  }
}

double smallest_step(DataType type) {
  switch (type) {
    case DataType::fp16: return 0x1p-24;
    case DataType::bf16: return 0x1p-133;
    case DataType::fp32: return 0x1p-149;
    default: return 0x1p-1074;
  }
}

// One rounding of a float to `type`.
BruteValue rounded(DataType type, BruteValue value) {
  if (!is_float(type)) return value;
  value.bound += unit_roundoff(type) * std::fabs(value.f) + smallest_step(type);
  // Close to overflow the result may or may not be infinite.
  if (!(std::fabs(value.f) + value.bound < largest(type) / 2)) value.skip = true;
  return value;
}

BruteValue exact(double f) { return {0, f, 0, false}; }

BruteValue converted(DataType from, DataType to, const BruteValue& value) {
  if (from == to) return value;
  BruteValue out = value;
  if (is_packed(to) && is_float(to)) {
    // The neighbours of an undecided number are far away.
    double f = value.f;
    if (!is_float(from))
      f = from == DataType::u64 ? static_cast<double>(static_cast<uint64_t>(value.i))
                                : static_cast<double>(value.i);
    const double bound = is_float(from) ? value.bound : 0;
    out = exact(round_to(to, f));
    const double low = round_to(to, f - bound), high = round_to(to, f + bound);
    out.skip = value.skip || (bound > 0 && (!(low == out.f) || !(high == out.f)));
    return out;
  }
  if (is_float(to)) {
    if (is_float(from))
      return byte_size(to) < byte_size(from) || to != DataType::fp64 ? rounded(to, value) : value;
    double f = from == DataType::u64 ? static_cast<double>(static_cast<uint64_t>(value.i))
                                     : static_cast<double>(value.i);
    out = exact(f);
    out.skip = value.skip;
    return rounded(to, out);
  }
  if (is_float(from)) {
    if (to == DataType::boolean) {
      out.i = value.f != 0;
      if (value.bound > 0 && std::fabs(value.f) <= value.bound) out.skip = true;
    } else {
      double low = std::trunc(value.f - value.bound), high = std::trunc(value.f + value.bound);
      if (low != high) out.skip = true;
      out.i = convert(Scalar::of_float(DataType::fp64, value.f), to).i;
    }
    out.f = out.bound = 0;
    return out;
  }
  out.i = to == DataType::boolean ? value.i != 0 : wrap_to(to, value.i);
  return out;
}

// Operands are of `type` (a compute type).
BruteValue apply(const std::string& op, DataType type, const BruteValue& a, const BruteValue& b) {
  BruteValue out;
  out.skip = a.skip || b.skip;
  if (op.rfind("cmp_", 0) == 0) {
    int order;
    if (is_float(type)) {
      double distance = std::fabs(a.f - b.f);
      if (distance <= a.bound + b.bound && a.bound + b.bound > 0) out.skip = true;
      order = a.f < b.f ? -1 : a.f > b.f ? 1 : 0;
    } else if (type == DataType::u64) {
      auto x = static_cast<uint64_t>(a.i), y = static_cast<uint64_t>(b.i);
      order = x < y ? -1 : x > y ? 1 : 0;
    } else {
      order = a.i < b.i ? -1 : a.i > b.i ? 1 : 0;
    }
    out.i = op == "cmp_lt"   ? order < 0
            : op == "cmp_gt" ? order > 0
            : op == "cmp_le" ? order <= 0
            : op == "cmp_ge" ? order >= 0
            : op == "cmp_eq" ? order == 0
                             : order != 0;
    return out;
  }
  if (is_float(type)) {
    if (op == "add" || op == "sub") {
      out.f = op == "add" ? a.f + b.f : a.f - b.f;
      out.bound = a.bound + b.bound;
    } else if (op == "mul") {
      out.f = a.f * b.f;
      out.bound = std::fabs(a.f) * b.bound + std::fabs(b.f) * a.bound + a.bound * b.bound;
    } else if (op == "div") {
      if (std::fabs(b.f) <= 2 * b.bound || b.f == 0) {
        out.skip = true;
        return out;
      }
      out.f = a.f / b.f;
      out.bound = (a.bound + std::fabs(out.f) * b.bound) / (std::fabs(b.f) - b.bound);
    } else {  // max, min
      bool first = op == "max" ? a.f >= b.f : a.f <= b.f;
      out.f = first ? a.f : b.f;
      out.bound = std::max(a.bound, b.bound);
      return out;
    }
    return rounded(type, out);
  }
  const bool is_unsigned = is_unsigned_integer(type) || type == DataType::boolean;
  auto ua = static_cast<uint64_t>(a.i), ub = static_cast<uint64_t>(b.i);
  int64_t value = 0;
  if (op == "add")
    value = static_cast<int64_t>(ua + ub);
  else if (op == "sub")
    value = static_cast<int64_t>(ua - ub);
  else if (op == "mul")
    value = static_cast<int64_t>(ua * ub);
  else if (op == "div" || op == "mod") {
    bool div = op == "div";
    if (b.i == 0)
      value = 0;
    else if (is_unsigned)
      value = static_cast<int64_t>(div ? ua / ub : ua % ub);
    else if (b.i == -1)
      value = div ? static_cast<int64_t>(-ua) : 0;
    else
      value = div ? a.i / b.i : a.i % b.i;
  } else if (op == "max" || op == "min") {
    bool less = is_unsigned ? ua < ub : a.i < b.i;
    value = (op == "max") == less ? b.i : a.i;
  } else if (op == "bit_and")
    value = a.i & b.i;
  else if (op == "bit_or")
    value = a.i | b.i;
  else if (op == "bit_xor")
    value = a.i ^ b.i;
  else
    STRIA_CHECK(false, "brute force lacks '{}'", op);
  out.i = wrap_to(type, value);
  return out;
}

class Evaluator {
 public:
  explicit Evaluator(const GeneratedProgram& program) {
    for (size_t n = 0; n < program.inputs.size(); ++n) {
      Tensor tensor{program.inputs[n].type, program.inputs[n].sizes, {}};
      for (const Scalar& value : program.input_values[n]) {
        BruteValue brute;
        if (is_float(tensor.type))
          brute.f = value.f;
        else
          brute.i = value.i;
        tensor.values.push_back(brute);
      }
      tensors_[program.inputs[n].name] = tensor;
    }
    for (size_t s = 0; s < program.statements.size(); ++s) {
      Tensor out{program.tensors[s].type, program.tensors[s].sizes, {}};
      out.values.resize(static_cast<size_t>(dense_shape(out.type, out.sizes).element_count()));
      if (const auto* c = std::get_if<GeneratedContraction>(&program.statements[s])) {
        contract(*c, out);
      } else if (const auto* special = std::get_if<GeneratedSpecial>(&program.statements[s])) {
        if (special->function == "gather") gather(*special, out);
        if (special->function == "scatter") scatter(*special, out);
        if (special->function == "index") index(*special, out);
        if (special->function.starts_with("prng_")) random(*special, out);
      } else {
        const auto& e = std::get<GeneratedElementwise>(program.statements[s]);
        elementwise(e.value, out);
      }
      tensors_[program.tensors[s].name] = std::move(out);
    }
  }
  Tensors take() { return std::move(tensors_); }

 private:
  using Point = std::map<std::string, int64_t>;

  // A box that holds every valid assignment, by interval arithmetic on all rules until it settles.
  static std::map<std::string, Interval> bounding_box(const GeneratedContraction& c,
                                                      const Tensors& tensors) {
    struct Rule {
      Affine form;
      int64_t lower, upper;
    };
    std::vector<Rule> rules;
    auto add = [&](const std::vector<GeneratedForm>& dims, const std::vector<int64_t>& sizes) {
      for (size_t d = 0; d < dims.size(); ++d)
        rules.push_back({dims[d].form, 0, (sizes[d] - 1) * dims[d].divisor});
    };
    add(c.out_dims, c.sizes);
    for (const GeneratedAccess& operand : c.operands)
      add(operand.dims, tensors.at(operand.tensor).sizes);
    for (const auto& [form, bound] : c.constraints) rules.push_back({form, 0, bound - 1});
    constexpr int64_t kFar = int64_t{1} << 40;
    std::map<std::string, Interval> box;
    for (const Rule& rule : rules)
      for (const auto& term : rule.form.terms()) box[term.first] = {-kFar, kFar};
    for (int round = 0; round < 50; ++round) {
      for (const Rule& rule : rules) {
        for (const auto& [name, k] : rule.form.terms()) {
          Affine rest = rule.form - Affine::of(name, k);
          Interval other = interval_of(rest, box);
          // lower - other.upper <= k * name <= upper - other.lower
          int64_t low = rule.lower - other.upper, high = rule.upper - other.lower;
          Interval& range = box[name];
          int64_t a = k > 0 ? ceil_div(low, k) : ceil_div(-high, -k);
          int64_t b = k > 0 ? floor_div(high, k) : floor_div(-low, -k);
          range.lower = std::max(range.lower, a);
          range.upper = std::min(range.upper, b);
          if (range.empty()) return {};
        }
      }
    }
    for (const auto& [name, range] : box)
      STRIA_CHECK(range.upper - range.lower < 100000,
                  "index {} of a generated program has no bound", name);
    return box;
  }

  static bool locate(const std::vector<GeneratedForm>& dims, const std::vector<int64_t>& sizes,
                     const Point& point, size_t* offset) {
    size_t flat = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      int64_t value = dims[d].form.evaluate(point);
      if (value % dims[d].divisor != 0) return false;
      value /= dims[d].divisor;
      if (value < 0 || value >= sizes[d]) return false;
      flat = flat * static_cast<size_t>(sizes[d]) + static_cast<size_t>(value);
    }
    *offset = flat;
    return true;
  }

  void contract(const GeneratedContraction& c, Tensor& out) {
    // What each element gets: the combined values, in the type they are aggregated in.
    const DataType agg_type = compute_type(out.type);
    std::vector<std::vector<BruteValue>> terms(out.values.size());
    std::map<std::string, Interval> box = bounding_box(c, tensors_);
    std::vector<std::string> names;
    bool none = box.empty();
    bool has_index = false;
    auto note = [&](const std::vector<GeneratedForm>& dims) {
      for (const GeneratedForm& dim : dims) has_index |= !dim.form.is_constant();
    };
    note(c.out_dims);
    for (const GeneratedAccess& operand : c.operands) note(operand.dims);
    if (none && !has_index) none = false;
    Point point;
    for (const auto& [name, range] : box) {
      names.push_back(name);
      point[name] = range.lower;
    }
    while (!none) {
      visit(c, out, agg_type, point, terms);
      size_t k = names.size();
      while (k > 0) {
        --k;
        if (++point[names[k]] <= box[names[k]].upper) break;
        point[names[k]] = box[names[k]].lower;
        if (k == 0) none = true;
      }
      if (names.empty()) none = true;
    }
    for (size_t e = 0; e < terms.size(); ++e) {
      if (terms[e].empty()) {
        if (!c.default_tensor.empty()) out.values[e] = tensors_.at(c.default_tensor).values[e];
        continue;
      }
      out.values[e] = converted(agg_type, out.type, aggregate(c.agg, agg_type, terms[e]));
    }
  }

  void visit(const GeneratedContraction& c, const Tensor& out, DataType agg_type,
             const Point& point, std::vector<std::vector<BruteValue>>& terms) {
    for (const auto& [form, bound] : c.constraints) {
      int64_t value = form.evaluate(point);
      if (value < 0 || value >= bound) return;
    }
    size_t target;
    if (!locate(c.out_dims, out.sizes, point, &target)) return;
    std::vector<BruteValue> operands;
    std::vector<DataType> types;
    for (const GeneratedAccess& access : c.operands) {
      const Tensor& tensor = tensors_.at(access.tensor);
      size_t offset;
      if (!locate(access.dims, tensor.sizes, point, &offset)) return;
      operands.push_back(tensor.values[offset]);
      types.push_back(tensor.type);
    }
    BruteValue value;
    if (c.comb.empty()) {
      value = converted(types[0], agg_type, operands[0]);
    } else if (c.comb == "==" || c.comb == "?") {
      BruteValue same = apply("cmp_eq", compute_type(types[0]), operands[0], operands[1]);
      if (c.comb == "==") {
        value = converted(DataType::boolean, agg_type, same);
      } else {
        value = same.i ? converted(types[2], agg_type, operands[2]) : BruteValue{};
        value.skip |= same.skip || operands[2].skip;
      }
    } else {
      BruteValue a = converted(types[0], agg_type, operands[0]),
                 b = converted(types[1], agg_type, operands[1]);
      value = apply(c.comb == "+" ? "add" : "mul", agg_type, a, b);
    }
    terms[target].push_back(value);
  }

  static BruteValue aggregate(char agg, DataType type, const std::vector<BruteValue>& terms) {
    BruteValue out = terms[0];
    if (agg == '=') {
      STRIA_CHECK(terms.size() == 1, "an assignment of a generated program collides");
      return out;
    }
    if (agg == '>' || agg == '<') {
      for (size_t t = 1; t < terms.size(); ++t)
        out = apply(agg == '>' ? "max" : "min", type, out, terms[t]);
      return out;
    }
    if (!is_float(type)) {
      for (size_t t = 1; t < terms.size(); ++t)
        out = apply(agg == '+' ? "add" : "mul", type, out, terms[t]);
      return out;
    }
    const double u = unit_roundoff(type), n = static_cast<double>(terms.size());
    // Wider than any type under test, so that only the device's rounding is left in the bound.
    long double sum = 0, bound = 0, magnitude = 0, product = 1, upper = 1;
    bool skip = false;
    for (const BruteValue& term : terms) {
      sum += term.f;
      bound += term.bound;
      magnitude += std::fabs(term.f) + term.bound;
      product *= term.f;
      upper *= (std::fabs(term.f) + static_cast<long double>(term.bound)) *
               (1 + static_cast<long double>(u));
      skip |= term.skip;
    }
    out.f = static_cast<double>(agg == '+' ? sum : product);
    out.bound = static_cast<double>(agg == '+' ? bound + (n + 1) * u * magnitude * 1.01L
                                               : (upper - std::fabs(product)) * 1.01L +
                                                     n * smallest_step(type));
    out.skip = skip || !(std::fabs(out.f) + out.bound < largest(type) / 2);
    // A partial product may leave the range even where the whole one does not.
    if (agg == '*') {
      double partial = 1;
      for (const BruteValue& term : terms) partial *= std::max(1.0, std::fabs(term.f));
      if (!(partial < largest(type) / 2)) out.skip = true;
    }
    return out;
  }

  // What an index element says, which of 64 unsigned bits may be a huge number.
  static double coordinate(const Tensor& index, size_t n) {
    const int64_t i = index.values[n].i;
    return index.type == DataType::u64 ? static_cast<double>(static_cast<uint64_t>(i))
                                       : static_cast<double>(i);
  }

  void gather(const GeneratedSpecial& s, Tensor& out) {
    const Tensor& data = tensors_.at(s.operands[0]);
    const Tensor& index = tensors_.at(s.operands[1]);
    const size_t row = data.values.size() / static_cast<size_t>(data.sizes[0]);
    for (size_t n = 0; n < index.values.size(); ++n) {
      const double last = static_cast<double>(data.sizes[0] - 1);
      const auto at = static_cast<size_t>(std::min(std::max(coordinate(index, n), 0.0), last));
      for (size_t d = 0; d < row; ++d) {
        out.values[n * row + d] = data.values[at * row + d];
        out.values[n * row + d].skip |= index.values[n].skip;
      }
    }
  }

  void scatter(const GeneratedSpecial& s, Tensor& out) {
    const Tensor& from = tensors_.at(s.operands[0]);
    const Tensor& index = tensors_.at(s.operands[1]);
    const DataType type = compute_type(out.type);
    const size_t row = out.values.size() / static_cast<size_t>(out.sizes[0]);
    bool skip = false;
    std::vector<std::vector<BruteValue>> terms(out.values.size());
    for (size_t n = 0; n < index.values.size(); ++n) {
      skip |= index.values[n].skip;
      const double at = coordinate(index, n);
      if (at < 0 || at >= static_cast<double>(out.sizes[0])) continue;
      for (size_t d = 0; d < row; ++d)
        terms[static_cast<size_t>(at) * row + d].push_back(
            converted(from.type, type, from.values[n * row + d]));
    }
    for (size_t e = 0; e < terms.size(); ++e) {
      if (!terms[e].empty())
        out.values[e] = converted(type, out.type, aggregate('+', type, terms[e]));
      out.values[e].skip |= skip;
    }
  }

  void index(const GeneratedSpecial& s, Tensor& out) {
    size_t inside = 1;
    for (size_t d = static_cast<size_t>(s.numbers[0]) + 1; d < out.sizes.size(); ++d)
      inside *= static_cast<size_t>(out.sizes[d]);
    const auto size = static_cast<size_t>(out.sizes[static_cast<size_t>(s.numbers[0])]);
    for (size_t e = 0; e < out.values.size(); ++e)
      out.values[e].i = static_cast<int64_t>(e / inside % size);
  }

  void random(const GeneratedSpecial& s, Tensor& out) {
    std::vector<uint32_t> state;
    for (const BruteValue& word : tensors_.at(s.operands[0]).values)
      state.push_back(static_cast<uint32_t>(word.i));
    size_t count = 1;
    for (int64_t size : s.numbers) count *= static_cast<size_t>(size);
    for (size_t p = 0; p < count; ++p) {
      uint32_t* word = state.data() + p % 2048;
      const auto step = [&](size_t w, int near, int back, int far, uint32_t mask) {
        uint32_t& z = word[2048 * w];
        z = ((z & mask) << far) ^ (((z << near) ^ z) >> back);
      };
      step(0, 13, 19, 12, ~uint32_t{1});
      step(1, 2, 25, 4, ~uint32_t{7});
      step(2, 3, 11, 17, ~uint32_t{15});
      if (s.function == "prng_value")
        out.values[p].f = ((word[0] ^ word[2048] ^ word[4096]) >> 8) / 16777216.0;
    }
    if (s.function == "prng_state")
      for (size_t e = 0; e < state.size(); ++e) out.values[e].i = state[e];
  }

  void elementwise(const GeneratedExpr& e, Tensor& out) {
    for (size_t flat = 0; flat < out.values.size(); ++flat) {
      std::vector<int64_t> at(out.sizes.size());
      size_t rest = flat;
      for (size_t d = out.sizes.size(); d-- > 0;) {
        at[d] = static_cast<int64_t>(rest % static_cast<size_t>(out.sizes[d]));
        rest /= static_cast<size_t>(out.sizes[d]);
      }
      BruteValue value = evaluate(e, at);
      out.values[flat] = converted(compute_type(e.type), out.type, value);
    }
  }

  // In the compute type of e.type.
  BruteValue evaluate(const GeneratedExpr& e, const std::vector<int64_t>& at) {
    const DataType type = compute_type(e.type);
    if (e.op == "literal") {
      BruteValue value;
      if (is_float(e.type)) return rounded(type, exact(std::round(e.literal * 1e4) / 1e4));
      value.i = wrap_to(e.type, static_cast<int64_t>(e.literal));
      return value;
    }
    if (e.op == "tensor") {
      const Tensor& tensor = tensors_.at(e.tensor);
      size_t flat = 0, skip = at.size() - tensor.sizes.size();
      for (size_t d = 0; d < tensor.sizes.size(); ++d) {
        int64_t c = tensor.sizes[d] == 1 ? 0 : at[skip + d];
        flat = flat * static_cast<size_t>(tensor.sizes[d]) + static_cast<size_t>(c);
      }
      return tensor.values[flat];
    }
    std::vector<BruteValue> args;
    for (const GeneratedExpr& arg : e.args) args.push_back(evaluate(arg, at));
    if (e.op == "cond") {
      BruteValue value = args[0].i ? args[1] : args[2];
      value.skip |= args[0].skip;
      return value;
    }
    const DataType operand = compute_type(e.args[0].type);
    if (e.op == "neg") {
      if (is_float(type)) {
        args[0].f = -args[0].f;
        return args[0];
      }
      return apply("sub", type, BruteValue{}, args[0]);
    }
    if (e.op == "abs") {
      if (is_float(type)) {
        args[0].f = std::fabs(args[0].f);
        return args[0];
      }
      return args[0].i < 0 && !is_unsigned_integer(type) ? apply("sub", type, BruteValue{}, args[0])
                                                         : args[0];
    }
    if (e.op == "as_int32") return converted(operand, DataType::i32, args[0]);
    if (e.op == "as_float32") return converted(operand, DataType::fp32, args[0]);
    if (e.op == "as_packed") return converted(operand, e.type, args[0]);
    if (e.op == "sqrt") {
      BruteValue value;
      value.skip = args[0].skip || args[0].f < args[0].bound;
      value.f = std::sqrt(std::max(args[0].f, 0.0));
      value.bound = args[0].f > 0 ? args[0].bound / value.f : 0;
      return rounded(type, rounded(type, value));
    }
    return apply(e.op, operand, args[0], args[1]);
  }

  Tensors tensors_;
};

}  // namespace

std::map<std::string, std::vector<BruteValue>> brute_force(const GeneratedProgram& program) {
  std::map<std::string, std::vector<BruteValue>> out;
  for (auto& [name, tensor] : Evaluator(program).take()) out[name] = std::move(tensor.values);
  return out;
}

std::optional<std::string> mismatch(DataType type, const BruteValue& expected, const Scalar& got) {
  if (expected.skip) return std::nullopt;
  if (!is_float(type)) {
    if (got.i == expected.i) return std::nullopt;
    return fmt::format("expected {}, got {}", expected.i, to_string(got));
  }
  if (got.f == expected.f || (std::isnan(got.f) && std::isnan(expected.f))) return std::nullopt;
  if (std::fabs(got.f - expected.f) <= expected.bound * 1.0001) return std::nullopt;
  return fmt::format("expected {} within {}, got {}", expected.f, expected.bound, got.f);
}

}  // namespace stria::differential
