// SPDX-License-Identifier: Apache-2.0
#include "generator.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "library.h"
#include "micro_kernels.h"
#include "stria/sdk/build_options.h"
#include "stria/sdk/reader.h"

namespace c_generator {
namespace {

namespace sdk = stria::sdk;

// What the host wants to know of a kernel.
sdk::KernelInfo info_of(const stria_kernel_block& kernel) {
  sdk::KernelInfo out;
  out.name = sdk::text_of(kernel.name);
  out.part = kernel.part;
  out.statement = kernel.statement;
  for (const stria_kernel_argument& argument : sdk::arguments(kernel)) {
    sdk::ArgumentInfo to;
    to.name = sdk::text_of(argument.name);
    to.direction = argument.direction;
    to.bytes = argument.bytes;
    out.arguments.push_back(std::move(to));
  }
  return out;
}

// "3 of 8 kernels are interpreted: 'kernel_2' (…), …", or "".
std::string describe_interpreted(const std::vector<ProgramKernel>& kernels) {
  size_t count = 0;
  std::string each;
  for (const ProgramKernel& kernel : kernels) {
    if (kernel.info.interpreted.empty()) continue;
    each +=
        (count++ == 0 ? ": '" : ", '") + kernel.info.name + "' (" + kernel.info.interpreted + ")";
  }
  if (count == 0) return "";
  return std::to_string(count) + " of " + std::to_string(kernels.size()) +
         " kernels are interpreted" + each;
}

}  // namespace

std::string Generator::code_of(const std::string& text) const {
  const std::string key = "c_generator, " + compiler_.identity() + "\n" + text;
  // A cache that fails is one without the entry: the code can be made again.
  try {
    if (std::optional<std::string> kept = host_.cache_get(key)) return *std::move(kept);
  } catch (const sdk::Error&) {
  }
  std::string code = compiler_.compile(text);
  try {
    host_.cache_put(key, code);
  } catch (const sdk::Error&) {
  }
  return code;
}

sdk::Ref<sdk::Library> Generator::compile(std::string_view stripe, std::string_view options) {
  stria_tree_options how{};
  how.size = sizeof how;
  how.no_peepholes = sdk::read_build_options(options).no_peepholes;
  sdk::ReaderProgram program;
  sdk::check(sdk::read_program("device program", stripe, &program));
  sdk::CSource source;
  sdk::check(source.create());

  std::vector<ProgramKernel> kernels;
  std::vector<std::string> symbols;
  std::map<std::string, stria_micro_kernel> called;  // functions of the plugin
  bool any_code = false, any_interpreted = false;
  for (const stria_kernel_block& block : sdk::kernels(*program)) {
    ProgramKernel kernel;
    kernel.info = info_of(block);
    sdk::ReaderTree tree;
    sdk::ReaderError error = sdk::build_tree(program, kernels.size(), &tree, &how);
    if (!error) error = source.add(tree);
    if (error.code() == STRIA_UNSUPPORTED || error.code() == STRIA_OUT_OF_RANGE) {
      kernel.info.interpreted = error.message();
      any_interpreted = true;
      symbols.emplace_back();
    } else {
      sdk::check(std::move(error));
      kernel.points = tree->trip_count;
      symbols.emplace_back(sdk::text_of(tree->symbol));
      for (const stria_string& name : sdk::micro_kernels(*tree))
        called[std::string(sdk::text_of(name))] = find_micro_kernel(sdk::text_of(name));
      any_code = true;
    }
    kernels.push_back(std::move(kernel));
  }

  std::string text;
  std::shared_ptr<const SharedObject> object;
  if (any_code) {
    sdk::check(source.print(&text));
    object = std::make_shared<SharedObject>(code_of(text));
    for (const auto& [name, function] : called) object->set_micro_kernel(name, function);
    for (size_t k = 0; k < kernels.size(); ++k)
      if (!symbols[k].empty()) kernels[k].code = object->kernel(symbols[k]);
  }
  std::unique_ptr<const sdk::HostProgram> interpreted;
  if (any_interpreted) {
    interpreted = std::make_unique<sdk::HostProgram>(host_, stripe);
    host_.log(STRIA_LOG_WARNING, "c_generator: " + describe_interpreted(kernels));
  }
  return sdk::make<CLibrary>(host_, std::move(kernels), std::move(text), std::move(object),
                             std::move(interpreted));
}

}  // namespace c_generator
