// SPDX-License-Identifier: Apache-2.0
#include "emit/kernel_memory.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "emit/branch.h"
#include "emit/matrix_check.h"
#include "stria/poly/affine.h"

namespace stria::vulkan {
namespace {

using semtree::Array;
using semtree::Place;

constexpr int64_t kWidestAccess = 16;  // bytes

}  // namespace

KernelMemory::KernelMemory(Module& module, Values& values, Expressions& expressions,
                           const semtree::Function& function, const Features& features,
                           const std::vector<Id>& addresses, bool any_offset)
    : module_(module),
      values_(values),
      expressions_(expressions),
      function_(function),
      features_(features),
      any_offset_(any_offset),
      addresses_(addresses),
      layout_(shared_layout(function, features)) {
  if (!features.int64) declare_bases();
  for (size_t i = 0; i < function.arrays.size(); ++i)
    declare_array(static_cast<int>(function.params.size() + i));
}

// ---- declarations

Id KernelMemory::tensor_pointer_type(int memory, size_t lanes) {
  return module_.pointer_type(spv::StorageClass::PhysicalStorageBuffer, stored_type(memory, lanes),
                              element_bytes(memory));
}

// A pointer for each width of access, up here, where it is known in all blocks.
void KernelMemory::declare_bases() {
  const auto declare_runs = [&](const Place& place, const std::vector<Run>& runs) {
    if (!function_.is_param(place.memory)) return;
    for (const Run& run : runs) {
      Id& base = bases_[{place.memory, run.lanes}];
      if (base != 0) continue;
      const auto param = static_cast<size_t>(place.memory);
      base = module_.add(spv::Op::OpBitcast, tensor_pointer_type(place.memory, run.lanes),
                         {addresses_[param]});
      const std::string& name = function_.params[param].name;
      module_.name(base, run.lanes == 1 ? name : fmt::format("{}_x{}", name, run.lanes));
    }
  };
  const auto declare = [&](const Place& place) {
    // With a mask, lanes may go one by one.
    std::vector<Run> runs = runs_of(place);
    if (place.mask) runs.push_back({0, 1});
    declare_runs(place, runs);
  };
  const auto declare_matrix = [&](const semtree::MatrixPlace& at, const semtree::FragmentRef& of) {
    declare_runs(at.place, {run_of(at, *function_.array(of.memory).fragment)});
  };
  semtree::walk(function_.body, [&](const semtree::Statement& statement) {
    if (auto* load = std::get_if<semtree::Load>(&statement.op)) declare(load->place);
    if (auto* store = std::get_if<semtree::Store>(&statement.op)) declare(store->place);
    if (auto* load = std::get_if<semtree::MatrixLoad>(&statement.op))
      declare_matrix(load->from, load->to);
    if (auto* store = std::get_if<semtree::MatrixStore>(&statement.op))
      declare_matrix(store->to, store->from);
  });
}

void KernelMemory::declare_array(int memory) {
  const Array& array = function_.array(memory);
  Id& variable = variables_.emplace_back(0);
  if (array.in_registers || array.fragment || (array.shared && features_.shared_views)) return;
  const auto storage = array.shared ? spv::StorageClass::Workgroup : spv::StorageClass::Function;
  const Id element = array.shared ? stored_type(memory) : values_.type(array.type);
  const Id type =
      module_.pointer_type(storage, module_.array_type(element, std::max<int64_t>(array.count, 1)));
  variable = array.shared ? module_.global(storage, type) : module_.local(type);
  module_.name(variable, array.name);
}

bool KernelMemory::is_shared(int memory) const {
  return function_.is_param(memory) ? function_.params[static_cast<size_t>(memory)].shared
                                    : function_.array(memory).shared;
}

int64_t KernelMemory::element_bytes(int memory) const {
  const DataType type = function_.element_type(memory);
  return function_.is_param(memory) ? byte_size(type) : shared_element_bytes(type, features_);
}

Id KernelMemory::stored_type(int memory) {
  const int64_t bytes = element_bytes(memory);
  if (bytes >= 4) {
    const DataType type = function_.element_type(memory);
    return values_.type(byte_size(type) == bytes ? type : DataType::u32);
  }
  using spv::Capability;
  const bool views = !function_.is_param(memory) && features_.shared_views;
  if (function_.is_param(memory))
    module_.capability(bytes == 1 ? Capability::StorageBuffer8BitAccess
                                  : Capability::StorageBuffer16BitAccess);
  if (views)
    module_.capability(bytes == 1 ? Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR
                                  : Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR);
  else
    module_.capability(bytes == 1 ? Capability::Int8 : Capability::Int16);
  return module_.int_type(static_cast<int>(8 * bytes));
}

Id KernelMemory::stored_type(int memory, size_t lanes) {
  if (lanes == 1) return stored_type(memory);
  const int64_t bytes = element_bytes(memory);
  if (bytes >= 4) return module_.vector_type(stored_type(memory), static_cast<int>(lanes));
  const int words = static_cast<int>(static_cast<int64_t>(lanes) * bytes / 4);
  return words == 1 ? values_.word_type() : module_.vector_type(values_.word_type(), words);
}

Id& KernelMemory::slot(int memory, int64_t element) {
  Id& variable = slots_[{memory, element}];
  if (variable == 0)
    variable = module_.local(module_.pointer_type(spv::StorageClass::Function,
                                                  values_.type(function_.element_type(memory))));
  return variable;
}

// ---- places

bool KernelMemory::may_be_wide(int memory) const {
  if (function_.is_param(memory)) return !any_offset_;
  return function_.array(memory).shared && features_.shared_views;
}

std::vector<KernelMemory::Run> KernelMemory::runs_of(const Place& place) const {
  const auto count = static_cast<size_t>(place.lanes);
  const bool gathers = place.offset && place.offset->type.lanes > 1;
  const bool in_a_row = place.stride == 1 && !gathers && may_be_wide(place.memory);
  const int64_t bytes = element_bytes(place.memory);
  std::vector<Run> out;
  for (size_t first = 0; first < count;) {
    // As many lanes as one access can have, at a place that is a multiple of them.
    size_t lanes = in_a_row ? static_cast<size_t>(kWidestAccess / bytes) : 1;
    const auto fits = [&] {
      const auto n = static_cast<int64_t>(lanes);
      return first + lanes <= count && (place.constant + static_cast<int64_t>(first)) % n == 0 &&
             (!place.offset || place.multiple % n == 0) && n * bytes >= 4;
    };
    while (lanes > 1 && !fits()) lanes /= 2;
    out.push_back({first, lanes});
    first += lanes;
  }
  return out;
}

KernelMemory::Run KernelMemory::run_of(const semtree::MatrixPlace& place,
                                       const Array::Fragment& form) const {
  const int memory = place.place.memory;
  const MatrixLines lines = lines_of(place, form, function_.element_type(memory));
  // No vector has less than a word.
  if (lines.aligned_bytes < 4) return {0, 1};
  return {0, static_cast<size_t>(lines.aligned_bytes / element_bytes(memory))};
}

KernelMemory::Elements KernelMemory::elements(const Place& place) {
  Elements out;
  out.memory = place.memory;
  out.runs = runs_of(place);
  const Lanes offset = place.offset ? expressions_.value(place.offset) : Lanes{0};
  const bool gathers = offset.size() > 1;
  for (int i = 0; i < place.lanes; ++i) {
    out.offsets.push_back(offset[gathers ? static_cast<size_t>(i) : 0]);
    out.constants.push_back(place.constant + (gathers ? 0 : i * place.stride));
  }
  return out;
}

Id KernelMemory::index_constant(int64_t value) {
  return values_.constant(Scalar::of_int(function_.index_type, value));
}

Id KernelMemory::index_of(const Elements& at, size_t lane) {
  const Id offset = at.offsets[lane];
  if (offset == 0) return index_constant(at.constants[lane]);
  if (at.constants[lane] == 0) return offset;
  return values_.operation(semtree::Op::add, function_.index_type,
                           {offset, index_constant(at.constants[lane])}, true);
}

// The constant is added last: places that have the offset in common differ by a number that the
// hardware adds for nothing.
Id KernelMemory::tensor_pointer(const Elements& at, const Run& run) {
  if (!features_.int64) {
    // As one index, which is not negative: a driver was seen to take it for a number without sign.
    return module_.add(spv::Op::OpPtrAccessChain, tensor_pointer_type(at.memory, run.lanes),
                       {bases_[{at.memory, run.lanes}], index_of(at, run.first)});
  }
  const Id of = values_.type(DataType::u64);
  const int64_t bytes = element_bytes(at.memory);
  const auto number = [&](int64_t value) {
    return values_.constant(Scalar::of_int(DataType::u64, value));
  };
  Id address = addresses_[static_cast<size_t>(at.memory)];
  if (Id offset = at.offsets[run.first]) {
    offset = values_.convert(function_.index_type, DataType::u64, offset);
    if (bytes > 1) offset = module_.add(spv::Op::OpIMul, of, {offset, number(bytes)});
    address = module_.add(spv::Op::OpIAdd, of, {address, offset});
  }
  if (const int64_t constant = at.constants[run.first])
    address = module_.add(spv::Op::OpIAdd, of, {address, number(constant * bytes)});
  const Id type = module_.pointer_type(spv::StorageClass::PhysicalStorageBuffer,
                                       stored_type(at.memory, run.lanes));
  return module_.add(spv::Op::OpConvertUToPtr, type, {address});
}

// A view is the whole of the group's memory as elements of one type.
Id KernelMemory::shared_pointer(const Elements& at, const Run& run) {
  const auto storage = spv::StorageClass::Workgroup;
  const Id type = stored_type(at.memory, run.lanes);
  const int64_t bytes = element_bytes(at.memory) * static_cast<int64_t>(run.lanes);
  Id& view = views_[type];
  if (view == 0) {
    module_.capability(spv::Capability::WorkgroupMemoryExplicitLayoutKHR);
    module_.extension("SPV_KHR_workgroup_memory_explicit_layout");
    const Id all = module_.array_type(type, layout_.end / bytes, bytes);
    view = module_.global(storage, module_.pointer_type(storage, module_.block_type({all}, {0})));
    if (views_.size() > 1)
      for (const auto& [elements, other] : views_)
        module_.decorate(other, spv::Decoration::Aliased);
  }
  const int64_t begin =
      layout_.begins[static_cast<size_t>(at.memory) - function_.params.size()] / bytes;
  const int64_t constant = begin + at.constants[run.first] / static_cast<int64_t>(run.lanes);
  Id index = at.offsets[run.first];
  if (index != 0 && run.lanes > 1)
    index = values_.operation(
        semtree::Op::shift_right, function_.index_type,
        {index, index_constant(std::countr_zero(static_cast<uint64_t>(run.lanes)))});
  if (index == 0)
    index = index_constant(constant);
  else if (constant != 0)
    index = values_.operation(semtree::Op::add, function_.index_type,
                              {index, index_constant(constant)}, true);
  return module_.add(spv::Op::OpAccessChain, module_.pointer_type(storage, type),
                     {view, values_.word(0), index});
}

Id KernelMemory::pointer(const Elements& at, const Run& run) {
  if (function_.is_param(at.memory)) return tensor_pointer(at, run);
  const Array& array = function_.array(at.memory);
  if (array.in_registers) return slot(at.memory, at.constants[run.first]);
  if (array.shared && features_.shared_views) return shared_pointer(at, run);
  const Id element = array.shared ? stored_type(at.memory) : values_.type(array.type);
  const auto storage = array.shared ? spv::StorageClass::Workgroup : spv::StorageClass::Function;
  return module_.add(spv::Op::OpAccessChain, module_.pointer_type(storage, element),
                     {variables_[static_cast<size_t>(at.memory) - function_.params.size()],
                      index_of(at, run.first)});
}

// The operands that say how an access is made.
Words KernelMemory::access(const Elements& at, const Run& run) const {
  using spv::MemoryAccessMask;
  auto mask = MemoryAccessMask::MaskNone;
  if (is_shared(at.memory)) mask = mask | MemoryAccessMask::NonPrivatePointer;
  if (!function_.is_param(at.memory))
    return is_shared(at.memory) ? Words{static_cast<uint32_t>(mask)} : Words{};
  return {static_cast<uint32_t>(mask | MemoryAccessMask::Aligned),
          static_cast<uint32_t>(element_bytes(at.memory) * static_cast<int64_t>(run.lanes))};
}

KernelMemory::MatrixPointer KernelMemory::matrix_pointer(const semtree::MatrixPlace& place,
                                                         const Array::Fragment& form) {
  const Run run = run_of(place, form);
  const MatrixLines lines = lines_of(place, form, function_.element_type(place.place.memory));
  const Elements at = elements(place.place);
  return {pointer(at, run), lines.stride / static_cast<int64_t>(run.lanes), access(at, run)};
}

// ---- loads

Id KernelMemory::from_stored(int memory, Id stored) {
  const DataType type = function_.element_type(memory);
  if (!function_.is_param(memory) && !function_.array(memory).shared) return stored;
  Id value = stored;
  if (element_bytes(memory) < 4)
    value = module_.add(is_signed_integer(type) ? spv::Op::OpSConvert : spv::Op::OpUConvert,
                        values_.word_type(), {stored});
  return type == DataType::boolean ? values_.convert(DataType::u32, type, value) : value;
}

Id KernelMemory::from_word(int memory, Id word, size_t part) {
  const DataType type = function_.element_type(memory);
  const auto width = static_cast<uint32_t>(8 * element_bytes(memory));
  const auto op =
      is_signed_integer(type) ? spv::Op::OpBitFieldSExtract : spv::Op::OpBitFieldUExtract;
  const Id value =
      module_.add(op, values_.word_type(),
                  {word, values_.word(static_cast<uint32_t>(part) * width), values_.word(width)});
  return type == DataType::boolean ? values_.convert(DataType::u32, type, value) : value;
}

Lanes KernelMemory::load_run(const Elements& at, const Run& run) {
  const bool value_typed = !function_.is_param(at.memory) && !function_.array(at.memory).shared;
  const Id type = value_typed ? values_.type(function_.element_type(at.memory))
                              : stored_type(at.memory, run.lanes);
  Words operands = {pointer(at, run)};
  const Words how = access(at, run);
  operands.insert(operands.end(), how.begin(), how.end());
  const Id loaded = module_.add(spv::Op::OpLoad, type, operands);
  if (run.lanes == 1) return {from_stored(at.memory, loaded)};
  Lanes out;
  const int64_t bytes = element_bytes(at.memory);
  const size_t per_word = bytes >= 4 ? 1 : static_cast<size_t>(4 / bytes);
  const size_t parts = run.lanes / per_word;
  for (size_t i = 0; i < parts; ++i) {
    const Id element = bytes >= 4 ? stored_type(at.memory) : values_.word_type();
    const Id part = parts == 1 ? loaded
                               : module_.add(spv::Op::OpCompositeExtract, element,
                                             {loaded, static_cast<uint32_t>(i)});
    for (size_t k = 0; k < per_word; ++k)
      out.push_back(per_word == 1 ? from_stored(at.memory, part) : from_word(at.memory, part, k));
  }
  return out;
}

Lanes KernelMemory::load(const Place& place) {
  const Elements at = elements(place);
  if (place.mask) return load_masked(at, place);
  Lanes out;
  for (const Run& run : at.runs)
    for (const Id lane : load_run(at, run)) out.push_back(lane);
  return out;
}

// Lanes beyond the mask are 0. Their memory is not touched, unless it is there and only read.
Lanes KernelMemory::load_masked(const Elements& at, const Place& place) {
  const DataType type = function_.element_type(place.memory);
  const Id of = values_.type(type), zero = values_.zero(type);
  const Lanes mask = expressions_.value(place.mask);
  const bool one = std::all_of(mask.begin(), mask.end(), [&](Id m) { return m == mask[0]; });
  const bool may_read = place.exists && function_.is_param(place.memory) &&
                        !function_.params[static_cast<size_t>(place.memory)].writable;
  Lanes out;
  if (one || may_read) {
    std::optional<Branch> branch;
    if (!may_read) branch.emplace(module_, mask[0]);
    for (const Run& run : at.runs)
      for (const Id lane : load_run(at, run)) out.push_back(lane);
    if (branch) branch->end();
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = branch ? branch->merged(of, out[i], zero)
                      : values_.select(type, mask[mask.size() == 1 ? 0 : i], out[i], zero);
    return out;
  }
  for (size_t i = 0; i < mask.size(); ++i) {
    Branch branch(module_, mask[i]);
    const Id loaded = load_run(at, {i, 1})[0];
    branch.end();
    out.push_back(branch.merged(of, loaded, zero));
  }
  return out;
}

// ---- stores

Id KernelMemory::to_stored(int memory, Id value) {
  const DataType type = function_.element_type(memory);
  if (!function_.is_param(memory) && !function_.array(memory).shared) return value;
  if (type == DataType::boolean) value = values_.convert(type, DataType::u32, value);
  if (element_bytes(memory) >= 4) return value;
  return module_.add(spv::Op::OpUConvert, stored_type(memory), {value});
}

Id KernelMemory::to_word(int memory, const Lanes& values, size_t first) {
  const DataType type = function_.element_type(memory);
  const auto width = static_cast<uint32_t>(8 * element_bytes(memory));
  Id out = 0;
  for (uint32_t part = 0; part < 32 / width; ++part) {
    Id value = values[first + part];
    if (type == DataType::boolean) value = values_.convert(type, DataType::u32, value);
    out = part == 0 ? value
                    : module_.add(spv::Op::OpBitFieldInsert, values_.word_type(),
                                  {out, value, values_.word(part * width), values_.word(width)});
  }
  return out;
}

void KernelMemory::store_run(const Elements& at, const Run& run, const Lanes& lanes) {
  Id stored = 0;
  if (run.lanes == 1) {
    stored = to_stored(at.memory, lanes[run.first]);
  } else {
    const int64_t bytes = element_bytes(at.memory);
    const size_t per_word = bytes >= 4 ? 1 : static_cast<size_t>(4 / bytes);
    Words parts;
    for (size_t i = 0; i < run.lanes; i += per_word)
      parts.push_back(per_word == 1 ? to_stored(at.memory, lanes[run.first + i])
                                    : to_word(at.memory, lanes, run.first + i));
    stored = parts.size() == 1 ? parts[0]
                               : module_.add(spv::Op::OpCompositeConstruct,
                                             stored_type(at.memory, run.lanes), parts);
  }
  Words operands = {pointer(at, run), stored};
  const Words how = access(at, run);
  operands.insert(operands.end(), how.begin(), how.end());
  module_.add(spv::Op::OpStore, operands);
}

void KernelMemory::store(const Place& place, const Lanes& lanes) {
  const Elements at = elements(place);
  if (!place.mask) {
    for (const Run& run : at.runs) store_run(at, run, lanes);
    return;
  }
  const Lanes mask = expressions_.value(place.mask);
  const bool one = std::all_of(mask.begin(), mask.end(), [&](Id m) { return m == mask[0]; });
  if (one) {
    Branch branch(module_, mask[0]);
    for (const Run& run : at.runs) store_run(at, run, lanes);
    branch.end();
    return;
  }
  for (size_t i = 0; i < lanes.size(); ++i) {
    Branch branch(module_, mask[i]);
    store_run(at, {i, 1}, lanes);
    branch.end();
  }
}

}  // namespace stria::vulkan
