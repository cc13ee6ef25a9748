// SPDX-License-Identifier: Apache-2.0
#include "touched_memory.h"

#include "stria/poly/affine.h"

namespace stria::lanes {
namespace {

// Of barriers and launches of the whole process: memory outlives a run.
uint64_t next_phase() {
  thread_local uint64_t last = 0;
  return ++last;
}

}  // namespace

using semtree::Statement;

TouchedMemory::TouchedMemory(const semtree::Function& function,
                             const std::vector<Argument>& arguments, RunCounts& counts,
                             int64_t subgroup_lanes)
    : function_(function),
      text_(function),
      arguments_(arguments),
      counts_(counts),
      subgroup_lanes_(subgroup_lanes) {
  if (subgroup_lanes > 0)
    subgroup_phases_.resize(static_cast<size_t>(ceil_div(function.group_lanes, subgroup_lanes)));
  for (const semtree::Array& array : function.arrays)
    arrays_.emplace_back(array.type, array.count * copies_of(array), array.shared);
}

// Elements of the memory for each one that the array counts.
int64_t TouchedMemory::copies_of(const semtree::Array& array) const {
  if (array.shared) return 1;
  if (!array.fragment) return function_.group_lanes;
  const int64_t subgroups = subgroup_lanes_ > 0 ? function_.group_lanes / subgroup_lanes_ : 0;
  return subgroups * array.fragment->rows * array.fragment->columns;
}

Status TouchedMemory::check_arguments() const {
  if (arguments_.size() != function_.params.size())
    return text_.fault("it takes {} arguments, not {}", function_.params.size(), arguments_.size());
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const semtree::Parameter& param = function_.params[i];
    const auto& [memory, first] = arguments_[i];
    if (memory->type != param.type || first < 0 || first + param.span > memory->count())
      return text_.fault("'{}' has {} elements of {} from element {} on of {} of {}", param.name,
                         param.span, name_of(param.type), first, memory->count(),
                         name_of(memory->type));
    for (size_t k = 0; k < i; ++k) {
      const semtree::Parameter& other = function_.params[k];
      if (memory == arguments_[k].memory && other.alias_group != param.alias_group &&
          first < arguments_[k].first + other.span && arguments_[k].first < first + param.span)
        return text_.fault("'{}' and '{}' overlap, and it is told that they do not", other.name,
                           param.name);
    }
  }
  return {};
}

void TouchedMemory::begin_launch() { launch_ = next_phase(); }

void TouchedMemory::begin_group(int64_t group) {
  group_ = group;
  for (Memory& array : arrays_) array.forget();
  overlaid_ = false;
  group_phase_ = shared_phase_ = parameters_phase_ = next_phase();
}

void TouchedMemory::pass(const semtree::Barrier& barrier) {
  shared_phase_ = next_phase();
  if (barrier.parameters) parameters_phase_ = shared_phase_;
}

void TouchedMemory::pass_subgroup(int64_t subgroup) {
  subgroup_phases_[static_cast<size_t>(subgroup)] = next_phase();
}

// Of shared arrays that lie over each other, only those that were written last hold anything.
void TouchedMemory::overwrite(bool overlaid) {
  if (overlaid == overlaid_) return;
  overlaid_ = overlaid;
  for (size_t i = 0; i < arrays_.size(); ++i)
    if (function_.arrays[i].shared && function_.arrays[i].overlaid != overlaid) arrays_[i].forget();
}

bool TouchedMemory::is_own(int memory) const {
  return !function_.is_param(memory) && !function_.array(memory).shared;
}

bool TouchedMemory::is_writable(int memory) const {
  return !function_.is_param(memory) || function_.params[static_cast<size_t>(memory)].writable;
}

Result<MatrixValues> TouchedMemory::matrix(const semtree::FragmentRef& ref, int64_t lane,
                                           const Statement& statement) {
  const bool is_array = !function_.is_param(ref.memory);
  if (!is_array || !function_.array(ref.memory).fragment || ref.number < 0 ||
      ref.number >= function_.array(ref.memory).count)
    return text_.fault("{}: there is no matrix {} of '{}'", text_.text_of(statement), ref.number,
                       function_.memory_name(ref.memory));
  const semtree::Array& array = function_.array(ref.memory);
  const int64_t before = lane / subgroup_lanes_ * array.count + ref.number;
  Memory& memory = arrays_[static_cast<size_t>(ref.memory) - function_.params.size()];
  return MatrixValues{array, memory, before * array.fragment->rows * array.fragment->columns};
}

Result<TouchedMemory::Element> TouchedMemory::reach(int memory, int64_t element, int64_t lane,
                                                    bool writes, const Statement& statement) {
  const std::string& name = function_.memory_name(memory);
  const auto outside = [&](int64_t size) {
    return text_.fault("lane {} of group {}, {}: element {} of '{}', which has {}", lane, group_,
                       text_.text_of(statement), element, name, size);
  };
  if (function_.is_param(memory)) {
    const Argument& argument = arguments_[static_cast<size_t>(memory)];
    const semtree::Parameter& param = function_.params[static_cast<size_t>(memory)];
    if (element < 0 || element >= param.span) return outside(param.span);
    const Element out{argument.memory, argument.first + element};
    STRIA_RETURN_IF_ERROR(record(out, &param, {lane, &statement}, writes, name, element));
    return out;
  }
  const semtree::Array& array = function_.array(memory);
  if (element < 0 || element >= array.count) return outside(array.count);
  const Element out{&arrays_[static_cast<size_t>(memory) - function_.params.size()],
                    array.shared ? element : lane * array.count + element};
  if (!array.shared) return out;
  if (writes) overwrite(array.overlaid);
  Party by{lane, &statement};
  if (subgroup_lanes_ > 0) {
    by.subgroup = lane / subgroup_lanes_;
    by.since = subgroup_phases_[static_cast<size_t>(by.subgroup)];
  }
  STRIA_RETURN_IF_ERROR(record(out, nullptr, by, writes, name, element));
  return out;
}

// `element` is its number in `name`.
Status TouchedMemory::record(const Element& at, const semtree::Parameter* param, const Party& lane,
                             bool writes, const std::string& name, int64_t element) {
  ++counts_.accesses;
  const auto index = static_cast<size_t>(at.element);
  const uint64_t phase = !param ? shared_phase_ : param->shared ? parameters_phase_ : group_phase_;
  const Party by_lane = at.memory->by_lanes[index].add(phase, lane, writes);
  if (by_lane.number >= 0)
    return text_.fault(
        "lanes {} and {} of group {} touch element {} of '{}' with no barrier between that "
        "orders it: {} and {}",
        by_lane.number, lane.number, group_, element, name, text_.text_of(*by_lane.statement),
        text_.text_of(*lane.statement));
  if (!param) return {};
  const Party by_group = at.memory->by_groups[index].add(launch_, {group_, lane.statement}, writes);
  if (by_group.number >= 0)
    return text_.fault("groups {} and {} touch element {} of '{}': {} and {}", by_group.number,
                       group_, element, name, text_.text_of(*by_group.statement),
                       text_.text_of(*lane.statement));
  return record_store(at, lane, writes, name, element);
}

// What is stored over something that nothing has read was computed twice.
Status TouchedMemory::record_store(const Element& at, const Party& lane, bool writes,
                                   const std::string& name, int64_t element) {
  uint64_t& stored = at.memory->stored[static_cast<size_t>(at.element)];
  if (!writes) {
    stored = 0;
    return {};
  }
  ++counts_.stores;
  if (stored == launch_)
    return text_.fault(
        "element {} of '{}' is stored twice, and nothing read it in between: lane {} of "
        "group {}, {}",
        element, name, lane.number, group_, text_.text_of(*lane.statement));
  stored = launch_;
  return {};
}

}  // namespace stria::lanes
