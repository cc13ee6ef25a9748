// SPDX-License-Identifier: Apache-2.0
#include "lane_run.h"

#include <memory>

namespace stria::lanes {

using semtree::Expr;
using semtree::Place;
using semtree::Statement;

void LaneRun::begin_group(int64_t group) {
  group_ = group;
  variables_.assign(evaluator_.variable_values() * static_cast<size_t>(function_.group_lanes), {});
}

void LaneRun::set(int64_t lane, int var, int64_t value) {
  const DataType type = function_.vars[static_cast<size_t>(var)].type.scalar;
  variables(lane)[evaluator_.position(var)] = {Scalar::of_int(type, value), false};
}

Status LaneRun::evaluate(const Expr& expr, int64_t lane, Value* out, const Statement& statement) {
  const Status status = evaluator_.evaluate(expr, variables(lane), out);
  return status.ok() ? status
                     : text_.fault("lane {} of group {}, {}: {}", lane, group_,
                                   text_.text_of(statement), status.message());
}

Result<int64_t> LaneRun::number(const Expr& expr, int64_t lane, const Statement& statement) {
  Value value;
  STRIA_RETURN_IF_ERROR(evaluate(expr, lane, &value, statement));
  if (value.poison)
    return text_.fault("lane {} of group {}, {}: '{}' hangs on what was never written", lane,
                       group_, text_.text_of(statement),
                       semtree::print(std::make_shared<const Expr>(expr), function_));
  return value.scalar.i;
}

Status LaneRun::run(std::span<const Statement> statements, int64_t lane, int64_t element) {
  element_ = element;
  for (const Statement& statement : statements) {
    if (auto* let = std::get_if<semtree::Let>(&statement.op)) {
      STRIA_RETURN_IF_ERROR(
          evaluate(*let->value, lane, variables(lane) + evaluator_.position(let->var), statement));
    } else if (auto* load = std::get_if<semtree::Load>(&statement.op)) {
      STRIA_RETURN_IF_ERROR(run(*load, lane, statement));
    } else if (auto* store = std::get_if<semtree::Store>(&statement.op)) {
      STRIA_RETURN_IF_ERROR(run(*store, lane, statement));
    } else if (auto* loop = std::get_if<semtree::For>(&statement.op)) {
      STRIA_ASSIGN(const int64_t lower, number(*loop->lower, lane, statement));
      STRIA_ASSIGN(const int64_t upper, number(*loop->upper, lane, statement));
      for (int64_t i = lower; i < upper; ++i) {
        set(lane, loop->var, i);
        STRIA_RETURN_IF_ERROR(run(loop->body, lane, element));
      }
    } else if (auto* branch = std::get_if<semtree::If>(&statement.op)) {
      STRIA_ASSIGN(const int64_t condition, number(*branch->condition, lane, statement));
      if (condition != 0) STRIA_RETURN_IF_ERROR(run(branch->then, lane, element));
    } else if (auto* operation = std::get_if<semtree::Instruction>(&statement.op)) {
      return unsupported("kernel '{}': '{}' is an operation of hardware, which has no meaning here",
                         function_.name, operation->name);
    }  // A prefetch touches nothing.
  }
  return {};
}

Status LaneRun::run(const semtree::Load& load, int64_t lane, const Statement& statement) {
  STRIA_RETURN_IF_ERROR(touch(load.place, lane, false, statement));
  Value* to = variables(lane) + evaluator_.position(load.var);
  const Scalar zero = convert(Scalar::of_bool(false), function_.element_type(load.place.memory));
  for (size_t i = 0; i < places_.size(); ++i)
    to[i] = places_[i].memory ? places_[i].memory->load(places_[i].element) : Value{zero, false};
  return {};
}

Status LaneRun::run(const semtree::Store& store, int64_t lane, const Statement& statement) {
  const semtree::Type type{function_.element_type(store.place.memory), store.place.lanes};
  if (store.value->type != type)
    return text_.fault("{} stores {}", text_.text_of(statement), to_string(store.value->type));
  stored_.resize(static_cast<size_t>(store.place.lanes));
  STRIA_RETURN_IF_ERROR(evaluate(*store.value, lane, stored_.data(), statement));
  STRIA_RETURN_IF_ERROR(touch(store.place, lane, true, statement));
  for (size_t i = 0; i < places_.size(); ++i)
    if (places_[i].memory) places_[i].memory->store(places_[i].element, stored_[i]);
  return {};
}

// Puts the elements of the place into places_, null for lanes that the mask leaves out, and records
// the access.
Status LaneRun::touch(const Place& place, int64_t lane, bool writes, const Statement& statement) {
  if (!function_.is_param(place.memory) && function_.array(place.memory).fragment)
    return touch_matrix(place, lane, statement);
  const size_t count = static_cast<size_t>(place.lanes);
  const std::string& name = function_.memory_name(place.memory);
  const auto where = [&] {
    return fmt::format("lane {} of group {}, {}", lane, group_, text_.text_of(statement));
  };
  if (writes && !memory_.is_writable(place.memory))
    return text_.fault("{} writes to '{}', which is only read", text_.text_of(statement), name);
  const bool gathers = place.offset && place.offset->type.lanes > 1;
  offsets_.assign(gathers ? count : 1, {Scalar::of_int(DataType::i64, 0), false});
  if (place.offset)
    STRIA_RETURN_IF_ERROR(evaluate(*place.offset, lane, offsets_.data(), statement));
  masks_.assign(count, {Scalar::of_bool(true), false});
  if (place.mask) STRIA_RETURN_IF_ERROR(evaluate(*place.mask, lane, masks_.data(), statement));
  places_.assign(count, {});
  for (size_t i = 0; i < count; ++i) {
    if (masks_[i].poison)
      return text_.fault("{}: the mask hangs on what was never written", where());
    if (!masks_[i].scalar.truth()) continue;
    const Value& offset = offsets_[gathers ? i : 0];
    if (offset.poison)
      return text_.fault("{}: the place in '{}' hangs on what was never written", where(), name);
    if (!gathers && offset.scalar.i % place.multiple != 0)
      return text_.fault("{}: the place's offset {} in '{}' is no multiple of {}", where(),
                         offset.scalar.i, name, place.multiple);
    const int64_t element =
        offset.scalar.i + place.constant + (gathers ? 0 : static_cast<int64_t>(i) * place.stride);
    STRIA_ASSIGN(places_[i], memory_.reach(place.memory, element, lane, writes, statement));
  }
  return {};
}

// The same for an element of a matrix that the lane holds.
Status LaneRun::touch_matrix(const Place& place, int64_t lane, const Statement& statement) {
  if (element_ < 0 || place.lanes != 1 || place.offset || place.mask)
    return text_.fault("{} touches a matrix, and is no single element in a loop over them",
                       text_.text_of(statement));
  STRIA_ASSIGN(const MatrixValues held,
               memory_.matrix({place.memory, place.constant}, lane, statement));
  places_.assign(1, {&held.memory, held.first + element_});
  return {};
}

}  // namespace stria::lanes
