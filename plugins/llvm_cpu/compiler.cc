// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include <nlohmann/json.hpp>

#include "emit/compiled_kernels.h"
#include "library.h"
#include "stria/sdk/error.h"
#include "stria/stripe/parser.h"

namespace stria::llvm_cpu {
namespace {

template <typename T>
T require(Result<T> result) {
  if (!result.ok())
    throw sdk::Error(static_cast<stria_code>(result.status().code()), result.status().message());
  return std::move(result).value();
}

// Absent is false; anything but a boolean is an error of the host's.
bool flag(const nlohmann::json& options, const char* key) {
  auto at = options.find(key);
  if (at == options.end()) return false;
  if (!at->is_boolean())
    throw sdk::Error(STRIA_INVALID_ARGUMENT, "build option '" + std::string(key) + "' is " +
                                                 at->dump() + ", not true or false");
  return at->get<bool>();
}

}  // namespace

sdk::Ref<sdk::Library> CpuCompiler::compile(std::string_view stripe, std::string_view text) {
  const nlohmann::json options = nlohmann::json::parse(text, nullptr, false);
  if (!options.is_object())
    throw sdk::Error(STRIA_INVALID_ARGUMENT,
                     "build options are not a JSON object: " + std::string(text));
  const stripe::Program program = require(stripe::parse({"device program", std::string(stripe)}));
  CompileOptions compile;
  compile.fast_math = flag(options, "fast_math");
  compile.dump_semtree = compile.dump_ir = compile.dump_assembly = flag(options, "dump_source");
  return sdk::make<CpuLibrary>(host_, require(compile_kernels(program, compile)));
}

}  // namespace stria::llvm_cpu
