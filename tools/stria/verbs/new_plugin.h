// SPDX-License-Identifier: Apache-2.0
// `stria new-plugin`: writes the project of a device plugin that builds and runs as it is.
#pragma once

#include "failure.h"
#include "new_plugin/project_template.h"

namespace stria::command {

struct NewPluginOptions {
  PluginChoice choice;
};
Outcome new_plugin(const NewPluginOptions& options);

}  // namespace stria::command
