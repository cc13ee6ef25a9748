// SPDX-License-Identifier: Apache-2.0
#include "numbers/program_generator.h"

#include <algorithm>
#include <set>

#include "stria/base/text.h"
#include "stria/builtins/builtin.h"

namespace stria::conformance {
namespace {

struct Tensor {
  std::string name;
  DataType type = DataType::fp32;
  std::vector<int64_t> sizes;
};

struct Index {
  std::string name;
  int64_t extent = 1;
  bool reduced = false;  // in no dimension of the output
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : seed_(seed), state_(seed * 0x9e3779b97f4a7c15 + 77) {
    main_type_ = static_cast<DataType>(seed / 25 % kDataTypeCount);
  }

  TestProgram run() {
    const int64_t statements = pick(1, 4);
    for (int64_t s = 0; s < statements; ++s) {
      if (s == 0 || chance(50))
        contraction(s == 0);
      else if (chance(75))
        elementwise();
      else
        special();
    }
    for (const Tensor& tensor : results_)
      if (read_.count(tensor.name) == 0) program_.outputs.push_back(tensor.name);
    program_.random = true;
    return std::move(program_);
  }

 private:
  uint64_t next() {  // splitmix64
    uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  template <typename T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<size_t>(pick(0, static_cast<int64_t>(all.size()) - 1))];
  }

  // ---- tensors

  Tensor new_input(DataType type, std::vector<int64_t> sizes, Values values) {
    TestInput input;
    input.name = fmt::format("I{}", program_.inputs.size());
    input.type = type;
    input.sizes = sizes;
    input.values = values;
    input.seed = static_cast<uint32_t>(seed_ * 16 + program_.inputs.size());
    input.constant = chance(25);
    program_.inputs.push_back(input);
    program_.parameters.push_back(input.name);
    return {input.name, type, std::move(sizes)};
  }
  void add_result(const Tensor& tensor, const std::string& statement) {
    program_.body += "  " + statement + ";\n";
    results_.push_back(tensor);
  }
  std::string result_name() const { return fmt::format("T{}", results_.size()); }

  // An earlier result of this type and rank; null if there is none, or none is wanted.
  const Tensor* earlier(DataType type, size_t rank) {
    std::vector<const Tensor*> fits;
    for (const Tensor& tensor : results_)
      if (tensor.type == type && tensor.sizes.size() == rank) fits.push_back(&tensor);
    if (fits.empty() || !chance(70)) return nullptr;
    const Tensor* found = one_of(fits);
    read_.insert(found->name);
    return found;
  }

  // ---- contractions

  void contraction(bool first) {
    static const std::vector<std::string> kAggregations = {"+", "*", ">", "<", "="};
    static const std::vector<std::string> kCombinations = {"", "+", "*", "==", "?"};
    const std::string aggregation = first ? kAggregations[seed_ % 5] : one_of(kAggregations);
    const std::string combination = first ? kCombinations[seed_ / 5 % 5] : one_of(kCombinations);
    const DataType type =
        first || chance(70) ? main_type_ : static_cast<DataType>(pick(0, kDataTypeCount - 1));
    indices_.clear();
    constraints_.clear();
    const int64_t rank = pick(0, 3);
    const int64_t reduced = aggregation == "=" ? 0 : pick(rank == 0 ? 1 : 0, 2);
    for (int64_t n = 0; n < rank + reduced; ++n)
      indices_.push_back({std::string(1, static_cast<char>('i' + n)),
                          n < rank ? pick(1, rank > 2 ? 5 : 9) : pick(1, 7), n >= rank});

    Tensor out{result_name(), type, {}};
    std::vector<std::string> forms;
    for (int64_t d = 0; d < rank; ++d) forms.push_back(output_form(d, out.sizes));
    const size_t count = combination.empty() ? 1 : combination == "?" ? 3 : 2;
    const Values values = aggregation == "*"                          ? Values::near_one
                          : combination == "==" || combination == "?" ? Values::few
                                                                      : Values::plain;
    std::vector<std::string> operands;
    for (size_t o = 0; o < count; ++o) operands.push_back(operand(type, values, o, count));
    std::string body = operands[0];
    if (combination == "?")
      body += fmt::format(" == {} ? {}", operands[1], operands[2]);
    else if (!combination.empty())
      body += fmt::format(" {} {}", combination, operands[1]);
    if (indices_.size() >= 2 && chance(20))
      constraints_.push_back(fmt::format("{} - {} + {} < {}", one_of(indices_).name,
                                         indices_[0].name, pick(0, 2), pick(1, 6)));
    std::string text =
        fmt::format("{}[{}{}{}] = {}({})", out.name, join(forms, ", "), rank == 0 ? "" : " : ",
                    sizes_text(out.sizes), aggregation, body);
    for (const std::string& constraint : constraints_) text += ", " + constraint;
    out.type = contraction_type(type, aggregation, combination);
    if (chance(15)) text += " default " + new_input(out.type, out.sizes, Values::plain).name;
    add_result(out, text);
  }

  // T8 to T12 of docs/semantics/types.md.
  static DataType contraction_type(DataType type, const std::string& aggregation,
                                   const std::string& combination) {
    const auto widened = [](DataType of) {
      return of == DataType::boolean ? DataType::i32 : is_integer(of) ? accumulation_type(of) : of;
    };
    if (combination == "+" || combination == "*") type = widened(type);
    if (combination == "==") type = DataType::boolean;
    return aggregation == "+" || aggregation == "*" ? widened(type) : type;
  }

  static std::string sizes_text(const std::vector<int64_t>& sizes) {
    return fmt::format("{}", fmt::join(sizes, ", "));
  }

  // One dimension of the output: index number `d`, in steps, backwards or with an offset.
  std::string output_form(int64_t d, std::vector<int64_t>& sizes) {
    const Index& index = indices_[static_cast<size_t>(d)];
    const int64_t last = index.extent - 1;
    if (chance(10)) {
      sizes.push_back(last + 1);
      return fmt::format("{} - {}", last, index.name);
    }
    const int64_t step = chance(80) ? 1 : pick(2, 3);
    const int64_t offset = chance(20) ? pick(0, 2) : 0;
    sizes.push_back(
        std::max<int64_t>(1, step * last + 1 + offset + (chance(25) ? pick(-1, 2) : 0)));
    return fmt::format("{} * {} + {}", step, index.name, offset);
  }

  std::string operand(DataType type, Values values, size_t number, size_t count) {
    std::vector<std::string> forms;
    std::vector<int64_t> sizes;
    for (size_t n = 0; n < indices_.size(); ++n) {
      // Every index occurs in one operand at least.
      if (n % count != number && !chance(35)) continue;
      const Index& index = indices_[n];
      const int64_t step = chance(80) ? 1 : 2;
      const int64_t offset = chance(25) ? pick(-2, 1) : 0;
      int64_t reach = step * (index.extent - 1) + 1;
      std::string form = fmt::format("{} * {} + {}", step, index.name, offset);
      if (indices_.size() > 1 && chance(25)) {
        const Index& other = one_of(indices_);
        if (other.name != index.name) {
          form += " + " + other.name;
          reach += chance(50) ? other.extent - 1 : 0;
          // Each of the two needs a bound of its own.
          for (const Index* bounded : {&index, &other})
            constraints_.push_back(fmt::format("{} < {}", bounded->name, bounded->extent));
        }
      }
      forms.push_back(std::move(form));
      sizes.push_back(std::max<int64_t>(1, reach + (chance(30) ? pick(-1, 2) : 0)));
    }
    if (forms.empty()) {
      forms.emplace_back("0");
      sizes.push_back(pick(1, 2));
    }
    const Tensor* found = earlier(type, sizes.size());
    const Tensor tensor = found ? *found : new_input(type, sizes, values);
    return fmt::format("{}[{}]", tensor.name, join(forms, ", "));
  }

  // ---- elementwise

  void elementwise() {
    const Tensor base = one_of(results_);
    read_.insert(base.name);
    auto [text, type] = expression(base, 2);
    // A result that is a bare tensor would be no operation.
    text = fmt::format("ident({})", text);
    add_result({result_name(), type, base.sizes}, fmt::format("{} = {}", result_name(), text));
  }

  // Over tensors of the sizes of `base`, or that broadcast to them.
  std::pair<std::string, DataType> expression(const Tensor& base, int depth) {
    if (depth == 0 || chance(15)) return leaf(base);
    static const std::vector<std::string> kFunctions = {
        "add",   "sub",    "mul",    "max",  "min",        "div",     "mod",         "neg",
        "abs",   "cmp_lt", "cmp_ge", "cond", "bit_and",    "bit_xor", "bit_left",    "bit_right",
        "floor", "relu",   "tanh",   "exp",  "logical_or", "bit_not", "logical_not", "sigmoid"};
    for (int attempt = 0; attempt < 20; ++attempt) {
      const Builtin& function = *find_builtin(one_of(kFunctions));
      std::vector<std::string> texts;
      std::vector<DataType> types;
      for (int a = 0; a < function.arity; ++a) {
        auto [text, type] = a == 0 ? expression(base, depth - 1) : leaf(base);
        texts.push_back(std::move(text));
        types.push_back(type);
      }
      const auto call = call_types(function, types);
      if (call.ok()) return {fmt::format("{}({})", function.name, join(texts, ", ")), call->result};
    }
    return leaf(base);
  }

  std::pair<std::string, DataType> leaf(const Tensor& base) {
    if (chance(50)) return {base.name, base.type};
    for (const Tensor& tensor : results_)
      if (tensor.sizes == base.sizes && chance(50)) {
        read_.insert(tensor.name);
        return {tensor.name, tensor.type};
      }
    std::vector<int64_t> sizes = base.sizes;
    for (int64_t& size : sizes)
      if (chance(25)) size = 1;
    if (!sizes.empty() && chance(20)) sizes.erase(sizes.begin());
    const DataType type = chance(80) ? base.type : main_type_;
    return {new_input(type, sizes, Values::plain).name, type};
  }

  // ---- other functions

  void special() {
    const Tensor base = one_of(results_);
    read_.insert(base.name);
    if (base.sizes.empty() || chance(30)) {
      int64_t count = 1;
      for (const int64_t size : base.sizes) count *= size;
      add_result({result_name(), base.type, {count}},
                 fmt::format("{} = reshape({}, {})", result_name(), base.name, count));
      return;
    }
    TestInput input;
    const int64_t rows = pick(1, 9);
    const Tensor chosen = new_input(DataType::i32, {rows}, Values::index);
    program_.inputs.back().limit = base.sizes[0];
    std::vector<int64_t> sizes = base.sizes;
    sizes[0] = rows;
    add_result({result_name(), base.type, sizes},
               fmt::format("{} = {}({}, {})", result_name(),
                           chance(50) ? "gather" : "gather_or_zero", base.name, chosen.name));
  }

  const uint64_t seed_;
  uint64_t state_;
  DataType main_type_ = DataType::fp32;
  TestProgram program_;
  std::vector<Tensor> results_;
  std::set<std::string> read_;
  std::vector<Index> indices_;
  std::vector<std::string> constraints_;
};

}  // namespace

TestProgram generate_program(uint64_t seed) { return Generator(seed).run(); }

}  // namespace stria::conformance
