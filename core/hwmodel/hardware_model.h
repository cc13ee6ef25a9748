// SPDX-License-Identifier: Apache-2.0
// The hardware model: what passes, cost model, device picker and simulator know about a machine.
// One object, made of a JSON template (a file of a plugin or of an architect), its parameters and
// what a device reports about itself; a size is written down once.
//
//   {
//     "name": "cpu", "clock_mhz": 2000,
//     "mem_units":  {"DRAM": {"count": 1, "size_KiB": 1048576}, "L1": {"count": 2, "size_KiB":
//     48}}, "exec_units": {"CORE": {"count": 2, "vector_bytes": 64, "vector_registers": 32}},
//     "tx_units":   {"DMA": {"count": 1}},
//     "buses":      [{"sources": ["DRAM[0]"], "sinks": ["L1[0]"], "bytes_per_cycle": 64}]
//   }
//
// hwmodels/schema/hwmodel.schema.json lists every key. In the template, `device` is the object that
// the device reports (absent: not set), so `{{ device.clock_mhz | default(2000) }}` lets it speak.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/hwmodel/template_text.h"

namespace stria {

// Numbers that the model does not give are 0, which readers take as "not known".
struct MemoryUnit {
  std::string name;
  int64_t count = 1;
  int64_t size_bytes = 0;  // of one instance (JSON: size_KiB)
  int64_t line_bytes = 0;  // the smallest piece that moves
  int64_t banks = 0;
  double latency_cycles = 0;
};

struct ExecutionUnit {
  std::string name;
  int64_t count = 1;
  double ops_per_cycle = 0;  // of one instance; a multiply-add is two
  int64_t pipeline_depth = 1;
  int64_t vector_bytes = 0;
  int64_t vector_registers = 0;
  int64_t fma_latency_cycles = 0;
};

struct TransferUnit {
  std::string name;
  int64_t count = 1;
};

// One instance of a unit, "DRAM[0]".
struct UnitInstance {
  std::string name;
  int64_t instance = 0;
  bool operator==(const UnitInstance&) const = default;
};

struct Bus {
  std::vector<UnitInstance> sources;
  std::vector<UnitInstance> sinks;
  double bytes_per_cycle = 0;
  double latency_cycles = 0;
};

class HardwareModel {
 public:
  std::string name;
  double clock_mhz = 0;
  std::vector<MemoryUnit> memories;      // by name
  std::vector<ExecutionUnit> executors;  // by name
  std::vector<TransferUnit> transfers;   // by name
  std::vector<Bus> buses;                // as written

  const MemoryUnit* find_memory(std::string_view unit) const;
  const ExecutionUnit* find_executor(std::string_view unit) const;
  const TransferUnit* find_transfer(std::string_view unit) const;

  // Instances of a unit of any kind; nullopt if the model has none of that name. What the verifier
  // and passes check locations against.
  std::optional<int64_t> unit_count(std::string_view unit) const;
  // Every unit with its count.
  std::map<std::string, int64_t> units() const;

  // Lanes of a vector of `element_bytes` wide elements on the first execution unit that has vectors
  // (in name order), or on `unit` if that is not empty; 1 if the model gives no vectors.
  int64_t vector_lanes(int64_t element_bytes, std::string_view unit = {}) const;

  // The merged model as JSON: what pipelines see as `hw`.
  const nlohmann::json& merged() const { return *merged_; }
  // JSON pointer of each leaf -> where its value came from ("device" or the file's name).
  const std::map<std::string, std::string>& origins() const { return origins_; }
  // The merged model as indented JSON.
  std::string to_string() const;
  // One line per leaf: pointer, value, origin. Sorted by pointer.
  std::string explain() const;

 private:
  friend Result<HardwareModel> load_hardware_model(const SourceText&, const TemplateSettings&,
                                                   std::string_view);
  std::shared_ptr<const nlohmann::json> merged_;
  std::map<std::string, std::string> origins_;
};

// Renders and reads the model in `file`. `device_json` is what a device reports about itself, in
// the same schema ("" = nothing): its fields fill what the file leaves out, the file's fields win.
// Arrays count as one field. Unknown keys, wrong types and sizes out of range are errors that name
// the JSON pointer and the nearest right name. Thread-safe.
Result<HardwareModel> load_hardware_model(const SourceText& file,
                                          const TemplateSettings& settings = {},
                                          std::string_view device_json = {});

// A model without units: everything is unknown. For tests and for passes run without a model.
HardwareModel empty_hardware_model();

}  // namespace stria
