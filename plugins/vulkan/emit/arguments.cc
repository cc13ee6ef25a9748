// SPDX-License-Identifier: Apache-2.0
#include "emit/arguments.h"

namespace stria::vulkan {

using spv::StorageClass;

Arguments::Arguments(Module& module, Values& values, const KernelCode& kernel,
                     const Features& features)
    : module_(module), values_(values) {
  const auto& params = kernel.function.params;
  if (params.empty() && !kernel.takes_base_group) return;
  const Id address =
      features.int64 ? values.type(DataType::u64) : module.vector_type(values.word_type(), 2);
  std::vector<Id> members(params.size(), address);
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < params.size(); ++i)
    offsets.push_back(kAddressBytes * static_cast<int64_t>(i));
  const auto name_addresses = [&](Id block) {
    module.name(block, "arguments");
    for (size_t i = 0; i < params.size(); ++i)
      module.member_name(block, static_cast<uint32_t>(i), params[i].name);
  };
  Id pointer = 0;  // to the memory where addresses are; 0: they are pushed
  if (kernel.addresses_in_buffer) {
    const Id block = module.block_type(members, offsets);
    name_addresses(block);
    pointer = module.pointer_type(StorageClass::PhysicalStorageBuffer, block);
    members = {pointer};
    offsets = {0};
  }
  base_member_ = static_cast<uint32_t>(members.size());
  if (kernel.takes_base_group)
    for (int64_t d = 0; d < 3; ++d) {
      members.push_back(values.word_type());
      offsets.push_back(kAddressBytes * static_cast<int64_t>(base_member_) + 4 * d);
    }
  const Id pushed = module.block_type(members, offsets);
  if (pointer == 0) name_addresses(pushed);
  for (uint32_t m = base_member_; m < members.size(); ++m)
    module.member_name(pushed, m, std::string("base_group_") + "xyz"[m - base_member_]);
  pushed_ = module.global(StorageClass::PushConstant,
                          module.pointer_type(StorageClass::PushConstant, pushed));
  const StorageClass storage =
      pointer == 0 ? StorageClass::PushConstant : StorageClass::PhysicalStorageBuffer;
  const Id block = pointer == 0 ? pushed_ : load_pushed(pointer, 0);
  for (size_t i = 0; i < params.size(); ++i) {
    const Id at = module.add(spv::Op::OpAccessChain, module.pointer_type(storage, address),
                             {block, values.word(static_cast<uint32_t>(i))});
    Words operands = {at};
    if (pointer != 0) {
      operands.push_back(static_cast<uint32_t>(spv::MemoryAccessMask::Aligned));
      operands.push_back(kAddressBytes);
    }
    addresses_.push_back(module.add(spv::Op::OpLoad, address, operands));
    if (features.int64) module.name(addresses_.back(), params[i].name);
  }
}

Id Arguments::load_pushed(Id type, uint32_t member) {
  const Id at =
      module_.add(spv::Op::OpAccessChain, module_.pointer_type(StorageClass::PushConstant, type),
                  {pushed_, values_.word(member)});
  return module_.add(spv::Op::OpLoad, type, {at});
}

Id Arguments::base_group(uint32_t dim) {
  return load_pushed(values_.word_type(), base_member_ + dim);
}

}  // namespace stria::vulkan
