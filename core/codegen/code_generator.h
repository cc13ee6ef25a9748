// SPDX-License-Identifier: Apache-2.0
// What the plugins that generate code do alike: read what the host wants built, and say what was
// made. Failures are thrown as sdk::Error, which the C++ helper turns into the host's status.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stria/sdk/error.h"
#include "stria/sdk/host.h"
#include "stria/sdk/info.h"
#include "stria/semtree/build/kernels.h"
#include "stria/semtree/peephole/peepholes.h"
#include "stria/stripe/text/parser.h"

namespace stria::code_generator {

inline void require(const Status& status) {
  if (!status.ok()) throw sdk::Error(static_cast<stria_code>(status.code()), status.message());
}
template <typename T>
T require(Result<T> result) {
  require(result.status());
  return std::move(result).value();
}

// Absent is false; anything but a boolean is an error of the host's.
inline bool flag(const nlohmann::json& options, const char* key) {
  auto at = options.find(key);
  if (at == options.end()) return false;
  if (!at->is_boolean())
    throw sdk::Error(STRIA_INVALID_ARGUMENT, "build option '" + std::string(key) + "' is " +
                                                 at->dump() + ", not true or false");
  return at->get<bool>();
}

// The arguments of sdk::Compiler::compile.
struct BuildOptions {
  bool fast_math = false;
  bool dump_source = false;
  bool no_peepholes = false;
  semtree::Peepholes peepholes() const {
    return no_peepholes ? semtree::Peepholes::none() : semtree::Peepholes();
  }
};
inline BuildOptions read_options(std::string_view text) {
  const nlohmann::json options = nlohmann::json::parse(text, nullptr, false);
  if (!options.is_object())
    throw sdk::Error(STRIA_INVALID_ARGUMENT,
                     "build options are not a JSON object: " + std::string(text));
  return {flag(options, "fast_math"), flag(options, "dump_source"), flag(options, "no_peepholes")};
}
inline stripe::Program read_program(std::string_view stripe) {
  return require(stripe::parse({"device program", std::string(stripe)}));
}

struct BuildRequest : BuildOptions {
  stripe::Program program;
};
inline BuildRequest read_request(std::string_view stripe, std::string_view text) {
  const BuildOptions options = read_options(text);
  return {options, read_program(stripe)};
}

// `Kernel` has the members name, in_prologue, statement and arguments (semtree::KernelArgument).
template <typename Kernel>
sdk::KernelInfo info_of(const Kernel& kernel) {
  sdk::KernelInfo info;
  info.name = kernel.name;
  info.part = kernel.in_prologue ? STRIA_PROLOGUE : STRIA_MAIN;
  info.statement = static_cast<uint64_t>(kernel.statement);
  for (const semtree::KernelArgument& argument : kernel.arguments) {
    sdk::ArgumentInfo to;
    to.name = argument.name;
    to.direction = argument.writable ? (argument.readable ? STRIA_INOUT : STRIA_OUT) : STRIA_IN;
    to.bytes = static_cast<uint64_t>(argument.bytes);
    info.arguments.push_back(std::move(to));
  }
  return info;
}

// What the host's cache has of a key. A cache that fails is one without the entry: what it holds
// can be made again.
inline std::optional<std::string> kept(const sdk::Host& host, const std::string& key) {
  try {
    return host.cache_get(key);
  } catch (const sdk::Error&) {
    return std::nullopt;
  }
}
inline void keep(const sdk::Host& host, const std::string& key, const std::string& value) {
  try {
    host.cache_put(key, value);
  } catch (const sdk::Error&) {
  }
}

}  // namespace stria::code_generator
