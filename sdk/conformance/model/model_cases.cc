// SPDX-License-Identifier: Apache-2.0
#include "model/model_cases.h"

#include "model/bounds_cases.h"
#include "model/pipeline_cases.h"
#include "model/rate_cases.h"
#include "stria/hal/files/manifest.h"

namespace stria::conformance {

void add_model_cases(CaseMaker& maker) {
  // Without a manifest that can be read, group P says what is wrong.
  const auto manifest = hal::read_manifest(maker.directory);
  if (!manifest.ok()) return;
  for (const hal::DeviceKind& kind : manifest->devices) {
    add_pipeline_cases(maker, kind.name);
    add_bounds_cases(maker, kind.name);
    add_rate_cases(maker, kind.name);
  }
}

}  // namespace stria::conformance
