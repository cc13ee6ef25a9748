// SPDX-License-Identifier: Apache-2.0
// What this machine's processor is: read from the kernel's files and the cpuid instruction, never
// guessed. A number that cannot be read is 0 and is left out of the properties, so that the
// hardware model's default holds.
#pragma once

#include <cstdint>
#include <string>

namespace stria::llvm_cpu {

struct HostRates;  // host_rates.h

struct Processor {
  std::string name;    // "Intel(R) Xeon(R) Processor"
  std::string vendor;  // "GenuineIntel"
  unsigned cores = 1;  // that this process may use
  int64_t clock_mhz = 0;
  int64_t l1_KiB = 0, l2_KiB = 0;  // data, per core
  int64_t l3_KiB = 0;              // of one; shared by cores
  int64_t l3_count = 0;
  int64_t line_bytes = 0;
  int64_t l1_ways = 0, l2_ways = 0, l3_ways = 0;
  uint64_t memory_bytes = 0;  // of the machine, or the control group's limit if that is lower
  int64_t vector_bytes = 16;  // widest usable vector of fp32
  int64_t vector_registers = 16;
};

// `cores`: how many the host uses.
Processor read_processor(unsigned cores);
// "Intel(R) Xeon(R) Processor, 2 cores, 512-bit vectors".
std::string describe(const Processor& processor);
// The overlay over hw/cpu.json, with that schema's keys and the source of each number. `rates`:
// what was measured, or null.
std::string properties_json(const Processor& processor, const HostRates* rates);

}  // namespace stria::llvm_cpu
