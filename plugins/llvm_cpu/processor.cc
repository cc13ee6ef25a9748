// SPDX-License-Identifier: Apache-2.0
#include "processor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "emit/compiled_kernels.h"
#include "host_rates.h"
#include "stria/base/file.h"
#include "stria/base/json_object.h"
#include "stria/base/text.h"

namespace stria::llvm_cpu {
namespace {

constexpr size_t kMaxKernelFile = size_t{16} << 20;

// The first line of a file of the kernel's; "" if there is none.
std::string first_line(const std::string& path) {
  const Result<std::string> text = read_file(path, kMaxKernelFile);
  return text.ok() ? text->substr(0, text->find('\n')) : std::string();
}

std::string after_colon(const std::string& line) {
  size_t at = line.find(": ");
  return at == std::string::npos ? "" : line.substr(at + 2);
}

// The folder in which the kernel describes a cache of cpu0; "" if it does not.
std::string cache_folder(int level, const char* type) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string found = first_line(folder + "level");
    if (found.empty()) break;
    const std::string kind = first_line(folder + "type");
    if (std::atoi(found.c_str()) == level && (kind == type || kind == "Unified")) return folder;
  }
  return "";
}

// "48K" -> 48; 0 if the kernel does not say.
int64_t cache_KiB(int level, const char* type) {
  const std::string size = first_line(cache_folder(level, type) + "size");
  const int64_t number = std::atoll(size.c_str());
  return !size.empty() && size.back() == 'M' ? number * 1024 : number;
}

// Places of a line in a set; 0 if the kernel does not say.
int64_t cache_ways(int level, const char* type) {
  return std::atoll(first_line(cache_folder(level, type) + "ways_of_associativity").c_str());
}

// How many third caches the processors of the machine have; at least 1.
int64_t count_l3() {
  std::string path = cache_folder(3, "Unified") + "shared_cpu_list";
  const size_t first = path.find("cpu0");
  std::set<std::string> groups;
  for (int cpu = 0; cpu < 1024 && first != std::string::npos; ++cpu) {
    std::string of_cpu = path;
    const std::string group = first_line(of_cpu.replace(first, 4, "cpu" + std::to_string(cpu)));
    if (group.empty()) break;
    groups.insert(group);
  }
  return std::max<int64_t>(1, static_cast<int64_t>(groups.size()));
}

uint64_t memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  uint64_t bytes =
      pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) : 0;
  // Control group version 2, then 1; "max" reads as 0.
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const uint64_t limit = std::strtoull(first_line(path).c_str(), nullptr, 10);
    if (limit > 0 && limit < bytes) bytes = limit;
  }
  return bytes;
}

}  // namespace

Processor read_processor(unsigned cores) {
  Processor out;
  out.cores = std::max(1u, cores);
  const Result<std::string> info = read_file("/proc/cpuinfo", kMaxKernelFile);
  for (const std::string& line : split(info.ok() ? *info : std::string(), '\n')) {
    if (line.empty()) break;  // one processor tells enough
    if (line.rfind("model name", 0) == 0) out.name = after_colon(line);
    if (line.rfind("vendor_id", 0) == 0) out.vendor = after_colon(line);
    if (line.rfind("cpu MHz", 0) == 0) out.clock_mhz = std::atoll(after_colon(line).c_str());
  }
  // Of the file's name for the processor, the code generator's is the more exact one where there is
  // none.
  if (out.name.empty()) out.name = host_cpu_name();
  const int64_t max_kHz =
      std::atoll(first_line("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").c_str());
  if (max_kHz > 0) out.clock_mhz = max_kHz / 1000;
  out.l1_KiB = cache_KiB(1, "Data");
  out.l2_KiB = cache_KiB(2, "Unified");
  out.l3_KiB = cache_KiB(3, "Unified");
  out.l1_ways = cache_ways(1, "Data");
  out.l2_ways = cache_ways(2, "Unified");
  out.l3_ways = cache_ways(3, "Unified");
  out.l3_count = count_l3();
  out.line_bytes = std::atoll(first_line(cache_folder(1, "Data") + "coherency_line_size").c_str());
  out.memory_bytes = memory_bytes();
  out.vector_bytes = 4 * static_cast<int64_t>(host_vector_lanes());
  out.vector_registers = out.vector_bytes == 64 ? 32 : 16;
  return out;
}

std::string describe(const Processor& processor) {
  return processor.name + ", " + std::to_string(processor.cores) +
         (processor.cores == 1 ? " core, " : " cores, ") +
         std::to_string(processor.vector_bytes * 8) + "-bit vectors";
}

std::string properties_json(const Processor& processor, const HostRates* rates) {
  nlohmann::json out = nlohmann::json::object();
  const auto set = [](nlohmann::json& at, const char* key, double value, const char* source) {
    if (!(value > 0)) return;
    // Four digits: what is measured is no better, and what is counted is a whole number.
    if (value == std::floor(value))
      at[key] = static_cast<int64_t>(value);
    else
      at[key] = std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr);
    if (source) object_at(at, "source")[key] = source;
  };
  set(out, "clock_mhz", static_cast<double>(processor.clock_mhz), "sysfs or /proc/cpuinfo");
  auto& memories = object_at(out, "mem_units");
  const auto cache = [&](const char* name, int64_t count, int64_t KiB, int64_t ways) {
    if (KiB == 0) return;
    auto& memory = object_at(memories, name);
    set(memory, "count", static_cast<double>(count), "sysfs");
    set(memory, "size_KiB", static_cast<double>(KiB), "sysfs");
    set(memory, "line_bytes", static_cast<double>(processor.line_bytes), "sysfs");
    set(memory, "ways", static_cast<double>(ways), "sysfs");
  };
  cache("L1", processor.cores, processor.l1_KiB, processor.l1_ways);
  cache("L2", processor.cores, processor.l2_KiB, processor.l2_ways);
  cache("L3", processor.l3_count, processor.l3_KiB, processor.l3_ways);
  set(object_at(memories, "DRAM"), "size_KiB", static_cast<double>(processor.memory_bytes / 1024),
      "sysconf, or the control group's limit");
  auto& core = object_at(object_at(out, "exec_units"), "CORE");
  set(core, "count", processor.cores, "the host's number of workers");
  set(core, "vector_bytes", static_cast<double>(processor.vector_bytes), "cpuid");
  set(core, "vector_registers", static_cast<double>(processor.vector_registers), "cpuid");
  if (rates == nullptr) return out.dump();
  set(out, "clock_mhz", rates->clock_mhz, "measured: a chain of additions");
  for (const auto& [type, reached] : rates->types) {
    auto& of_type = object_at(object_at(core, "rates"), type);
    set(of_type, "ops_per_cycle", reached.ops_per_cycle, nullptr);
    auto& reads = object_at(of_type, "read_bytes_per_cycle");
    const auto read = [&](const char* memory, double bytes) {
      if (memories.contains(memory)) set(reads, memory, bytes, nullptr);
    };
    read("L1", reached.l1_bytes);
    read("L2", reached.l2_bytes);
    read("L3", reached.l3_bytes);
    read("DRAM", reached.dram_bytes);
  }
  if (!rates->types.empty())
    object_at(core, "source")["rates"] =
        "measured: compiled kernels on one core, when the device was first used";
  return out.dump();
}

}  // namespace stria::llvm_cpu
