// SPDX-License-Identifier: Apache-2.0
// The folder of the plugin under test once more.
#pragma once

#include <filesystem>

#include "suite/subject.h"

namespace stria::conformance {

// A copy in a scratch folder of the running case's, which goes with it. A failure is the machine's,
// of which nothing is to say of the plugin: a full disk, a folder that nobody may write to.
Result<std::filesystem::path> copy_of_plugin(Subject& subject);

}  // namespace stria::conformance
