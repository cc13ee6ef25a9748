// SPDX-License-Identifier: Apache-2.0
// What operations and memories of one technology cost, in picojoules. It is a file of
// hwmodels/energy:
//
//   {"name": "horowitz45", "node_nm": 45,
//    "operations_pJ": {"add.i8": 0.03, "source": "…"},
//    "memories": {"SRAM": {"access_bytes": 8, "source": "…",
//                          "at": [{"size_KiB": 8, "pJ": 10}, {"size_KiB": 32, "pJ": 20}]},
//                 "DDR": {"access_bytes": 8, "source": "…",
//                         "at": [{"pJ_low": 1300, "pJ_high": 2600}]}}}
//
// A hardware model names the file in `energy_table`. Its units say in `energy_from` which entry of
// it holds for them. So a memory of another size has another energy.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/hwmodel/object_reader.h"

namespace stria {

struct MemoryEnergy {
  struct Point {
    int64_t size_bytes = 0;  // 0: whatever the size, and there is no other point
    double low_pj = 0, high_pj = 0;
  };
  std::string name;
  int64_t access_bytes = 1;   // what one access moves
  std::vector<Point> points;  // by rising size
  std::string source;

  struct PerByte {
    double low_pj = 0, high_pj = 0;
    bool beyond = false;  // the size is outside those of the table; the closest one is used
  };
  // Between two sizes the energy is a power of the size.
  PerByte per_byte(int64_t size_bytes) const;
};

struct EnergyTable {
  std::string name;
  double node_nm = 0;
  OperationEnergies operations;
  std::vector<MemoryEnergy> memories;  // by name
  std::shared_ptr<const nlohmann::json> json;
};

// Errors are as those of a hardware model. Thread-safe.
Result<EnergyTable> parse_energy_table(const SourceText& file);
// Pointers of the numbers in the table that have no `source`, sorted.
std::vector<std::string> numbers_without_source(const EnergyTable& table);

// Fills in the energies that `model`, read from `file`, takes from its energy table and does not
// give itself: in its typed fields, in `merged` and in `origins`. Afterwards `model` and `merged`
// name no table any more.
Status fill_energies(const SourceText& file, const PlacedTexts& texts, HardwareModel& model,
                     nlohmann::json& merged, std::map<std::string, FieldOrigin>& origins);

}  // namespace stria
