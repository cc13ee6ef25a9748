// SPDX-License-Identifier: Apache-2.0
#include "processor.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emit/compiled_kernels.h"

namespace stria::llvm_cpu {
namespace {

// The first line of a file of the kernel's; "" if there is none.
std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string after_colon(const std::string& line) {
  size_t at = line.find(": ");
  return at == std::string::npos ? "" : line.substr(at + 2);
}

// "48K" -> 48; 0 if the kernel does not say.
int64_t cache_KiB(int level, const char* type) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string found = first_line(folder + "level");
    if (found.empty()) break;
    const std::string kind = first_line(folder + "type");
    if (std::atoi(found.c_str()) != level || (kind != type && kind != "Unified")) continue;
    const std::string size = first_line(folder + "size");
    const int64_t number = std::atoll(size.c_str());
    return !size.empty() && size.back() == 'M' ? number * 1024 : number;
  }
  return 0;
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
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
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

std::string properties_json(const Processor& processor) {
  nlohmann::json out;
  if (processor.clock_mhz > 0) out["clock_mhz"] = processor.clock_mhz;
  if (processor.memory_bytes > 0)
    out["mem_units"]["DRAM"]["size_KiB"] = processor.memory_bytes / 1024;
  if (processor.l1_KiB > 0) out["mem_units"]["L1"]["size_KiB"] = processor.l1_KiB;
  if (processor.l2_KiB > 0) out["mem_units"]["L2"]["size_KiB"] = processor.l2_KiB;
  out["exec_units"]["CORE"] = {{"count", processor.cores},
                               {"vector_bytes", processor.vector_bytes},
                               {"vector_registers", processor.vector_registers}};
  return out.dump();
}

}  // namespace stria::llvm_cpu
