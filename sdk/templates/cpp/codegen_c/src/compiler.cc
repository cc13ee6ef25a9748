// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "library.h"
#include "passes.h"
#include "stria/sdk/build_options.h"
#include "stria/sdk/reader.h"
#include "vendor_compiler.h"
#include "vendor_failure.h"

namespace acme_plugin {
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

}  // namespace

std::string AcmeCompiler::code_of(const std::string& text) const {
  char identity[ACME_IDENTITY_BYTES], message[ACME_MESSAGE_BYTES];
  check_call("look for a compiler", acme_compiler_identity(identity, message));
  const std::string key = std::string("acme, ") + identity + "\n" + text;
  // A cache that fails is one without the entry: the code can be made again.
  try {
    std::optional<std::string> kept = host_.cache_get(key);
    if (kept && !kept->empty()) return *std::move(kept);
  } catch (const sdk::Error&) {
  }
  void* bytes = nullptr;
  size_t size = 0;
  check_call("compile", acme_compile(text.data(), text.size(), &bytes, &size, message));
  const std::unique_ptr<void, void (*)(void*)> owner(bytes, std::free);
  std::string code(static_cast<const char*>(bytes), size);
  try {
    host_.cache_put(key, code);
  } catch (const sdk::Error&) {
  }
  return code;
}

sdk::Ref<sdk::Library> AcmeCompiler::compile(std::string_view stripe, std::string_view options) {
  stria_tree_options how{};
  how.size = sizeof how;
  how.no_peepholes = sdk::read_build_options(options).no_peepholes;
  sdk::ReaderProgram program;
  sdk::check(sdk::read_program("device program", stripe, &program));
  sdk::CSource source;
  sdk::check(source.create());

  std::vector<ProgramKernel> kernels;
  std::vector<std::string> symbols;  // of the kernels; empty: interpreted
  bool any_code = false, any_interpreted = false;
  for (const stria_kernel_block& block : sdk::kernels(*program)) {
    ProgramKernel kernel;
    kernel.info = info_of(block);
    sdk::ReaderTree tree;
    sdk::ReaderError error = sdk::build_tree(program, kernels.size(), &tree, &how);
    if (!error) error = source.add(tree);
    if (error.code() == STRIA_UNSUPPORTED || error.code() == STRIA_OUT_OF_RANGE) {
      // C cannot say it: `stria run --profile` shows why.
      kernel.info.interpreted = error.message();
      symbols.emplace_back();
      any_interpreted = true;
      host_.log(STRIA_LOG_WARNING, "acme: kernel '" + kernel.info.name +
                                       "' is interpreted: " + kernel.info.interpreted);
    } else {
      sdk::check(std::move(error));
      kernel.points = tree->trip_count;
      symbols.emplace_back(sdk::text_of(tree->symbol));
      any_code = true;
    }
    kernels.push_back(std::move(kernel));
  }

  std::string text;
  std::shared_ptr<const Code> code;
  if (any_code) {
    sdk::check(source.print(&text));
    code = std::make_shared<const Code>(code_of(text));
    for (size_t k = 0; k < kernels.size(); ++k)
      if (!symbols[k].empty()) kernels[k].code = code->entry(symbols[k]);
  }
  std::unique_ptr<const sdk::HostProgram> interpreted;
  if (any_interpreted) interpreted = std::make_unique<const sdk::HostProgram>(host_, stripe);
  return sdk::make<AcmeLibrary>(host_, std::move(kernels), std::move(text), std::move(code),
                                std::move(interpreted));
}

std::vector<sdk::NamedText> AcmeCompiler::transform(std::string_view stripe, std::string_view pass,
                                                    std::string_view options) {
  if (pass == "short_loops") return short_loops(stripe, options);
  throw sdk::Error(STRIA_NOT_FOUND, "there is no pass '" + std::string(pass) + "'",
                   "acme has the pass short_loops");
}

}  // namespace acme_plugin
