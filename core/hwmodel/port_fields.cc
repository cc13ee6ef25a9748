// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/port_fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "stria/base/text.h"

namespace stria {
namespace {

using nlohmann::json;

// {"bytes_per_cycle": 32, "serves": ["first", "copy_in"]}
Status read_port(ObjectReader& reader, std::array<bool, kPortUses>& served, MemoryPort& port) {
  using enum PortUse;
  static const std::vector<std::pair<std::string, std::vector<PortUse>>> kUses = {
      {"first", {first}},
      {"second", {second}},
      {"sums", {sums}},
      {"results", {results}},
      {"copy_in", {copy_in}},
      {"copy_out", {copy_out}},
      {"reads", {first, second, sums, copy_out}},
      {"writes", {results, copy_in}}};
  STRIA_RETURN_IF_ERROR(reader.real("bytes_per_cycle", port.bytes_per_cycle));
  const json* list = reader.get("serves");
  if (!list || !list->is_array() || list->empty())
    return reader.fail("serves", "must be a list of uses such as \"reads\"");
  std::vector<std::string> names;
  for (const auto& [name, uses] : kUses) names.push_back(name);
  for (size_t i = 0; i < list->size(); ++i) {
    const json& entry = (*list)[i];
    const auto fail = [&](const std::string& message) {
      return reader.texts().fail(pointer_child(reader.pointer_of("serves"), std::to_string(i)),
                                 message);
    };
    const auto found = std::find_if(kUses.begin(), kUses.end(),
                                    [&](const auto& one) { return entry == one.first; });
    if (found == kUses.end())
      return fail(fmt::format(
          "must be one of {}, this is {}{}", join(names, ", "), entry.dump(),
          entry.is_string() ? did_you_mean(entry.get<std::string>(), names) : std::string()));
    for (PortUse use : found->second) {
      const auto at = static_cast<size_t>(use);
      if (served[at]) return fail(fmt::format("'{}' has a port already", kUses[at].first));
      served[at] = port.serves[at] = true;
    }
  }
  return reader.finish();
}

}  // namespace

std::array<bool, kPortUses> reading_uses() { return {true, true, true, false, false, true}; }

std::array<bool, kPortUses> writing_uses() {
  std::array<bool, kPortUses> out = reading_uses();
  for (bool& use : out) use = !use;
  return out;
}

std::vector<MemoryPort> ports_of(const MemoryUnit& memory) {
  if (!memory.ports.empty()) return memory.ports;
  if (memory.banks * memory.bank_bytes > 0 && memory.read_bytes_per_cycle <= 0 &&
      memory.write_bytes_per_cycle <= 0) {
    MemoryPort all;
    all.serves.fill(true);
    return {all};
  }
  return {{memory.read_bytes_per_cycle, reading_uses()},
          {memory.write_bytes_per_cycle, writing_uses()}};
}

Status read_ports(ObjectReader& memory, std::vector<MemoryPort>& ports) {
  const json* list = memory.get("ports");
  if (!list) return {};
  if (!list->is_array()) return memory.wrong("ports", "a list");
  for (const char* key : {"read_bytes_per_cycle", "write_bytes_per_cycle"})
    if (memory.get(key)) return memory.fail(key, "'ports' says what reads and writes have");
  std::array<bool, kPortUses> served{};
  for (size_t i = 0; i < list->size(); ++i) {
    ObjectReader reader(memory.texts(), (*list)[i],
                        pointer_child(memory.pointer_of("ports"), std::to_string(i)));
    STRIA_RETURN_IF_ERROR(reader.check());
    STRIA_RETURN_IF_ERROR(read_port(reader, served, ports.emplace_back()));
  }
  return {};
}

}  // namespace stria
