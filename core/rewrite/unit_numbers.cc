// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/unit_numbers.h"

#include <optional>

namespace stria::passes {

void fold_unit_numbers(stripe::Block& block, const HardwareModel& model) {
  for (stripe::LocationUnit& unit : block.location.path) {
    const std::optional<int64_t> count = model.unit_count(unit.name);
    if (!count || *count <= 0) continue;
    for (Affine& form : unit.units)
      if (form.is_constant()) form = Affine((form.constant() % *count + *count) % *count);
  }
}

}  // namespace stria::passes
