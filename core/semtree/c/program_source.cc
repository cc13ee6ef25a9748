// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/c/program_source.h"

#include <map>
#include <utility>

#include "stria/semtree/c/c_printer.h"
#include "stria/semtree/c/source_names.h"
#include "stria/semtree/tree/print.h"

namespace stria::semtree {
namespace {

Status check_limits(const Function& function, const SourceOptions& options) {
  if (function.group_lanes == 1) return {};
  if (function.group_lanes > options.largest_group)
    return make_error(StatusCode::out_of_range,
                      "its groups have {} lanes, the device runs {} at most", function.group_lanes,
                      options.largest_group);
  int64_t bytes = 0;
  for (const Array& array : function.arrays)
    if (array.shared)
      bytes += ceil_div(array.count * byte_size(array.type), kMemoryAlignment) * kMemoryAlignment;
  if (bytes > options.shared_bytes)
    return make_error(StatusCode::out_of_range,
                      "the lanes of a group share {} bytes, the device has {} for them", bytes,
                      options.shared_bytes);
  return {};
}

// The function with names that only say what is where.
Function nameless(Function function) {
  size_t n = 0;
  for (Parameter& param : function.params) param.name = fmt::format("p{}", n++);
  for (Array& array : function.arrays) array.name = fmt::format("a{}", n++);
  for (Variable& var : function.vars) var.name = fmt::format("v{}", n++);
  return function;
}

}  // namespace

Result<Function> build_kernel(const KernelBlock& kernel, const SourceOptions& options) {
  const std::string where = fmt::format("kernel '{}'", kernel.block->name);
  Result<Function> function = build(*kernel.block, *kernel.parent, options.build);
  if (!function) return function.status().with_context(where);
  if (Status limits = check_limits(*function, options); !limits.ok())
    return limits.with_context(where);
  return function;
}

KernelDescription describe(const KernelBlock& kernel, const Function& function, size_t number,
                           const SourceOptions& options) {
  KernelDescription out;
  out.name = kernel.block->name;
  out.symbol = kernel_symbol(number, kernel.block->name);
  out.in_prologue = kernel.in_prologue;
  out.statement = kernel.statement;
  out.group_points = function.group_lanes > 1 ? function.group_lanes : options.group_points;
  out.points = function.trip_count * function.group_lanes;
  if (function.grid.empty()) out.groups[0] = ceil_div(out.points, out.group_points);
  for (size_t d = 0; d < function.grid.size(); ++d) out.groups[d] = function.grid[d].size;
  out.arguments = arguments_of(*kernel.block, function);
  if (options.print_semtree) out.semtree = semtree::print(function);
  return out;
}

Result<ProgramSource> print_program(const stripe::Program& program, const Dialect& dialect,
                                    const SourceOptions& options) {
  STRIA_ASSIGN(const ProgramKernels kernels, kernels_of(program));
  CPrinter printer(dialect);
  ProgramSource out;
  std::map<std::string, size_t> first;  // by the text without names
  for (const KernelBlock& kernel : kernels.kernels) {
    STRIA_ASSIGN(const Function function, build_kernel(kernel, options));
    SourceKernel to;
    static_cast<KernelDescription&>(to) = describe(kernel, function, out.kernels.size(), options);
    const auto print = [&](const Function& what, const std::string& symbol) {
      Result<std::string> text = printer.add(what, symbol, options.group_points);
      return text.ok() ? std::move(text)
                       : text.status().with_context(fmt::format("kernel '{}'", kernel.block->name));
    };
    Result<std::string> alike = print(nameless(function), "k");
    if (!alike.ok()) return print(function, to.symbol).status();  // with its names
    const auto [at, is_new] = first.emplace(*std::move(alike), out.kernels.size());
    to.code = at->second;
    if (is_new) {
      STRIA_ASSIGN(to.text, print(function, to.symbol));
    } else {
      to.symbol = out.kernels[to.code].symbol;
      to.text = out.kernels[to.code].text;
    }
    out.kernels.push_back(std::move(to));
  }
  out.text = out.common = printer.common();
  for (size_t k = 0; k < out.kernels.size(); ++k)
    if (out.kernels[k].code == k) out.text += out.kernels[k].text;
  return out;
}

}  // namespace stria::semtree
