// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include "emit/dialect.h"
#include "library.h"
#include "stria/codegen/code_generator.h"

namespace stria::opencl {

sdk::Ref<sdk::Library> ClCompiler::compile(std::string_view stripe, std::string_view options) {
  const code_generator::BuildRequest request = code_generator::read_request(stripe, options);
  context_.check_not_lost();
  const FoundDevice& device = context_.device();
  semtree::SourceOptions print = source_options();
  print.group_points = device.group_points;
  print.shared_bytes = device.local_bytes;
  print.largest_group = device.largest_group;
  print.build.peepholes = request.peepholes();
  print.build.argument_offsets = true;
  print.print_semtree = request.dump_source;
  // Other programs need not wait for the answer.
  const bool uses_half = stripe.find(name_of(DataType::fp16)) != std::string_view::npos;
  Features features = uses_half ? context_.features() : device.features;
  features.fast_math = request.fast_math;
  return sdk::make<ClLibrary>(
      context_,
      code_generator::require(semtree::print_program(request.program, dialect(features), print)),
      request.fast_math);
}

}  // namespace stria::opencl
