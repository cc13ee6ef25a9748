// SPDX-License-Identifier: Apache-2.0
#include "emit/matrix_patches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "emit/matrix_check.h"
#include "stria/poly/affine.h"
#include "stria/semtree/c/dialect.h"
#include "stria/semtree/tree/expr.h"

namespace stria::vulkan {
namespace {

using semtree::Array;
using semtree::Body;
using semtree::ExprRef;
using semtree::FragmentRef;
using semtree::Function;
using semtree::MatrixLoad;
using semtree::MatrixPlace;
using semtree::MatrixStore;
using semtree::Op;
using semtree::Place;
using semtree::Statement;

// How a matrix moves between memory and registers.
enum class Way { straight, rounded_before, by_patch };

class Patches {
 public:
  Patches(Function function, const Features& features, int64_t subgroup_lanes, bool any_offset)
      : function_(std::move(function)),
        features_(features),
        subgroup_lanes_(subgroup_lanes),
        any_offset_(any_offset) {
    for (const semtree::Variable& variable : function_.vars) names_.insert(variable.name);
    for (const Array& array : function_.arrays) names_.insert(array.name);
  }

  Function run() && {
    if (function_.lane_var < 0 || subgroup_lanes_ <= 0) return std::move(function_);
    measure();
    declare_patches();
    function_.body = changed(std::move(function_.body));
    if (!patches_.empty()) {
      overlay();
      const ExprRef lane = number_of(function_.lane_var);
      const std::vector<Statement> first = {
          {semtree::Let{subgroup_, binary(Op::div, lane, integer(subgroup_lanes_))}},
          {semtree::Let{lane_, binary(Op::rem, lane, integer(subgroup_lanes_))}}};
      function_.body.insert(function_.body.begin(), first.begin(), first.end());
    }
    return std::move(function_);
  }

 private:
  // Of one type of elements.
  struct Patch {
    int64_t elements = 0;  // of a subgroup
    int memory = -1;
  };

  // ---- which way

  bool has_sums(DataType type, const Array::Fragment& form) const {
    return std::any_of(
        features_.matrices.begin(), features_.matrices.end(), [&](const MatrixForm& product) {
          return product.sum == type && product.m == form.rows && product.n == form.columns;
        });
  }

  Way way(const MatrixPlace& place, const FragmentRef& matrix, bool is_load) const {
    const int memory = place.place.memory;
    if (any_offset_ && function_.is_param(memory)) return Way::by_patch;
    const Array& held = function_.array(matrix.memory);
    const DataType type = function_.element_type(memory);
    if (!is_aligned(place, *held.fragment, type)) return Way::by_patch;
    if (type == held.type) return Way::straight;
    const bool is_known =
        held.fragment->use == Array::Fragment::Use::sum && has_sums(type, *held.fragment);
    if (!is_known || is_float(type) != is_float(held.type)) return Way::by_patch;
    if (type != DataType::fp16 && type != DataType::bf16) return Way::straight;
    // bf16 has the subnormal numbers of fp32.
    const FloatControls& promised = type == DataType::fp16 ? features_.of16 : features_.of32;
    if (!promised.keeps_subnormals) return Way::by_patch;
    // Of how bf16 is rounded no device promises anything.
    const bool rounds_to_even = type == DataType::fp16 && promised.rounds_to_even;
    return is_load || rounds_to_even ? Way::straight : Way::rounded_before;
  }

  // ---- what is added to the function

  void measure() {
    const auto add = [&](const MatrixPlace& place, const FragmentRef& matrix, bool is_load) {
      if (way(place, matrix, is_load) != Way::by_patch && !place.rows && !place.columns) return;
      const Array& held = function_.array(matrix.memory);
      // Each subgroup's part is aligned as all memory is.
      const int64_t of_all = semtree::kMemoryAlignment / byte_size(held.type);
      const int64_t elements = held.fragment->rows * held.fragment->columns;
      int64_t& most = patches_[held.type].elements;
      most = std::max(most, ceil_div(elements, of_all) * of_all);
    };
    semtree::walk(function_.body, [&](const Statement& statement) {
      if (auto* load = std::get_if<MatrixLoad>(&statement.op)) add(load->from, load->to, true);
      if (auto* store = std::get_if<MatrixStore>(&statement.op)) add(store->to, store->from, false);
    });
  }

  void declare_patches() {
    const int64_t subgroups = ceil_div(function_.group_lanes, subgroup_lanes_);
    for (auto& [type, patch] : patches_) {
      patch.memory = new_array({.name = fmt::format("patch_{}", name_of(type)),
                                .type = type,
                                .count = subgroups * patch.elements,
                                .shared = true});
    }
    if (patches_.empty()) return;
    subgroup_ = new_variable("patch", function_.index_type);
    lane_ = new_variable("patch_lane", function_.index_type);
  }

  std::string unique(const std::string& wanted) {
    std::string name = wanted;
    for (int n = 1; !names_.insert(name).second; ++n) name = fmt::format("{}_{}", wanted, n);
    return name;
  }
  int new_variable(const std::string& name, DataType type) {
    function_.vars.push_back({unique(name), {type, 1}});
    return static_cast<int>(function_.vars.size()) - 1;
  }
  int new_array(Array array) {
    array.name = unique(array.name);
    function_.arrays.push_back(std::move(array));
    return static_cast<int>(function_.params.size() + function_.arrays.size()) - 1;
  }

  ExprRef integer(int64_t value) const { return semtree::integer(function_.index_type, value); }
  ExprRef number_of(int variable) const {
    return semtree::variable(variable, {function_.index_type, 1});
  }
  ExprRef binary(Op op, ExprRef a, ExprRef b) const {
    return semtree::exact(semtree::binary(op, std::move(a), std::move(b)));
  }

  // Does it use shared arrays that are patches, or that are none?
  bool uses_shared(const Statement& statement, bool patches) const {
    bool out = false;
    const auto look = [&](const Place& place) {
      if (function_.is_param(place.memory) || !function_.array(place.memory).shared) return;
      const bool is_patch = std::any_of(patches_.begin(), patches_.end(), [&](const auto& patch) {
        return patch.second.memory == place.memory;
      });
      out = out || is_patch == patches;
    };
    const Body alone = {statement};
    semtree::walk(alone, [&](const Statement& inner) {
      if (auto* load = std::get_if<semtree::Load>(&inner.op)) look(load->place);
      if (auto* store = std::get_if<semtree::Store>(&inner.op)) look(store->place);
      if (auto* load = std::get_if<MatrixLoad>(&inner.op)) look(load->from.place);
      if (auto* store = std::get_if<MatrixStore>(&inner.op)) look(store->to.place);
    });
    return out;
  }

  // Results are stored when all products are done. What they were staged in is free then: patches
  // may lie there, and the tiles that passes have chosen fit as before.
  void overlay() {
    Body& body = function_.body;
    const auto uses = [&](bool patches) {
      return
          [this, patches](const Statement& statement) { return uses_shared(statement, patches); };
    };
    const auto first = std::find_if(body.begin(), body.end(), uses(true));
    if (std::any_of(first, body.end(), uses(false)) ||
        std::none_of(body.begin(), first, uses(false)))
      return;
    body.insert(first, {semtree::Barrier{}});
    for (const auto& [type, patch] : patches_) function_.array(patch.memory).overlaid = true;
  }

  // ---- statements

  Body changed(Body body) {
    Body out;
    for (Statement& statement : body) {
      if (auto* loop = std::get_if<semtree::For>(&statement.op))
        loop->body = changed(std::move(loop->body));
      if (auto* branch = std::get_if<semtree::If>(&statement.op))
        branch->then = changed(std::move(branch->then));
      if (auto* load = std::get_if<MatrixLoad>(&statement.op))
        add_move(load->from, load->to, true, out);
      else if (auto* store = std::get_if<MatrixStore>(&statement.op))
        add_move(store->to, store->from, false, out);
      else
        out.push_back(std::move(statement));
    }
    return out;
  }

  void add_move(const MatrixPlace& place, const FragmentRef& matrix, bool is_load, Body& out) {
    const Way way = this->way(place, matrix, is_load);
    if (way == Way::by_patch) return add_by_patch(place, matrix, is_load, out);
    const ExprRef whole = all_there(place, *function_.array(matrix.memory).fragment);
    Body straight, in_part;
    MatrixPlace all = place;
    all.rows = all.columns = nullptr;
    if (is_load)
      straight.push_back({MatrixLoad{matrix, all}});
    else if (way == Way::rounded_before)
      straight.push_back({MatrixStore{
          all, add_rounded(matrix, function_.element_type(place.place.memory), straight)}});
    else
      straight.push_back({MatrixStore{all, matrix}});
    if (!whole) {
      std::move(straight.begin(), straight.end(), std::back_inserter(out));
      return;
    }
    add_by_patch(place, matrix, is_load, in_part);
    out.push_back({semtree::If{whole, std::move(straight), {}}});
    out.push_back({semtree::If{semtree::unary(Op::logical_not, whole), std::move(in_part), {}}});
  }

  // Does memory have all rows and columns of the matrix? Null: it does.
  ExprRef all_there(const MatrixPlace& place, const Array::Fragment& form) const {
    ExprRef out;
    for (const auto& [there, wanted] :
         {std::pair(place.rows, form.rows), std::pair(place.columns, form.columns)}) {
      if (!there) continue;
      const ExprRef one = semtree::binary(Op::le, integer(wanted), there);
      out = out ? semtree::binary(Op::bit_and, out, one) : one;
    }
    return out;
  }

  // A matrix with what `from` is in the narrower type.
  FragmentRef add_rounded(const FragmentRef& from, DataType narrow, Body& out) {
    const Array held = function_.array(from.memory);
    const int to =
        new_array({.name = "rounded", .type = held.type, .count = 1, .fragment = held.fragment});
    const int element = new_variable("element", held.type);
    const ExprRef rounded = convert_to(narrow, semtree::variable(element, {held.type, 1}));
    semtree::ElementLoop loop;
    loop.body.push_back({semtree::Load{element, {.memory = from.memory, .constant = from.number}}});
    loop.body.push_back({semtree::Store{{.memory = to}, convert_to(held.type, rounded)}});
    out.push_back({std::move(loop)});
    return {to, 0};
  }

  void add_by_patch(const MatrixPlace& place, const FragmentRef& matrix, bool is_load, Body& out) {
    const Array::Fragment form = *function_.array(matrix.memory).fragment;
    const Patch& patch = patches_.at(function_.array(matrix.memory).type);
    // Lines lie in the patch as in memory, one behind the other.
    const bool are_rows = place.column_stride == 1;
    const int64_t length = are_rows ? form.columns : form.rows;
    Place part;
    part.memory = patch.memory;
    part.offset = binary(Op::mul, number_of(subgroup_), integer(patch.elements));
    part.multiple = patch.elements & -patch.elements;
    part.exists = true;
    const MatrixPlace at = {part, are_rows ? length : 1, are_rows ? 1 : length};
    const auto wait = [&] { out.push_back({semtree::SubgroupBarrier{}}); };
    if (is_load) {
      add_copy(place, part, length, form.rows * form.columns, true, out);
      wait();
      out.push_back({MatrixLoad{matrix, at}});
    } else {
      out.push_back({MatrixStore{at, matrix}});
      wait();
      add_copy(place, part, length, form.rows * form.columns, false, out);
    }
    wait();  // before the patch is written again
  }

  // The lanes of each subgroup copy the elements, of lines of `length`, neighbours side by side.
  void add_copy(const MatrixPlace& place, const Place& patch, int64_t length, int64_t elements,
                bool to_patch, Body& out) {
    const DataType index = function_.index_type;
    const int round = new_variable("round", index), number = new_variable("element", index);
    Body body;
    body.push_back({semtree::Let{
        number, binary(Op::add, binary(Op::mul, number_of(round), integer(subgroup_lanes_)),
                       number_of(lane_))}});
    const bool are_rows = place.column_stride == 1;
    const int64_t stride = are_rows ? place.row_stride : place.column_stride;
    const ExprRef line = binary(Op::div, number_of(number), integer(length));
    const ExprRef in_line = binary(Op::rem, number_of(number), integer(length));
    const ExprRef inside = binary(Op::add, binary(Op::mul, line, integer(stride)), in_line);
    Place in_memory = place.place, in_patch = patch;
    in_memory.offset = in_memory.offset ? binary(Op::add, in_memory.offset, inside) : inside;
    in_memory.multiple = 1;
    in_patch.offset = binary(Op::add, in_patch.offset, number_of(number));
    in_patch.multiple = 1;
    const Place &from = to_patch ? in_memory : in_patch, &to = to_patch ? in_patch : in_memory;
    const DataType type = function_.element_type(from.memory);
    const int value = new_variable("value", type);
    Body copy;
    copy.push_back({semtree::Load{value, from}});
    copy.push_back({semtree::Store{
        to, convert_to(function_.element_type(to.memory), semtree::variable(value, {type, 1}))}});
    ExprRef exists;
    const auto demand = [&](const ExprRef& value, const ExprRef& limit) {
      if (!limit) return;
      const ExprRef below = semtree::binary(Op::lt, value, limit);
      exists = exists ? semtree::binary(Op::bit_and, exists, below) : below;
    };
    demand(number_of(number), elements % subgroup_lanes_ == 0 ? nullptr : integer(elements));
    demand(line, are_rows ? place.rows : place.columns);
    demand(in_line, are_rows ? place.columns : place.rows);
    if (exists)
      body.push_back({semtree::If{exists, std::move(copy), {}}});
    else
      body.insert(body.end(), copy.begin(), copy.end());
    out.push_back({semtree::For{round, integer(0), integer(ceil_div(elements, subgroup_lanes_)),
                                std::move(body)}});
  }

  Function function_;
  const Features& features_;
  const int64_t subgroup_lanes_;
  const bool any_offset_;
  std::set<std::string> names_;
  std::map<DataType, Patch> patches_;
  int subgroup_ = -1, lane_ = -1;  // variables: which one, and which of its lanes
};

}  // namespace

Function through_patches(Function function, const Features& features, int64_t subgroup_lanes,
                         bool any_offset) {
  return Patches(std::move(function), features, subgroup_lanes, any_offset).run();
}

}  // namespace stria::vulkan
