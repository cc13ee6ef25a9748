// SPDX-License-Identifier: Apache-2.0
// One kernel as a module: its entry point, and what number of its group and lane is which variable.
#include "emit/arguments.h"
#include "emit/branch.h"
#include "emit/expressions.h"
#include "emit/kernel_memory.h"
#include "emit/math_calls.h"
#include "emit/matrices.h"
#include "emit/matrix_patches.h"
#include "emit/module.h"
#include "emit/program.h"
#include "emit/requirements.h"
#include "emit/statements.h"
#include "emit/values.h"

namespace stria::vulkan {
namespace {

using semtree::Function;

class KernelEmitter {
 public:
  KernelEmitter(const KernelCode& kernel, const Features& features)
      : kernel_(kernel),
        function_(kernel.function),
        features_(features),
        module_(features.spirv_version),
        values_(module_, features),
        calls_(module_, values_, features),
        expressions_(module_, values_, calls_, kernel.function.vars.size()) {}

  Result<std::vector<uint32_t>> emit(bool any_offset) {
    for (const auto capability : {spv::Capability::Shader, spv::Capability::VulkanMemoryModel,
                                  spv::Capability::PhysicalStorageBufferAddresses})
      module_.capability(capability);
    const Id main = module_.begin_function(module_.void_type(), {}, nullptr);
    module_.entry_point(main, "main");
    module_.name(main, "main");
    module_.execution_mode(spv::ExecutionMode::LocalSize,
                           {static_cast<uint32_t>(kernel_.group_lanes), 1, 1});
    Arguments arguments(module_, values_, kernel_, features_);
    KernelMemory memory(module_, values_, expressions_, function_, features_, arguments.addresses(),
                        any_offset);
    Matrices matrices(module_, values_, memory, function_);
    Statements statements(module_, values_, expressions_, &memory, &matrices, function_.vars);
    if (const Id runs = set_numbers(arguments)) {
      Branch inside(module_, runs);
      statements.add_all(function_.body);
      inside.end();
    } else {
      statements.add_all(function_.body);
    }
    module_.add(spv::Op::OpReturn, {});
    module_.end_function();
    STRIA_RETURN_IF_ERROR(calls_.status());
    values_.add_float_modes();
    return module_.words();
  }

 private:
  Id index_type() { return values_.type(function_.index_type); }
  Id index(int64_t value) { return values_.constant(Scalar::of_int(function_.index_type, value)); }
  Id add(spv::Op op, Id a, Id b) { return module_.add(op, index_type(), {a, b}); }

  // Component `dim` of a built-in vector of the launch.
  Id word(spv::BuiltIn built_in, uint32_t dim) {
    const Id word = values_.word_type(), vector = module_.vector_type(word, 3);
    Id& loaded = built_in == spv::BuiltIn::WorkgroupId ? group_ : lane_;
    if (loaded == 0) {
      const auto input = spv::StorageClass::Input;
      const Id variable = module_.global(input, module_.pointer_type(input, vector), built_in);
      loaded = module_.add(spv::Op::OpLoad, vector, {variable});
    }
    return module_.add(spv::Op::OpCompositeExtract, word, {loaded, dim});
  }
  Id as_index(Id word) {
    return function_.index_type == DataType::i64
               ? module_.add(spv::Op::OpUConvert, index_type(), {word})
               : word;
  }
  Id lane() { return as_index(word(spv::BuiltIn::LocalInvocationId, 0)); }
  // The group's number in a dimension, of all that the kernel has.
  Id group(Arguments& arguments, uint32_t dim) {
    Id out = word(spv::BuiltIn::WorkgroupId, dim);
    // A dimension of one group is never cut.
    if (kernel_.takes_base_group && kernel_.groups[dim] > 1)
      out = module_.add(spv::Op::OpIAdd, values_.word_type(), {out, arguments.base_group(dim)});
    return as_index(out);
  }

  // The group's number among all of them, in whatever dimensions they are launched.
  Id linear_group(Arguments& arguments) {
    Id out = group(arguments, 0);
    int64_t size = kernel_.groups[0];
    for (uint32_t d = 1; d < 3; ++d) {
      if (kernel_.groups[d] == 1) continue;
      const Id rows = add(spv::Op::OpIMul, group(arguments, d), index(size));
      out = add(spv::Op::OpIAdd, out, rows);
      size *= kernel_.groups[d];
    }
    return out;
  }

  void set(int var, Id id) {
    module_.name(id, function_.vars[static_cast<size_t>(var)].name);
    expressions_.set(var, {id});
  }

  // Gives the variables of the launch their values. Returns the condition that this point exists, 0
  // if all do.
  Id set_numbers(Arguments& arguments) {
    const bool in_groups = function_.group_lanes > 1;
    if (in_groups) set(function_.lane_var, lane());
    if (in_groups && function_.grid.size() > 1) {
      for (size_t d = 0; d < function_.grid.size(); ++d)
        set(function_.grid[d].var, group(arguments, static_cast<uint32_t>(d)));
      return 0;
    }
    const int var = !in_groups               ? function_.parallel_var
                    : function_.grid.empty() ? -1
                                             : function_.grid[0].var;
    const int64_t size =
        in_groups && !function_.grid.empty() ? function_.grid[0].size : function_.trip_count;
    int64_t launched = kernel_.groups[0] * kernel_.groups[1] * kernel_.groups[2];
    if (in_groups && launched == size && var < 0) return 0;
    Id point = linear_group(arguments);
    if (!in_groups) {
      launched *= kernel_.group_lanes;
      if (kernel_.group_lanes > 1)
        point =
            add(spv::Op::OpIAdd, add(spv::Op::OpIMul, point, index(kernel_.group_lanes)), lane());
    }
    if (var >= 0) set(var, point);
    if (launched == size) return 0;
    // Without a sign, for the numbers beyond the last point may be beyond the index type, too.
    return module_.add(spv::Op::OpULessThan, module_.bool_type(), {point, index(size)});
  }

  const KernelCode& kernel_;
  const Function& function_;
  const Features& features_;
  Module module_;
  Values values_;
  MathCalls calls_;
  Expressions expressions_;
  Id group_ = 0, lane_ = 0;
};

}  // namespace

Result<std::vector<uint32_t>> emit(const KernelCode& kernel, const Features& features,
                                   bool any_offset) {
  const std::string where =
      fmt::format("kernel '{}'{}", kernel.name, any_offset ? " for tensors at any offset" : "");
  KernelCode code = kernel;
  if (any_offset && kernel.without_patches)
    code.function = through_patches(*kernel.without_patches, features, kernel.matrix_lanes, true);
  if (Status lacks = check_device(code.function, features, code.shared_bytes); !lacks.ok())
    return lacks.with_context(where);
  Result<std::vector<uint32_t>> words = KernelEmitter(code, features).emit(any_offset);
  if (!words) return words.status().with_context(where);
  return words;
}

}  // namespace stria::vulkan
