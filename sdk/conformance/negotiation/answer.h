// SPDX-License-Identifier: Apache-2.0
// What a plugin answers to a host that may say other things of itself than the product's does.
#pragma once

#include <string>
#include <string_view>

#include "stria/hal/files/manifest.h"
#include "suite/subject.h"

namespace stria::conformance {

struct Answer {
  stria_code refusal = STRIA_OK;  // STRIA_OK: it did not refuse
  std::string text;               // of the refusal
};

// Calls stria_plugin_query; loads the plugin before, if need be. Fails if that lets an exception
// out, or returns an error that is none.
Result<Answer> ask(Subject& subject, const stria_host_info* host, stria_plugin_info* info);
// The same as the product's own host, into `info`, which is made empty before. Fails if the plugin
// refuses.
Status ask_as_product(Subject& subject, stria_plugin_info& info);

// A range as the suite's messages want it; one at no address has no versions.
hal::VersionRange range_of(const stria_version_range* range);
// Whether `info` says which versions the plugin speaks, as the manifest does.
Status check_own_ranges(const Subject& subject, const stria_plugin_info& info);

// "INCOMPATIBLE (7)".
std::string code_text(stria_code code);

}  // namespace stria::conformance
