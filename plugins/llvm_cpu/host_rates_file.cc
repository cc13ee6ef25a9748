// SPDX-License-Identifier: Apache-2.0
// The file that keeps what was measured of this machine.
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "host_rates.h"
#include "stria/base/cache_folder.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/type/data_type.h"

namespace stria::llvm_cpu {
namespace {

using nlohmann::json;

constexpr const char* kFields[] = {"ops_per_cycle", "l1_bytes", "l2_bytes", "l3_bytes",
                                   "dram_bytes"};

std::filesystem::path file_of(const std::filesystem::path& folder, const std::string& key) {
  return folder / fmt::format("llvm_cpu-{:016x}.json", stable_hash(key));
}

// A number as it is measured; anything else makes the file a damaged one.
bool read_number(const json& object, const char* key, double& value) {
  auto at = object.find(key);
  if (at == object.end() || !at->is_number()) return false;
  value = at->get<double>();
  return std::isfinite(value) && value >= 0 && value <= 1e6;
}

}  // namespace

std::string host_rates_key(const Processor& processor) {
  return fmt::format("llvm_cpu {} measurement 2: {}, vectors of {} bytes, caches of {}, {}, {} KiB",
                     STRIA_VERSION, processor.name, processor.vector_bytes, processor.l1_KiB,
                     processor.l2_KiB, processor.l3_KiB);
}

std::optional<HostRates> read_host_rates(const std::filesystem::path& folder,
                                         const std::string& key) {
  constexpr size_t kMaxBytes = 1 << 16;
  auto text = read_file(file_of(folder, key), kMaxBytes, kNoPatience);
  if (!text.ok()) return std::nullopt;
  const json root = json::parse(*text, nullptr, false);
  if (!root.is_object() || root.value("key", json()) != key) return std::nullopt;
  HostRates out;
  if (!read_number(root, "clock_mhz", out.clock_mhz)) return std::nullopt;
  auto types = root.find("types");
  if (types == root.end() || !types->is_object()) return std::nullopt;
  for (auto it = types->begin(); it != types->end(); ++it) {
    HostRates::OfType& of_type = out.types[it.key()];
    double* const numbers[] = {&of_type.ops_per_cycle, &of_type.l1_bytes, &of_type.l2_bytes,
                               &of_type.l3_bytes, &of_type.dram_bytes};
    if (!it->is_object() || !parse_data_type(it.key())) return std::nullopt;
    for (size_t i = 0; i < std::size(kFields); ++i)
      if (!read_number(*it, kFields[i], *numbers[i])) return std::nullopt;
  }
  out.complete = true;
  return out;
}

Status write_host_rates(const std::filesystem::path& folder, const std::string& key,
                        const HostRates& rates) {
  if (const int error = make_cache_folder(folder); error != 0)
    return invalid_argument("cannot make '{}': {}", folder.string(), std::strerror(error));
  json types = json::object();
  for (const auto& [name, of_type] : rates.types)
    types[name] = {{kFields[0], of_type.ops_per_cycle},
                   {kFields[1], of_type.l1_bytes},
                   {kFields[2], of_type.l2_bytes},
                   {kFields[3], of_type.l3_bytes},
                   {kFields[4], of_type.dram_bytes}};
  const json root = {{"key", key}, {"clock_mhz", rates.clock_mhz}, {"types", std::move(types)}};
  return write_cache_file(file_of(folder, key), root.dump(1) + "\n");
}

std::optional<HostRates> host_rates(const Processor& processor, const std::filesystem::path& folder,
                                    std::chrono::milliseconds limit) {
  if (folder.empty()) return std::nullopt;
  const std::string key = host_rates_key(processor);
  if (auto kept = read_host_rates(folder, key)) return kept;
  // Whether they can be kept is known before the time is spent.
  if (make_cache_folder(folder) != 0 || ::access(folder.c_str(), W_OK) != 0) return std::nullopt;
  HostRates rates = measure_host_rates(processor, limit);
  // Measured in vain if the disk is full: then the next process does it again.
  if (rates.complete) (void)write_host_rates(folder, key, rates);
  return rates;
}

}  // namespace stria::llvm_cpu
