// SPDX-License-Identifier: Apache-2.0
#include "negotiation/answer.h"

#include <cxxabi.h>

#include <exception>
#include <iterator>

#include "stria/hal/boundary/info.h"
#include "stria/hal/boundary/sized.h"
#include "suite/case.h"
#include "suite/checked_tables.h"

namespace stria::conformance {

Result<Answer> ask(Subject& subject, const stria_host_info* host, stria_plugin_info* info) {
  STRIA_RETURN_IF_ERROR(subject.load());
  if (!host || !info) return make_error(StatusCode::out_of_memory, "no memory for this case");
  stria_error* error = nullptr;
  try {
    error = subject.query()(host, info);
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& thrown) {
    return broken_rule(Rule::no_exception, "stria_plugin_query lets an exception out ({})",
                       thrown.what());
  } catch (...) {
    return broken_rule(Rule::no_exception, "stria_plugin_query lets an exception out");
  }
  if (!error) return Answer();
  if (const auto fault = fault_of(*error))
    return broken_rule(fault->rule, "stria_plugin_query returns an error {}", fault->text);
  Answer out{error->code, std::string(hal::view_of(error->message))};
  error->release(error);
  return out;
}

Status ask_as_product(Subject& subject, stria_plugin_info& info) {
  const HostSays host;
  info = stria_plugin_info{};
  info.size = sizeof info;
  STRIA_ASSIGN(const Answer answer, ask(subject, &host.info, &info));
  if (answer.refusal != STRIA_OK)
    return broken("it refuses the product's own host: {} ({})", code_text(answer.refusal),
                  hal::one_line(answer.text));
  return Status();
}

hal::VersionRange range_of(const stria_version_range* range) {
  if (!hal::is_address(range, alignof(stria_version_range))) return {};
  return {STRIA_SIZED(*range, major, 0u), STRIA_SIZED(*range, minor_min, 0u),
          STRIA_SIZED(*range, minor_max, 0u)};
}

namespace {

Status check_range(const char* what, const stria_version_range* said,
                   const hal::VersionRange& manifest) {
  if (!said)
    return broken_rule(Rule::says_versions, "the plugin's own {} versions are not filled in", what);
  if (!hal::is_address(said, alignof(stria_version_range)))
    return broken_rule(Rule::says_versions, "the plugin's own {} versions are at no address", what);
  constexpr uint64_t kLeast = offsetof(stria_version_range, minor_max) + sizeof said->minor_max;
  if (said->size < kLeast)
    return broken_rule(Rule::struct_size,
                       "the struct of the plugin's {} versions says that it has {} bytes, not {}",
                       what, said->size, sizeof *said);
  if (range_of(said) != manifest)
    return broken_rule(Rule::as_manifest, "the plugin says {} versions {}, its manifest {}", what,
                       hal::to_string(range_of(said)), hal::to_string(manifest));
  return Status();
}

}  // namespace

Status check_own_ranges(const Subject& subject, const stria_plugin_info& info) {
  STRIA_RETURN_IF_ERROR(subject.manifest().status());
  STRIA_RETURN_IF_ERROR(
      check_range("ABI", STRIA_SIZED(info, abi, nullptr), subject.manifest()->abi));
  return check_range("Stripe text", STRIA_SIZED(info, stripe, nullptr), subject.manifest()->stripe);
}

std::string code_text(stria_code code) {
  static constexpr const char* kNames[] = {
      "OK",           "INVALID_ARGUMENT",  "NOT_FOUND",
      "OUT_OF_RANGE", "UNIMPLEMENTED",     "UNSUPPORTED",
      "UNAVAILABLE",  "INCOMPATIBLE",      "OUT_OF_MEMORY",
      "DEVICE_LOST",  "PERMISSION_DENIED", "DEADLINE_EXCEEDED",
      "CANCELLED",    "DATA_LOSS",         "FAILED_PRECONDITION",
      "UNKNOWN",      "INTERNAL"};
  if (code < 0 || code >= static_cast<stria_code>(std::size(kNames)))
    return fmt::format("the code {}, which is none", code);
  return fmt::format("STRIA_{}", kNames[code]);
}

}  // namespace stria::conformance
