// SPDX-License-Identifier: Apache-2.0
#include "stria/edsl/contraction.h"

#include <algorithm>
#include <unordered_set>

#include "stria/edsl/node.h"
#include "stria/edsl/tensor.h"

namespace stria::edsl {
namespace {

std::string count(size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// Whether `node` is among `from` and what they are made of.
bool reaches(const std::vector<NodePtr>& from, const Node* node) {
  // Of a node that nothing is made of no other knows: the common case costs nothing.
  if (!node->used)
    return std::find_if(from.begin(), from.end(),
                        [&](const NodePtr& start) { return start.get() == node; }) != from.end();
  std::vector<const Node*> pending;
  std::unordered_set<const Node*> seen;
  const auto visit = [&](const NodePtr& next) {
    if (seen.insert(next.get()).second) pending.push_back(next.get());
  };
  for (const NodePtr& start : from) visit(start);
  while (!pending.empty()) {
    const Node* next = pending.back();
    pending.pop_back();
    if (next == node) return true;
    next->for_each_child(visit);
  }
  return false;
}

// Ok, or why `operand` cannot be read with that many forms.
Status check_operand(const Node& output, const Node::Operand& operand) {
  const Node& tensor = *operand.tensor;
  const bool known = tensor.kind == Node::Kind::output || tensor.has_dims;
  if (!known || tensor.args.size() == operand.forms.size()) return Status();
  return invalid_argument(
      "{} has {}, but the contraction of {} reads it with {}: give one form per dimension",
      describe(tensor), count(tensor.args.size(), "dimension"), describe(output),
      count(operand.forms.size(), "form"));
}

// Why `output` cannot be given a value with that many forms.
Status check_output(const Node& output, size_t forms) {
  if (output.kind == Node::Kind::input)
    return invalid_argument(
        "{} is an input and has its value: declare an output, Tensor C(\"C\", sizes…), for the "
        "contraction",
        describe(output));
  if (output.kind != Node::Kind::output)
    return invalid_argument(
        "{} is given a value by a contraction, but is none of its outputs: declare one, Tensor "
        "C(\"C\", sizes…)",
        describe(output));
  if (output.contraction != nullptr)
    return invalid_argument(
        "{} is given a value twice: declare another output for the second contraction, and add "
        "the two as tensors if you want their sum",
        describe(output));
  if (output.args.size() != forms)
    return invalid_argument(
        "{} was declared with {}, but is given a value at {}: give one form per size",
        describe(output), count(output.args.size(), "size"), count(forms, "form"));
  return Status();
}

const Access& define(const Access& out, tile::Aggregation aggregation, const Term& term) {
  Node& node = *Inside::tensor(out);
  auto contraction = std::make_unique<Node::Contraction>();
  contraction->aggregation = aggregation;
  contraction->combination = Inside::combination(term);
  contraction->out.forms = Inside::forms(out);
  std::vector<NodePtr> read;
  Status status = check_output(node, contraction->out.forms.size());
  if (status.ok() && Inside::operands(term).empty())
    status = invalid_argument("the term of {} was moved from: write it again", describe(node));
  for (const Access& access : Inside::operands(term)) {
    Node::Operand operand{Inside::tensor(access), Inside::forms(access)};
    if (Status wrong = check_operand(node, operand); status.ok()) status = std::move(wrong);
    read.push_back(operand.tensor);
    contraction->operands.push_back(std::move(operand));
  }
  if (status.ok() && reaches(read, &node))
    status = invalid_argument(
        "{} is computed from itself: a tensor gets its value once, from tensors that have theirs; "
        "declare another one for the next step",
        describe(node));
  if (!status.ok()) {
    node.fail(std::move(status));
  } else {
    node.order = next_order();
    for (const NodePtr& tensor : read) tensor->used.store(true, std::memory_order_relaxed);
    node.contraction = std::move(contraction);
  }
  return out;
}

}  // namespace

std::vector<NodePtr> Inside::forms(const Access& access) { return nodes_of(access.forms_); }

tile::Combination Inside::combination(const Term& term) {
  switch (term.kind_) {
    case Term::Kind::single: return tile::Combination::none;
    case Term::Kind::sum: return tile::Combination::add;
    case Term::Kind::product: return tile::Combination::mul;
    case Term::Kind::equal: return tile::Combination::equal;
    case Term::Kind::cond: return tile::Combination::cond;
  }
  return tile::Combination::none;
}

Access::Access(NodePtr tensor, std::vector<Form> forms)
    : tensor_(or_failed(tensor)), forms_(std::move(forms)) {}

const Access& Access::operator+=(const Term& term) const {
  return define(*this, tile::Aggregation::sum, term);
}
const Access& Access::operator*=(const Term& term) const {
  return define(*this, tile::Aggregation::product, term);
}
const Access& Access::operator>=(const Term& term) const {
  return define(*this, tile::Aggregation::max, term);
}
const Access& Access::operator<=(const Term& term) const {
  return define(*this, tile::Aggregation::min, term);
}
const Access& Access::operator=(const Term& term) const {
  return define(*this, tile::Aggregation::assign, term);
}
const Access& Access::operator=(const Access& access) const { return *this = Term(access); }

Term::Term(Kind kind, std::vector<Access> operands) : kind_(kind), operands_(std::move(operands)) {}
Term::Term(const Access& access) : Term(Kind::single, {access}) {}
Term::Term(const Equality& equality) : Term(Kind::equal, Inside::operands(equality)) {}
Term operator+(const Access& a, const Access& b) {
  return Inside::of<Term>(Inside::Kind::sum, std::vector<Access>{a, b});
}
Term operator*(const Access& a, const Access& b) {
  return Inside::of<Term>(Inside::Kind::product, std::vector<Access>{a, b});
}

Equality::Equality(Access a, Access b) : a_(std::move(a)), b_(std::move(b)) {}
Equality operator==(const Access& a, const Access& b) { return Inside::of<Equality>(a, b); }
Term cond(const Equality& where, const Access& value) {
  std::vector<Access> operands = Inside::operands(where);
  operands.push_back(value);
  return Inside::of<Term>(Inside::Kind::cond, std::move(operands));
}

Default::Default(NodePtr tensor) : node_(std::move(tensor)) {}
Default default_to(const Tensor& tensor) {
  return Inside::of<Default>(or_failed(Inside::node(tensor)));
}

// The contraction that was written at `output`, or null and a failure if none was.
Node::Contraction* Inside::contraction(const Access& output) {
  Node& node = *output.tensor_;
  if (node.contraction == nullptr)
    node.fail(invalid_argument(
        "{} has a constraint, no_defract or default_to, but no contraction: write it before the "
        "comma, such as C(i) += A(k), i - k < N",
        describe(node)));
  return node.contraction.get();
}

const Access &Access::operator,(const Constraint& constraint) const {
  if (auto* contraction = Inside::contraction(*this))
    contraction->constraints.emplace_back(or_failed(Inside::node(constraint.form)),
                                          or_failed(Inside::node(constraint.bound)));
  return *this;
}

const Access &Access::operator,(NoDefract) const {
  if (auto* contraction = Inside::contraction(*this)) contraction->no_defract = true;
  return *this;
}

const Access &Access::operator,(const Default& value) const {
  auto* contraction = Inside::contraction(*this);
  if (contraction == nullptr) return *this;
  const NodePtr tensor = or_failed(Inside::node(value));
  if (contraction->default_tensor != nullptr) {
    tensor_->fail(invalid_argument("{} has two defaults: keep one", describe(*tensor_)));
  } else if (reaches({tensor}, tensor_.get())) {
    tensor_->fail(
        invalid_argument("{} is its own default: give it another tensor", describe(*tensor_)));
  } else {
    tensor->used.store(true, std::memory_order_relaxed);
    contraction->default_tensor = tensor;
  }
  return *this;
}

}  // namespace stria::edsl
