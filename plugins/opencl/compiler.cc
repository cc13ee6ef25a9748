// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include <nlohmann/json.hpp>

#include "emit/program_source.h"
#include "library.h"
#include "stria/sdk/error.h"
#include "stria/stripe/parser.h"

namespace stria::opencl {
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

sdk::Ref<sdk::Library> ClCompiler::compile(std::string_view stripe, std::string_view text) {
  const nlohmann::json options = nlohmann::json::parse(text, nullptr, false);
  if (!options.is_object())
    throw sdk::Error(STRIA_INVALID_ARGUMENT,
                     "build options are not a JSON object: " + std::string(text));
  const bool fast_math = flag(options, "fast_math");
  SourceOptions print;
  print.features = context_.device().features;
  print.group_points = context_.device().group_points;
  print.enough_points = context_.device().enough_points;
  print.print_semtree = flag(options, "dump_source");
  const stripe::Program program = require(stripe::parse({"device program", std::string(stripe)}));
  return sdk::make<ClLibrary>(context_, require(print_program(program, print)), fast_math);
}

}  // namespace stria::opencl
