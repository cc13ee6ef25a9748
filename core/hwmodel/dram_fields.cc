// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/dram_fields.h"

#include <nlohmann/json.hpp>

namespace stria {
namespace {

constexpr double kLeastNs = 1e-6, kMostNs = 1e6;

}  // namespace

Status read_dram(ObjectReader& memory, std::optional<DramRows>& dram) {
  if (!memory.get("dram")) return {};
  ObjectReader reader = memory.inside("dram");
  STRIA_RETURN_IF_ERROR(reader.check());
  DramRows rows;
  STRIA_RETURN_IF_ERROR(reader.integer("banks", rows.banks, 1));
  STRIA_RETURN_IF_ERROR(reader.integer("row_bytes", rows.row_bytes, 1));
  STRIA_RETURN_IF_ERROR(reader.integer("burst_bytes", rows.burst_bytes, 1));
  STRIA_RETURN_IF_ERROR(reader.real("burst_ns", rows.burst_ns, 0, kMostNs));
  STRIA_RETURN_IF_ERROR(reader.real("row_cycle_ns", rows.row_cycle_ns, 0, kMostNs));
  STRIA_RETURN_IF_ERROR(reader.real("activate_ns", rows.activate_ns, 0, kMostNs));
  STRIA_RETURN_IF_ERROR(reader.real("refresh_interval_ns", rows.refresh_interval_ns));
  STRIA_RETURN_IF_ERROR(reader.real("refresh_ns", rows.refresh_ns));
  STRIA_RETURN_IF_ERROR(reader.finish());
  for (const char* key : {"row_bytes", "burst_bytes", "burst_ns"})
    if (!reader.get(key)) return memory.fail("dram", fmt::format("'{}' is missing", key));
  if (rows.burst_ns < kLeastNs)
    return reader.fail("burst_ns",
                       fmt::format("must be {} or more, this is {}", kLeastNs, rows.burst_ns));
  if (rows.row_bytes % rows.burst_bytes != 0)
    return reader.fail("row_bytes", fmt::format("must be whole bursts of {} bytes, this is {}",
                                                rows.burst_bytes, rows.row_bytes));
  if (rows.refresh_ns > 0 && rows.refresh_ns >= rows.refresh_interval_ns)
    return reader.fail("refresh_ns",
                       fmt::format("must be less than refresh_interval_ns, {}; this is {}",
                                   rows.refresh_interval_ns, rows.refresh_ns));
  dram = rows;
  return {};
}

}  // namespace stria
