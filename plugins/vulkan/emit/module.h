// SPDX-License-Identifier: Apache-2.0
// Builds the words of one SPIR-V module. Each type, constant, capability and decoration is there
// once, however often it is asked for; sections come in the order that SPIR-V demands; the same
// calls give the same words. It knows the form of a module and no meaning: what an instruction may
// do is its caller's matter. For one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emit/spirv.h"

namespace stria::vulkan {

using Id = uint32_t;
using Words = std::vector<uint32_t>;

class Module {
 public:
  // `version`: the header's word.
  explicit Module(uint32_t version) : version_(version) {}

  Id new_id() { return next_id_++; }
  void capability(spv::Capability capability);
  void extension(std::string_view name);
  // Of the module's one entry point.
  void execution_mode(spv::ExecutionMode mode, const Words& operands = {});
  void name(Id id, std::string_view name);
  void member_name(Id type, uint32_t member, std::string_view name);
  void decorate(Id id, spv::Decoration decoration, const Words& operands = {});
  void decorate_member(Id type, uint32_t member, spv::Decoration decoration,
                       const Words& operands = {});

  Id void_type();
  Id bool_type();
  // A width other than 32 brings no capability along.
  Id int_type(int width, bool is_signed = false);
  Id float_type(int width);
  // For matrices alone.
  Id bfloat16_type();
  Id vector_type(Id element, int count);
  // `stride` in bytes between elements; 0: the layout is the driver's.
  Id array_type(Id element, int64_t count, int64_t stride = 0);
  // A new type with each call. `offsets`: in bytes, one for each member.
  Id block_type(const std::vector<Id>& members, const std::vector<int64_t>& offsets);
  Id pointer_type(spv::StorageClass storage, Id to, int64_t stride = 0);
  // A matrix that a subgroup holds.
  Id matrix_type(Id component, int64_t rows, int64_t columns, khr::CooperativeMatrixUse use);
  Id function_type(Id result, const std::vector<Id>& params);

  Id int_constant(int width, uint64_t bits);
  Id float_constant(int width, double value);
  Id bool_constant(bool value);
  // Of a scalar type, by its words; of a composite type, with this constant everywhere.
  Id constant(Id type, const Words& words);
  Id filled(Id type, Id constant);
  Id undefined(Id type);

  // A variable of the module, in the interface of its entry point.
  Id global(spv::StorageClass storage, Id type);
  Id global(spv::StorageClass storage, Id type, spv::BuiltIn built_in);

  // Functions are written one at a time, but another one may be begun inside and ended first. The
  // first block's label is there; what is added next goes into that block.
  // The function's id; the parameters' go to `params`.
  Id begin_function(Id result, const std::vector<Id>& param_types, std::vector<Id>* params);
  void end_function();
  void entry_point(Id function, std::string_view name);

  // A variable of the function that is being written, of pointer type `type`.
  Id local(Id type);
  // An instruction of that function with a result, and one without.
  Id add(spv::Op op, Id type, const Words& operands);
  void add_with_id(spv::Op op, Id type, Id result, const Words& operands);
  void add(spv::Op op, const Words& operands);
  Id glsl(GLSLstd450 function, Id type, const Words& operands);
  // Begins a block.
  void label(Id id);
  // The block that is being written.
  Id block() const { return open_.back()->block; }

  Words words() const;

 private:
  struct Code {
    Words head, variables, body;
    Id block = 0;
  };

  // Result of the instruction with these words, which has no other result yet.
  Id once(spv::Op op, Id type, const Words& operands);
  Id imported_glsl();

  uint32_t version_;
  Id next_id_ = 1;
  Id glsl_ = 0;
  Id entry_ = 0;
  std::string entry_name_;
  std::set<spv::Capability> capabilities_;
  std::set<std::string, std::less<>> extensions_;
  std::set<Words> annotated_;
  std::map<Words, Id> declared_;
  Words modes_, names_, decorations_, declarations_;
  std::vector<Id> interface_;
  std::deque<Code> functions_;
  std::vector<Code*> open_;
};

// Appends one instruction.
void append(Words& to, spv::Op op, const Words& operands);
// Appends the text as SPIR-V stores it, zero-terminated.
void append_text(Words& to, std::string_view text);

}  // namespace stria::vulkan
