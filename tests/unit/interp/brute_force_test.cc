// SPDX-License-Identifier: Apache-2.0
// The interpreter against the plainest reading of the rules: every point of the box is visited,
// every constraint asked, every form evaluated by name, every scalar kept by name.
#include <cmath>
#include <cstring>

#include "random_leaf.h"
#include "stria/builtins/builtin.h"

namespace stria::interp {
namespace {

using namespace testing;

// One kernel of one level whose refinements are whole tensors of the program.
class BruteForce {
 public:
  BruteForce(const stripe::Block& kernel, std::map<std::string, Data>& data)
      : kernel_(kernel), data_(data) {}

  void run() {
    std::map<std::string, int64_t> point;
    for (const stripe::Index& index : kernel_.idxs) point[index.name] = 0;
    visit(0, point);
    for (const auto& [element, running] : running_) {
      Data& tensor = data_[element.first];
      store_scalar(tensor.shape.type, tensor.bytes.data(), element.second, running);
    }
  }

 private:
  void visit(size_t depth, std::map<std::string, int64_t>& point) {
    if (depth < kernel_.idxs.size()) {
      const stripe::Index& index = kernel_.idxs[depth];
      for (int64_t value = 0; value < index.range; ++value) {
        point[index.name] = value;
        visit(depth + 1, point);
      }
      return;
    }
    for (const Affine& constraint : kernel_.constraints)
      if (constraint.evaluate(point) < 0) return;
    std::map<std::string, Scalar> scalars;
    for (const stripe::Statement& stmt : kernel_.stmts) statement(stmt, point, scalars);
  }

  int64_t element(const stripe::Refinement& ref, const std::map<std::string, int64_t>& point) {
    int64_t at = 0;
    for (size_t d = 0; d < ref.access.size(); ++d)
      at += ref.access[d].evaluate(point) * ref.shape.dims[d].stride;
    return at;
  }

  void statement(const stripe::Statement& stmt, const std::map<std::string, int64_t>& point,
                 std::map<std::string, Scalar>& scalars) {
    if (auto* load = std::get_if<stripe::Load>(&stmt.op)) {
      const stripe::Refinement& ref = *kernel_.find_ref(load->from);
      scalars[load->into] = data_[ref.from].at(element(ref, point));
    } else if (auto* index = std::get_if<stripe::LoadIndex>(&stmt.op)) {
      scalars[index->into] = Scalar::of_int(index->type, index->from.evaluate(point));
    } else if (auto* constant = std::get_if<stripe::Constant>(&stmt.op)) {
      scalars[constant->into] = constant->value;
    } else if (auto* call = std::get_if<stripe::Intrinsic>(&stmt.op)) {
      const Builtin& builtin = *find_builtin(call->name);
      std::vector<Scalar> operands;
      for (size_t i = 0; i < call->inputs.size(); ++i)
        operands.push_back(convert(scalars[call->inputs[i]],
                                   operand_type(builtin, call->type, static_cast<int>(i))));
      scalars[call->outputs[0]] = builtin.reference(call->type, operands.data());
    } else if (auto* store = std::get_if<stripe::Store>(&stmt.op)) {
      const stripe::Refinement& ref = *kernel_.find_ref(store->into);
      const int64_t at = element(ref, point);
      Data& tensor = data_[ref.from];
      if (!ref.agg) {
        store_scalar(tensor.shape.type, tensor.bytes.data(), at, scalars[store->from]);
        return;
      }
      // Running values stand beside the tensor until the end.
      auto [it, first] = running_.try_emplace({ref.from, at});
      if (first)
        it->second = ref.dir == stripe::RefDir::inout ? convert(tensor.at(at), ref.agg->type)
                                                      : start(*ref.agg);
      const Scalar pair[] = {it->second, convert(scalars[store->from], ref.agg->type)};
      it->second = find_builtin(stripe::name_of(ref.agg->op))->reference(ref.agg->type, pair);
    }
  }

  static Scalar start(const stripe::Aggregation& agg) {
    const DataType t = agg.type;
    if (agg.op == stripe::AggOp::add) return convert(Scalar::of_bool(false), t);
    if (agg.op == stripe::AggOp::mul) return convert(Scalar::of_bool(true), t);
    const bool highest = agg.op == stripe::AggOp::min;
    if (t == DataType::boolean) return Scalar::of_bool(highest);
    if (is_float(t)) return Scalar::of_float(t, highest ? HUGE_VAL : -HUGE_VAL);
    if (is_unsigned_integer(t)) return Scalar::of_int(t, highest ? -1 : 0);
    const int64_t lowest = static_cast<int64_t>(~uint64_t{0} << (bit_width(t) - 1));
    return Scalar::of_int(t, highest ? ~lowest : lowest);
  }

  const stripe::Block& kernel_;
  std::map<std::string, Data>& data_;
  std::map<std::pair<std::string, int64_t>, Scalar> running_;
};

TEST(BruteForce, RandomLeafBlocks) {
  int compared = 0, written = 0;
  for (uint32_t seed = 0; seed < 2500; ++seed) {
    RandomLeaf leaf(seed);
    leaf.make();
    const stripe::Program program = parsed(leaf.text);
    if (HasFailure()) return;
    const stripe::Block& kernel = *program.main()->stmts[0].block();
    int64_t points = 1;
    for (const stripe::Index& index : kernel.idxs) points *= index.range;
    if (points > 2000) continue;
    auto interpreted = leaf.data, plain = leaf.data;
    const Status status = run(program, interpreted, {.need_all_outputs = false});
    ASSERT_TRUE(status.ok()) << status.to_string() << "\nseed " << seed << "\n" << leaf.text;
    BruteForce(kernel, plain).run();
    for (int64_t i = 0; i < plain["O"].shape.element_count(); ++i) {
      const Scalar got = interpreted["O"].at(i), want = plain["O"].at(i);
      if (is_float(got.type) && std::isnan(got.f) && std::isnan(want.f)) continue;
      ASSERT_EQ(std::memcmp(&got.i, &want.i, sizeof got.i), 0)
          << "element " << i << ": " << to_string(got) << " for " << to_string(want) << "\nseed "
          << seed << "\n"
          << leaf.text;
      written += to_string(want) != to_string(leaf.data["O"].at(i));
    }
    ++compared;
  }
  EXPECT_GT(compared, 1000);
  EXPECT_GT(written, 5000);
}

}  // namespace
}  // namespace stria::interp
