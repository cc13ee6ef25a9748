// SPDX-License-Identifier: Apache-2.0
// The hardware model: what passes, costs, the device picker and the simulator know about a machine.
// It is one object, made of a JSON template (a file of a plugin or of an architect), its
// parameters, and what a device reports about itself. Each size is written down once.
//
//   {
//     "name": "cpu", "clock_mhz": 2000,
//     "mem_units":  {"DRAM": {"count": 1, "size_KiB": 1048576},
//                    "L1": {"count": 2, "size_KiB": 48}},
//     "exec_units": {"CORE": {"count": 2, "vector_bytes": 64, "vector_registers": 32}},
//     "tx_units":   {"DMA": {"count": 1}},
//     "buses":      [{"sources": ["DRAM[0]"], "sinks": ["L1[0]"], "bytes_per_cycle": 64}]
//   }
//
// hwmodels/schema/hwmodel.schema.json lists every key. In the template, `device` is the object that
// the device reports (not set if there is none). So `{{ device.clock_mhz | default(2000) }}` takes
// the device's number if there is one. Any object may say in `source` where its numbers are from.
#pragma once

#include <array>
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
#include "stria/hwmodel/calibration.h"
#include "stria/template/template_text.h"
#include "stria/type/data_type.h"
#include "stria/type/flushed_types.h"

namespace stria {

// Numbers that the model does not give are 0, which readers take as "not known". A cycle is one of
// the model's clock_mhz, or of the unit's own clock if it has one. Sizes, rates, energies and areas
// are those of one instance of a unit.

// Who decides what is in it: the program (a scratchpad), or the memory itself (a cache).
enum class MemoryPolicy { unknown, managed, lru };

// What moves over a port of a memory: the operands of a unit that works on it, the sums that the
// unit adds to, its results, and what transfer units bring and take away. All but the results and
// what is brought are reads. JSON: first second sums results copy_in copy_out; reads, writes.
enum class PortUse { first, second, sums, results, copy_in, copy_out };
inline constexpr size_t kPortUses = 6;

// A port of each instance of a memory.
struct MemoryPort {
  double bytes_per_cycle = 0;
  std::array<bool, kPortUses> serves{};  // by PortUse
};

// What is behind a memory that is not flat: banks of rows, of which each bank has one open. JSON:
// dram. Numbers of all channels of an instance together. Times are nanoseconds, whatever the
// clocks: a model whose clock changes keeps its DRAM.
struct DramRows {
  int64_t banks = 1;
  int64_t row_bytes = 0;           // that are open at once in a bank; rows lie in bank after bank
  int64_t burst_bytes = 0;         // the smallest piece that moves
  double burst_ns = 0;             // what one takes on the pins
  double row_cycle_ns = 0;         // from opening a row to opening another one of the bank (tRC)
  double activate_ns = 0;          // the same for rows of different banks (tRRD, or tFAW / 4)
  double refresh_interval_ns = 0;  // from one refresh to the next (tREFI); 0: there is none
  double refresh_ns = 0;           // what one takes (tRFC)

  double bytes_per_ns() const { return static_cast<double>(burst_bytes) / burst_ns; }
};

struct MemoryUnit {
  std::string name;
  int64_t count = 1;
  int64_t size_bytes = 0;  // JSON: size_KiB
  // What all groups that a compute unit runs at once have of it together, where `size_bytes` is
  // the most that one of them may have. JSON: unit_KiB; 0: it does not limit how many run at once.
  int64_t unit_bytes = 0;
  MemoryPolicy policy = MemoryPolicy::unknown;
  int64_t line_bytes = 0;  // the smallest piece that moves: a cache line, a transaction
  int64_t ways = 0;        // cache: places that a line may take
  int64_t banks = 0;       // parts that can be accessed at once
  int64_t bank_bytes = 0;  // width of one bank's access
  double clock_mhz = 0;    // its cycles are of this clock; 0 = the model's
  double latency_cycles = 0;
  double read_bytes_per_cycle = 0, write_bytes_per_cycle = 0;
  // Instead of one port for reads and one for writes: each use is of one port at most; what no port
  // serves has no limit.
  std::vector<MemoryPort> ports;
  std::optional<DramRows> dram;  // none: a byte takes as long as any other
  std::string energy_from;  // memory of the model's energy table (energy_table.h); may be empty
  double read_pj_per_byte = 0, write_pj_per_byte = 0;
  double leakage_mw = 0;
  double area_mm2 = 0;
};

// The uses that are reads, and the other ones.
std::array<bool, kPortUses> reading_uses();
std::array<bool, kPortUses> writing_uses();
// Those that the model says, or else one for reads and one for writes. Banks without rates of reads
// and writes have one port for all. A rate of 0: no limit, but for that of the banks.
std::vector<MemoryPort> ports_of(const MemoryUnit& memory);

// The rates that an execution unit reaches with elements of one type, at best.
struct TypeRates {
  double ops_per_cycle = 0;  // a multiply-add is two, whatever the unit's `operation`
  // By memory unit: bytes of such elements that it reads from that memory.
  std::map<std::string, double> read_bytes_per_cycle;
};

// What an operand of an instruction is, and where.
struct InstructionOperand {
  std::string name;      // "A"
  bool written = false;  // if it is an aggregation's target, it is read too
  DataType type = DataType::fp32;
  std::vector<std::string> dims;  // the indices that it varies with, slowest first
  std::string home;               // memory unit
  // Which lane and slot holds an element: affine functions of the bits of its coordinates, spelled
  // as in a Stripe location: "lane" -> "4*d0[0+:3] + d1[1+:2]". Empty: the home is addressed
  // memory, or only the device knows.
  std::map<std::string, std::string> fragment;
  // What a micro-kernel takes. By dim: the one step that it may have, in elements; any, if the dim
  // is not there.
  std::map<std::string, int64_t> strides;
  // Every row (the elements along the last of `dims`) begins at a multiple of so many bytes.
  int64_t align_bytes = 1;
};

// The size of an index that may have any number of points, two at least. Micro-kernels alone have
// such: the function is told the number.
inline constexpr int64_t kAnySize = -1;
// The most that a micro-kernel may ask of an address: buffers begin at a multiple of it
// (stria/reader.h).
inline constexpr int64_t kMostAlignBytes = 64;

// One instruction that does a whole stencil, such as a matrix product. The pass `tensorize` matches
// it.
struct Instruction {
  struct Index {
    std::string name;
    int64_t size = 1;
  };
  std::string name;
  // A micro-kernel: the function of the plugin that does it. Empty: the hardware has it.
  std::string symbol;
  std::vector<Index> indices;
  std::vector<InstructionOperand> operands;
  double cycles = 0;          // from one to the next on the same unit (the throughput)
  double latency_cycles = 0;  // until its results can be used
};

// A systolic array: multiply-adds through which operands move in step. What stays in the array is
// the result, the second operand (weights) or the first one (inputs).
struct SystolicArray {
  enum class Dataflow { output_stationary, weight_stationary, input_stationary };  // JSON: os ws is
  int64_t rows = 1, columns = 1;
  Dataflow dataflow = Dataflow::output_stationary;
  // Sums that each column keeps until they are whole, where results do not stay in the array. 0:
  // each fold of a sum leaves the array and is added in memory.
  int64_t accumulators = 0;
  // A fold begins before the one before it has left the array: what stays in it has two places.
  bool overlap_folds = false;
};

struct ExecutionUnit {
  std::string name;
  int64_t count = 1;
  double clock_mhz = 0;  // its cycles are of this clock; 0 = the model's
  enum class Operation { flop, mac };
  Operation operation = Operation::flop;  // what ops_per_cycle counts; JSON: op
  double ops_per_cycle = 0;               // as `flop`, a multiply-add is two
  double overhead_cycles = 0;             // fill and drain of one invocation
  int64_t pipeline_depth = 1;
  int64_t vector_bytes = 0;
  int64_t vector_registers = 0;
  int64_t fma_latency_cycles = 0;
  int64_t max_threads = 0;  // lanes that may run on it at once
  std::map<DataType, TypeRates> rates;
  UnitCalibration calibration;
  std::optional<SystolicArray> systolic;    // products take its time, not ops_per_cycle
  std::vector<Instruction> instructions;    // by name
  std::string energy_from;                  // "operations" of the model's energy table, or empty
  std::map<std::string, double> energy_pj;  // "mac.i8": of one operation
  double leakage_mw = 0;
  double area_mm2 = 0;
};

struct TransferUnit {
  std::string name;
  int64_t count = 1;
  double clock_mhz = 0;       // its cycles are of this clock; 0 = the model's
  bool half_duplex = false;   // one transfer at a time, else one from each memory; JSON: duplex
  double latency_cycles = 0;  // to set up a transfer
  double pj_per_byte = 0;
  double leakage_mw = 0;
  double area_mm2 = 0;
};

// One instance of a unit, "DRAM[0]".
struct UnitInstance {
  std::string name;
  int64_t instance = 0;
  bool operator==(const UnitInstance&) const = default;
};

// Routers in rows, `columns` in each, numbered row by row. Bytes go along the row first, then along
// the column.
struct Mesh {
  int64_t columns = 1;
  std::map<std::pair<std::string, int64_t>, int64_t> places;  // by unit and instance: its router

  int64_t routers() const;  // of whole rows
};

struct Bus {
  std::vector<UnitInstance> sources;
  std::vector<UnitInstance> sinks;
  double clock_mhz = 0;  // its cycles are of this clock; 0 = the model's
  double bytes_per_cycle = 0;
  double latency_cycles = 0;
  double pj_per_byte = 0;
  // An on-chip network instead of one set of wires: the numbers above are then those of a link, and
  // of each router that bytes pass.
  std::optional<Mesh> mesh;
};

// Goals of the cost "roofline_occupancy", for a processor of work groups.
struct GroupSettings {
  int64_t threads = 0;    // lanes of a group; a power of two
  int64_t vec_size = 1;   // elements of a vector
  int64_t mem_width = 0;  // bytes of a transaction; a power of two
  int64_t max_mem = 0;    // bytes of local memory of a group
  int64_t max_regs = 0;   // bytes of accumulators of a group
  int64_t goal_groups = 0;
  int64_t goal_flops_per_byte = 0;
  bool use_global = false;  // read from main memory, without local copies
};

// Where one field of a model came from.
struct FieldOrigin {
  std::string place;                  // "cpu.json:5"; "" if it is the device's alone
  std::vector<std::string> settings;  // parameters from outside that it was computed from
  std::vector<std::string> device;    // JSON pointers into the device's report, likewise
  bool defaulted = false;             // a `default` stood in for a parameter or for the device
  std::string source;                 // what the model says of a number; "" = nothing
  // "cpu.json:5, device", "--set NUM_SRAM (slides.json:9)", without the source.
  std::string to_string() const;
};

class HardwareModel {
 public:
  std::string name;
  std::string description;
  double clock_mhz = 0;
  bool simulated = false;  // no machine is behind it; the device picker skips it
  double launch_us = 0;    // from the host's call to a kernel's start
  // From the end of a kernel to the start of one that waits for it: the device has nothing to do.
  double drain_us = 0;
  // What a run of a program takes beside its kernels, from the host's call to the last one's end.
  double run_us = 0;
  // What the plugin's compiler takes for a kernel, in milliseconds.
  double build_ms = 0;
  // Float types whose subnormal operands and results it may take for zero (rule M23).
  FlushedTypes flushed_subnormals;  // JSON: flushes_subnormals
  // Types of elements that no kernel can have, stored or computed, and what is missing for each:
  // "shaderFloat64".
  std::map<DataType, std::string> lacking_types;  // JSON: lacks_types
  // The plugin's functions that an instruction's `symbol` may name, as the device reports them.
  std::vector<std::string> micro_kernels;
  std::vector<MemoryUnit> memories;      // by name
  std::vector<ExecutionUnit> executors;  // by name
  std::vector<TransferUnit> transfers;   // by name
  std::vector<Bus> buses;                // as written
  std::optional<GroupSettings> settings;

  const MemoryUnit* find_memory(std::string_view unit) const;
  const ExecutionUnit* find_executor(std::string_view unit) const;
  const TransferUnit* find_transfer(std::string_view unit) const;

  // How many instances the unit has, whatever its kind; nullopt if the model has no unit of that
  // name. The verifier and passes check locations against it.
  std::optional<int64_t> unit_count(std::string_view unit) const;
  // How many cycles a unit with this clock has in one cycle of the model's clock; 1 if one of the
  // clocks is 0.
  double unit_cycles(double unit_clock_mhz) const {
    return unit_clock_mhz > 0 && clock_mhz > 0 ? unit_clock_mhz / clock_mhz : 1;
  }
  // Every unit with its count.
  std::map<std::string, int64_t> units() const;

  // What costs and passes know of the execution unit beside its rates. If `unit` is empty or the
  // model lacks it: of the first unit, in name order, whose numbers are not the defaults; else the
  // defaults.
  const CoreFacts& core_facts(std::string_view unit = {}) const;
  const GroupFacts& group_facts(std::string_view unit = {}) const;
  // Bytes of a line of the nearest cache that says so (the smallest one), or of the core's facts.
  int64_t cache_line_bytes() const;

  // Lanes of a vector with elements of `element_bytes`, on the first execution unit (in name order)
  // that has vectors, or on `unit` if that is not empty; 1 if the model gives no vectors.
  int64_t vector_lanes(int64_t element_bytes, std::string_view unit = {}) const;

  // The merged model as JSON: what pipelines see as `hw`. Each number's source stands beside it.
  const nlohmann::json& merged() const { return *merged_; }
  // The file that it was read from, as it was named; "" for one that was made.
  const std::string& file() const { return file_; }
  // The origin of each text, number and list, by JSON pointer.
  const std::map<std::string, FieldOrigin>& origins() const { return origins_; }
  // Pointers of the numbers that have no `source`, sorted.
  std::vector<std::string> numbers_without_source() const;
  // The merged model as indented JSON.
  std::string to_string() const;
  // A line for each field: pointer, value, origin, source. Sorted by pointer.
  std::string explain() const;
  // Every number that a calibration may have (calibration.h), a line each: its default, the value
  // of each unit that has its own, with where it is from, and what it means.
  std::string explain_calibration() const;

 private:
  friend Result<HardwareModel> load_hardware_model(const SourceText&, const TemplateSettings&,
                                                   std::string_view,
                                                   const std::vector<SourceText>&);
  std::shared_ptr<const nlohmann::json> merged_;
  std::string file_;
  std::map<std::string, FieldOrigin> origins_;
};

// Renders and reads the model in `file`. `device_json` is what a device reports about itself, in
// the same schema ("" = nothing). Its fields fill in what the file leaves out; the file's fields
// win, and those of `overlays` (model_overlay.h) win over both, the last one first. An array counts
// as one field. Unknown keys, wrong types and sizes out of range are errors
// that name file, line, JSON pointer and the closest right name. Thread-safe.
Result<HardwareModel> load_hardware_model(const SourceText& file,
                                          const TemplateSettings& settings = {},
                                          std::string_view device_json = {},
                                          const std::vector<SourceText>& overlays = {});

// A model without units: everything is unknown. For tests and for passes run without a model.
HardwareModel empty_hardware_model();

}  // namespace stria
