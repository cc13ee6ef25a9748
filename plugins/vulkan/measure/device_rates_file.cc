// SPDX-License-Identifier: Apache-2.0
// The file that keeps what was measured of a device, and its place among the device's properties.
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "measure/device_rates.h"
#include "stria/base/cache_folder.h"
#include "stria/base/file.h"
#include "stria/base/json_object.h"
#include "stria/base/text.h"

namespace stria::vulkan {
namespace {

using nlohmann::json;

std::filesystem::path file_of(const std::filesystem::path& folder, const std::string& key) {
  return folder / fmt::format("vulkan-{:016x}.json", stable_hash(key));
}

// A number as it is measured; anything else makes the file a damaged one.
bool read_number(const json& object, const std::string& key, double& value) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number()) return false;
  value = at->get<double>();
  return std::isfinite(value) && value >= 0 && value <= 1e6;
}

}  // namespace

std::string device_rates_key(const FoundDevice& device) {
  return fmt::format("vulkan {} measurement 2: {}", STRIA_VERSION, device.build_key);
}

std::optional<MeasuredRates> read_device_rates(const std::filesystem::path& folder,
                                               const std::string& key) {
  constexpr size_t kMaxBytes = 1 << 16;
  const auto text = read_file(file_of(folder, key), kMaxBytes, kNoPatience);
  if (!text.ok()) return std::nullopt;
  const json root = json::parse(*text, nullptr, false);
  if (!root.is_object() || root.value("key", json()) != key) return std::nullopt;
  MeasuredRates out;
  double unit_KiB = 0;
  if (!read_number(root, "clock_mhz", out.clock_mhz) ||
      !read_number(root, "launch_us", out.launch_us) || !read_number(root, "unit_KiB", unit_KiB) ||
      unit_KiB != std::floor(unit_KiB))
    return std::nullopt;
  out.unit_KiB = static_cast<int64_t>(unit_KiB);
  const auto cycles = root.find("matrix_cycles");
  if (cycles == root.end() || !cycles->is_object()) return std::nullopt;
  for (const auto& [name, value] : cycles->items())
    if (!read_number(*cycles, name, out.matrix_cycles[name])) return std::nullopt;
  out.complete = true;
  return out;
}

Status write_device_rates(const std::filesystem::path& folder, const std::string& key,
                          const MeasuredRates& rates) {
  if (const int error = make_cache_folder(folder); error != 0)
    return invalid_argument("cannot make '{}': {}", folder.string(), std::strerror(error));
  const json root = {{"key", key},
                     {"clock_mhz", rates.clock_mhz},
                     {"launch_us", rates.launch_us},
                     {"unit_KiB", rates.unit_KiB},
                     {"matrix_cycles", rates.matrix_cycles}};
  return write_cache_file(file_of(folder, key), root.dump(1) + "\n");
}

std::string with_rates(const std::string& properties, const MeasuredRates& rates) {
  json out = json::parse(properties);
  if (rates.clock_mhz > 0) out["clock_mhz"] = rates.clock_mhz;
  if (rates.launch_us > 0) out["launch_us"] = rates.launch_us;
  if (rates.unit_KiB > 0)
    object_at(object_at(out, "mem_units"), "LOCAL")["unit_KiB"] = rates.unit_KiB;
  // The file may know more instructions than are listed: features can be hidden.
  const json::json_pointer instructions("/exec_units/SUBGROUP/instructions");
  for (const auto& [name, cycles] : rates.matrix_cycles)
    if (out.contains(instructions / name)) out[instructions / name]["cycles"] = cycles;
  return out.dump();
}

}  // namespace stria::vulkan
