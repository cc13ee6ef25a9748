// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/tile_cost.h"

namespace stria::cost {

void describe_filter(TileFilter& filter, OptionFields& fields) {
  fields.add("only_po2", filter.only_po2, "sizes are powers of two");
  fields.add("only_even", filter.only_even, "sizes divide their ranges");
  fields.add("only_multiple_of", filter.only_multiple_of,
             "sizes are multiples of it; shorter ranges stay whole", {1, 1 << 20});
  fields.add("cut_reductions", filter.cut_reductions, "reductions may be cut");
}

}  // namespace stria::cost
