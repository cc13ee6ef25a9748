// SPDX-License-Identifier: Apache-2.0
#include "stria/lower/joined_pieces.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace stria::lower_detail {
namespace {

using tile::BoundContraction;
using tile::BoundElementwise;
using tile::BoundNode;
using tile::TensorId;

// Of one tensor: each is compared with each.
constexpr size_t kMaxSummed = 4096;
// Boxes of one that is cut up; then nothing is known of it.
constexpr size_t kMaxLeft = 256;
// What no piece of a sum writes needs a kernel for each box.
constexpr size_t kMaxZeros = 16;

bool is_empty(const Box& box) {
  return std::any_of(box.begin(), box.end(), [](const Interval& part) { return part.empty(); });
}

bool meet(const Box& a, const Box& b) {
  for (size_t d = 0; d < a.size(); ++d)
    if (a[d].upper < b[d].lower || b[d].upper < a[d].lower) return false;
  return !is_empty(a) && !is_empty(b);
}

// Calls visit(id) for each tensor that the statement reads, as often as it does.
template <typename Visit>
void for_each_read(const tile::BoundStatement& statement, const Visit& visit) {
  if (auto* c = std::get_if<BoundContraction>(&statement.form)) {
    for (const tile::BoundOperand& operand : c->operands) visit(operand.tensor);
    if (c->default_tensor) visit(*c->default_tensor);
  } else if (auto* e = std::get_if<BoundElementwise>(&statement.form)) {
    for (const BoundNode& node : e->nodes)
      if (node.kind == BoundNode::Kind::load) visit(node.tensor);
  } else if (auto* r = std::get_if<tile::BoundReshape>(&statement.form)) {
    visit(r->from);
  } else if (auto* g = std::get_if<tile::BoundGather>(&statement.form)) {
    visit(g->from), visit(g->index);
  } else if (auto* s = std::get_if<tile::BoundScatter>(&statement.form)) {
    visit(s->from), visit(s->index);
  } else if (auto* p = std::get_if<tile::BoundPrng>(&statement.form)) {
    visit(p->state);
  }
}

// The tensors that the expression adds up, each element once and in the result's type; nothing if
// it does something else.
std::vector<TensorId> added_up(const BoundElementwise& sum, DataType type) {
  std::vector<TensorId> tensors;
  for (const BoundNode& node : sum.nodes) {
    if (node.type != type) return {};
    if (node.kind == BoundNode::Kind::load)
      tensors.push_back(node.tensor);
    else if (node.kind != BoundNode::Kind::call || node.function != "add" ||
             node.operation_type != type)
      return {};
  }
  // A sum of n values has n - 1 additions if each of them is used once.
  return tensors.size() > 1 && sum.nodes.size() == 2 * tensors.size() - 1 ? tensors
                                                                          : std::vector<TensorId>();
}

}  // namespace

std::optional<Box> written_box(const BoundContraction& contraction) {
  Box box(contraction.out_access.size());
  if (contraction.empty && !box.empty()) return box;
  if (contraction.empty || !contraction.constraints.empty()) return std::nullopt;
  for (const tile::BoundOperand& operand : contraction.operands)
    for (const tile::DimAccess& access : operand.access)
      if (access.divisor != 1) return std::nullopt;
  std::set<std::string> used;
  for (size_t d = 0; d < box.size(); ++d) {
    const tile::DimAccess& access = contraction.out_access[d];
    const std::vector<Affine::Term>& terms = access.numerator.terms();
    const int64_t first = access.numerator.constant();
    if (access.divisor != 1 || terms.size() > 1) return std::nullopt;
    box[d] = {first, first};
    if (terms.empty()) continue;
    const auto& [name, coefficient] = terms[0];
    if (coefficient != 1 || !used.insert(name).second) return std::nullopt;
    auto index = std::find_if(contraction.indices.begin(), contraction.indices.end(),
                              [&](const tile::BoundIndex& i) { return i.name == name; });
    if (index == contraction.indices.end()) return std::nullopt;
    box[d] = {first + index->range.lower, first + index->range.upper};
  }
  return box;
}

std::optional<std::vector<Box>> without(const Box& box, std::span<const Box> others, size_t limit) {
  std::vector<Box> left;
  if (!is_empty(box)) left.push_back(box);
  for (const Box& other : others) {
    if (left.empty()) break;
    std::vector<Box> next;
    for (Box& part : left) {
      if (!meet(part, other)) {
        next.push_back(std::move(part));
        continue;
      }
      for (size_t d = 0; d < part.size(); ++d) {
        const Interval range = part[d];
        part[d] = {range.lower, other[d].lower - 1};
        if (!part[d].empty()) next.push_back(part);
        part[d] = {other[d].upper + 1, range.upper};
        if (!part[d].empty()) next.push_back(part);
        part[d] = {std::max(range.lower, other[d].lower), std::min(range.upper, other[d].upper)};
      }
    }
    if (next.size() > limit) return std::nullopt;
    left = std::move(next);
  }
  return left;
}

JoinedPieces::JoinedPieces(const tile::BoundProgram& program)
    : program_(program), tensors_(program.tensors.size()), written_(program.tensors.size()) {
  for (size_t id = 0; id < tensors_.size(); ++id) tensors_[id].place = static_cast<TensorId>(id);
  count_reads();
  for (const tile::BoundStatement& statement : program.statements)
    if (auto* sum = std::get_if<BoundElementwise>(&statement.form)) find_sum(*sum);
  // From the end, where it is known as what a tensor is written.
  for (size_t s = program.statements.size(); s-- > 0;) {
    const tile::BoundStatement& statement = program.statements[s];
    if (auto* contraction = std::get_if<BoundContraction>(&statement.form))
      place_default(*contraction);
    if (auto* sum = std::get_if<BoundElementwise>(&statement.form)) place_sum(*sum);
  }
}

bool JoinedPieces::is_written_again(TensorId id, const Box& box) const {
  const std::vector<Box>& written = written_[static_cast<size_t>(place(id))];
  const auto left = without(box, std::span(written).first(of(id).later), kMaxLeft);
  return left && left->empty();
}

void JoinedPieces::count_reads() {
  for (size_t s = 0; s < program_.statements.size(); ++s) {
    for_each_read(program_.statements[s], [&](TensorId id) { ++of(id).reads; });
    if (auto* c = std::get_if<BoundContraction>(&program_.statements[s].form))
      of(c->out).writer = static_cast<int>(s);
    if (auto* e = std::get_if<BoundElementwise>(&program_.statements[s].form))
      of(e->out).writer = static_cast<int>(s);
  }
}

// Does the program make it, for one statement alone?
bool JoinedPieces::is_own(TensorId id) const {
  const tile::BoundTensor& tensor = program_.tensors[static_cast<size_t>(id)];
  // Elements of an output of packed type are read once more than statements say.
  return !tensor.is_input && !tensor.is_output && !tensor.packed && of(id).reads == 1 &&
         of(id).writer >= 0;
}

bool JoinedPieces::is_like(TensorId a, TensorId b) const {
  const tile::BoundTensor& x = program_.tensors[static_cast<size_t>(a)];
  const tile::BoundTensor& y = program_.tensors[static_cast<size_t>(b)];
  return x.type == y.type && x.sizes == y.sizes;
}

Box JoinedPieces::whole(TensorId id) const {
  Box box;
  for (int64_t size : program_.tensors[static_cast<size_t>(id)].sizes) box.push_back({0, size - 1});
  return box;
}

// What a summed contraction writes; the rest is 0.
std::optional<Box> JoinedPieces::summed_box(TensorId id) const {
  const tile::BoundStatement& writer = program_.statements[static_cast<size_t>(of(id).writer)];
  auto* contraction = std::get_if<BoundContraction>(&writer.form);
  // Only `=` hands on the value as it is, of which it is known what 0 more makes of it.
  if (!contraction || contraction->default_tensor ||
      contraction->aggregation != tile::Aggregation::assign)
    return std::nullopt;
  return written_box(*contraction);
}

// Is the expression a sum of pieces that do not meet?
void JoinedPieces::find_sum(const BoundElementwise& sum) {
  const tile::BoundTensor& out = program_.tensors[static_cast<size_t>(sum.out)];
  if (out.type == DataType::boolean || out.sizes.empty()) return;
  const std::vector<TensorId> summed = added_up(sum, out.type);
  std::vector<Box> boxes;
  for (TensorId id : summed) {
    if (!is_own(id) || !is_like(id, sum.out)) return;
    // If this sum alone reads the tensor, it takes the boxes over, even if it turns out to be no
    // sum: a running sum would copy those of all sums before it.
    std::vector<Box> own = std::move(of(id).boxes);
    if (!of(id).sum) {
      const std::optional<Box> box = summed_box(id);
      if (!box) return;
      own = {*box};
    }
    if (boxes.size() + own.size() > kMaxSummed) return;
    for (const Box& box : own)
      if (std::any_of(boxes.begin(), boxes.end(), [&](const Box& b) { return meet(b, box); }))
        return;
    if (boxes.empty())
      boxes = std::move(own);
    else
      boxes.insert(boxes.end(), std::make_move_iterator(own.begin()),
                   std::make_move_iterator(own.end()));
  }
  if (summed.empty()) return;
  auto zeros = without(whole(sum.out), boxes, kMaxSummed);
  if (!zeros) return;
  Tensor& tensor = of(sum.out);
  tensor.sum = true;
  tensor.summed = summed;
  tensor.boxes = std::move(boxes);
  tensor.zeros = std::move(*zeros);
}

void JoinedPieces::join(TensorId id, TensorId with) {
  Tensor& tensor = of(id);
  tensor.place = of(with).place;
  tensor.later = of(with).later;
  tensor.piece = true;
  of(with).piece = true;
}

void JoinedPieces::place_default(const BoundContraction& contraction) {
  if (!contraction.default_tensor) return;
  const TensorId rest = *contraction.default_tensor;
  if (!is_own(rest) || !is_like(rest, contraction.out)) return;
  // Before its own statement writes what it does.
  std::vector<Box>& written = written_[static_cast<size_t>(place(contraction.out))];
  join(rest, contraction.out);
  of(contraction.out).filled = true;
  // The lists of a place grow while the chain is followed to its beginning; sums end them.
  if (const std::optional<Box> box = written_box(contraction);
      box && of(rest).later == written.size()) {
    written.push_back(*box);
    of(rest).later = written.size();
  }
}

void JoinedPieces::place_sum(const BoundElementwise& sum) {
  Tensor& tensor = of(sum.out);
  if (!tensor.sum) return;
  const bool inner = tensor.filled;  // a part of another sum, which fills what neither writes
  if (!inner && tensor.zeros.size() > kMaxZeros) {
    tensor.sum = false;
    return;
  }
  if (inner) tensor.zeros.clear();
  const bool floats = is_float(program_.tensors[static_cast<size_t>(sum.out)].type);
  for (TensorId id : tensor.summed) {
    join(id, sum.out);
    of(id).filled = true;
    of(id).adds_zero = floats;
  }
}

}  // namespace stria::lower_detail
