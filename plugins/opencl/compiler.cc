// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include "code_generator.h"
#include "emit/program_source.h"
#include "library.h"

namespace stria::opencl {

sdk::Ref<sdk::Library> ClCompiler::compile(std::string_view stripe, std::string_view options) {
  const code_generator::BuildRequest request = code_generator::read_request(stripe, options);
  SourceOptions print;
  print.features = context_.device().features;
  print.group_points = context_.device().group_points;
  print.enough_points = context_.device().enough_points;
  print.local_bytes = context_.device().local_bytes;
  print.largest_group = context_.device().largest_group;
  print.print_semtree = request.dump_source;
  return sdk::make<ClLibrary>(
      context_, code_generator::require(print_program(request.program, print)), request.fast_math);
}

}  // namespace stria::opencl
