// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/kernel/kernel_nest.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "stria/builtins/builtin.h"
#include "stria/stripe/tags.h"

namespace stria::cost {
namespace {

using stripe::Block;
using stripe::Refinement;
using stripe::Statement;

// Points that stand for all where constraints are counted.
constexpr int kSamples = 256;

std::string name_of_loop(size_t loop) { return std::to_string(loop); }

// A view as the nest knows it.
struct View {
  size_t tensor = 0;
  Affine form;  // elements, over the names of loops
  std::optional<stripe::Aggregation> agg;
  stripe::Tags tags;
};
// What a scalar is.
struct Value {
  std::vector<bool> depends;
  bool product = false;  // a multiplication whose result nothing else needs so far
  size_t operation = 0;  // of the piece: that multiplication
};

class NestBuilder {
 public:
  KernelNest build(const Block& section, const Block& kernel) {
    std::map<std::string, View> views;
    for (const Refinement& ref : section.refs) views[ref.into] = add_tensor(ref, true);
    walk(kernel, {}, views, {}, {});
    for (NestPiece& piece : nest_.pieces)
      for (NestOperation& operation : piece.operations)
        operation.depends.resize(nest_.loops.size());
    return std::move(nest_);
  }

 private:
  View add_tensor(const Refinement& ref, bool outside) {
    NestTensor tensor;
    tensor.name = ref.into;
    if (!ref.location.empty()) tensor.memory = ref.location.path.back().name;
    tensor.element_bytes = byte_size(ref.shape.type);
    tensor.bytes = static_cast<double>(ref.shape.span_bytes());
    tensor.outside = outside;
    nest_.tensors.push_back(std::move(tensor));
    return {nest_.tensors.size() - 1, Affine(), std::nullopt, {}};
  }

  // `names`: the outer block's indices over the nest's loops.
  void walk(const Block& block, const std::map<std::string, Affine>& names,
            const std::map<std::string, View>& around, std::vector<size_t> loops,
            std::vector<Affine> constraints) {
    std::map<std::string, Affine> own;
    for (const stripe::Index& index : block.idxs) {
      Affine form = index.affine ? index.affine->substitute(names) : Affine();
      if (index.range > 1) {
        form += Affine::of(name_of_loop(nest_.loops.size()));
        loops.push_back(nest_.loops.size());
        nest_.loops.push_back(loop_of(block, index));
      }
      own[index.name] = std::move(form);
    }
    for (const Affine& constraint : block.constraints)
      constraints.push_back(constraint.substitute(own));
    std::map<std::string, View> views;
    for (const Refinement& ref : block.refs) {
      View view;
      if (ref.dir == stripe::RefDir::none) {
        view = add_tensor(ref, false);
      } else {
        const auto from = around.find(ref.from);
        if (from == around.end()) continue;  // the verifier refuses such a program
        view = from->second;
        view.form += ref.flat_access().substitute(own);
        if (!view.agg) view.agg = ref.agg;
        for (const stripe::Tag& tag : ref.tags.all()) view.tags.set(tag.name, tag.value);
      }
      views[ref.into] = std::move(view);
    }
    add_piece(block, views, own, loops, constraints);
    for (const Statement& stmt : block.stmts)
      if (const Block* inner = stmt.block()) walk(*inner, own, views, loops, constraints);
  }

  static NestLoop loop_of(const Block& block, const stripe::Index& index) {
    NestLoop loop;
    loop.range = static_cast<double>(index.range);
    loop.lanes = block.tags.has(stripe::tag::kVector);
    loop.unrolled = block.tags.has(stripe::tag::kUnroll);
    loop.parallel = block.tags.has(stripe::tag::kParallel);
    for (const stripe::LocationUnit& unit : block.location.path) {
      loop.unit = unit.name;
      for (const Affine& at : unit.units) loop.parallel = loop.parallel || at.uses(index.name);
    }
    return loop;
  }

  void add_piece(const Block& block, const std::map<std::string, View>& views,
                 const std::map<std::string, Affine>& own, const std::vector<size_t>& loops,
                 const std::vector<Affine>& constraints) {
    NestPiece piece;
    piece.loops = loops;
    piece.part = part_of(constraints, loops);
    for (size_t loop : loops)
      if (nest_.loops[loop].lanes) piece.lanes = static_cast<int64_t>(nest_.loops[loop].range);
    std::map<std::string, Value> values;
    for (const Statement& stmt : block.stmts) {
      if (stripe::is_barrier(stmt)) piece.barrier = true;
      add_statement(stmt, views, own, values, piece);
    }
    if (!piece.operations.empty() || piece.barrier) nest_.pieces.push_back(std::move(piece));
  }

  void add_statement(const Statement& stmt, const std::map<std::string, View>& views,
                     const std::map<std::string, Affine>& own, std::map<std::string, Value>& values,
                     NestPiece& piece) {
    NestOperation operation;
    operation.depends.resize(nest_.loops.size());
    const auto depend_on = [&](const std::string& scalar) {
      const auto value = values.find(scalar);
      if (value == values.end()) return;
      for (size_t i = 0; i < value->second.depends.size(); ++i)
        if (value->second.depends[i]) operation.depends[i] = true;
    };
    if (const auto* load = std::get_if<stripe::Load>(&stmt.op)) {
      access(views, load->from, load->at, operation, false);
      for (const std::string& at : load->at) depend_on(at);
      values[load->into] = {operation.depends};
      piece.operations.push_back(std::move(operation));
    } else if (const auto* store = std::get_if<stripe::Store>(&stmt.op)) {
      access(views, store->into, store->at, operation, true);
      const auto view = views.find(store->into);
      if (operation.access.adds && view != views.end())
        add_up(values, *store, *view->second.agg, operation.depends, piece);
      depend_on(store->from);
      for (const std::string& at : store->at) depend_on(at);
      piece.operations.push_back(std::move(operation));
    } else if (const auto* index = std::get_if<stripe::LoadIndex>(&stmt.op)) {
      const Affine form = index->from.substitute(own);
      for (const auto& [name, coefficient] : form.terms())
        operation.depends[std::stoul(name)] = true;
      operation.type = index->type;
      values[index->into] = {operation.depends};
      piece.operations.push_back(std::move(operation));
    } else if (const auto* constant = std::get_if<stripe::Constant>(&stmt.op)) {
      values[constant->into] = {operation.depends};
    } else if (const auto* call = std::get_if<stripe::Intrinsic>(&stmt.op)) {
      for (const std::string& input : call->inputs) {
        depend_on(input);
        if (const auto value = values.find(input); value != values.end())
          value->second.product = false;
      }
      operation.type = call->type;
      const Builtin* builtin = find_builtin(call->name);
      operation.instructions = builtin ? static_cast<double>(builtin->cost) : 1;
      for (const std::string& output : call->outputs)
        values[output] = {operation.depends, call->name == "mul", piece.operations.size()};
      piece.operations.push_back(std::move(operation));
    }
  }

  // The sum of an aggregation; a product becomes a part of it.
  void add_up(std::map<std::string, Value>& values, const stripe::Store& store,
              const stripe::Aggregation& agg, const std::vector<bool>& depends, NestPiece& piece) {
    const auto value = values.find(store.from);
    if (value != values.end() && value->second.product && agg.op == stripe::AggOp::add) {
      NestOperation& product = piece.operations[value->second.operation];
      product.kind = NestOperation::Kind::multiply_add;
      product.type = agg.type;
      value->second.product = false;
      return;
    }
    NestOperation sum;
    sum.type = agg.type;
    sum.depends = depends;
    if (value != values.end())
      for (size_t i = 0; i < value->second.depends.size(); ++i)
        if (value->second.depends[i]) sum.depends[i] = true;
    piece.operations.push_back(std::move(sum));
  }

  static void access(const std::map<std::string, View>& views, const std::string& name,
                     const stripe::ChosenCoordinates& at, NestOperation& operation, bool stores) {
    operation.kind = NestOperation::Kind::access;
    operation.access.stores = stores;
    operation.access.chosen = std::any_of(
        at.begin(), at.end(), [](const std::string& scalar) { return !scalar.empty(); });
    const auto found = views.find(name);
    if (found == views.end()) return;
    const View& view = found->second;
    operation.access.tensor = view.tensor;
    operation.access.adds = stores && view.agg.has_value();
    operation.access.streamed = view.tags.has(stripe::tag::kStream);
    for (const auto& [loop, stride] : view.form.terms()) {
      operation.access.form.emplace_back(std::stoul(loop), stride);
      operation.depends[std::stoul(loop)] = true;
    }
  }

  // A sequence that fills the box evenly: the multiples of numbers that no fraction comes near.
  double part_of(const std::vector<Affine>& constraints, const std::vector<size_t>& loops) const {
    if (constraints.empty()) return 1;
    int inside = 0;
    for (int sample = 0; sample < kSamples; ++sample) {
      std::map<std::string, int64_t> point;
      double step = 0.5;
      for (size_t loop : loops) {
        step = step * 0.7548776662466927 + 0.5698402909980532;  // of the plastic number
        const double at = std::abs(step * (sample + 1));
        const double fraction = at - static_cast<double>(static_cast<int64_t>(at));
        point[name_of_loop(loop)] = static_cast<int64_t>(fraction * nest_.loops[loop].range);
      }
      inside += std::all_of(constraints.begin(), constraints.end(),
                            [&](const Affine& each) { return each.evaluate(point) >= 0; });
    }
    return std::max(inside, 1) / static_cast<double>(kSamples);
  }

  KernelNest nest_;
};

}  // namespace

double KernelNest::points(const NestPiece& piece) const {
  double out = piece.part;
  for (size_t loop : piece.loops)
    if (!loops[loop].lanes) out *= loops[loop].range;
  return out;
}

double KernelNest::runs(const NestPiece& piece, const NestOperation& operation) const {
  double out = piece.part, waiting = 1;
  for (size_t loop : piece.loops) {
    if (loops[loop].lanes) continue;
    if (operation.depends[loop]) {
      out *= waiting * loops[loop].range;
      waiting = 1;
    } else if (!loops[loop].unrolled) {
      waiting *= loops[loop].range;
    }
  }
  // A store stands where it is written.
  return operation.kind == NestOperation::Kind::access && operation.access.stores &&
                 !operation.access.adds
             ? out * waiting
             : out;
}

KernelNest kernel_nest(const Block& section, const Block& kernel) {
  return NestBuilder().build(section, kernel);
}

}  // namespace stria::cost
