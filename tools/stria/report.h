// SPDX-License-Identifier: Apache-2.0
// What `stria run` prints on stdout: results, how much they differ from the interpreter's, times.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/pass/pass_context.h"
#include "stria/runtime/check.h"
#include "stria/runtime/event.h"
#include "stria/stripe/block.h"
#include "stria/type/host_tensor.h"

namespace stria::command {

// "R: fp32[2, 3] = 0.5 1.0 …": name, type, shape and the first values in row-major order.
std::string describe_tensor(const std::string& name, const HostTensor& tensor);

// "check R: 6272 elements, largest error 1.2e-06 absolute, 3e-07 relative, largest bound 5e-06:
// ok". Elements that are undecided are not said to be ok: ", 2 undecided: the other 6270 ok", or
// "NOT CHECKED" if there is no other.
std::string describe_check(const OutputCheck& check);
// A warning if so many are undecided that the check says little; "" if not.
std::string describe_many_undecided(const OutputCheck& check);

// "kernel_0+..+kernel_24" for a kernel that fusion made of many, "kernel_0+kernel_1" for one of up
// to three.
std::string short_kernel_name(const std::string& name);

struct Profile {
  double compile_seconds = 0;  // Program text to loaded kernels
  int runs = 0;
  double wall_seconds = 0;          // of one run, the median
  std::vector<KernelTime> kernels;  // each the median over the runs
};
// A table: kernel, time ("unknown" where the device does not know it), share of the known times,
// GFLOP/s (operations that kernel_operations counts; "-" for a kernel it does not know), and a line
// for the whole run. Times in ms, or all in µs if one is small. Behind it, which kernels the plugin
// leaves to the interpreter, and why.
std::string describe_profile(const Profile& profile,
                             const std::map<std::string, double>& operations);

// Which kernels of a device program call functions of the plugin (docs/semantics.md S21), and
// which: "kernel_0: product_8x8". Without those that `times` says are interpreted.
std::vector<std::string> micro_kernel_calls(const stripe::Program& device,
                                            const std::vector<KernelTime>& times = {});
// The same below a profile; "" if there are none.
std::string describe_micro_kernels(const stripe::Program& device,
                                   const std::vector<KernelTime>& times);

// On stderr, a line for each step of a pipeline after which the verifier could not decide
// something.
void print_undecided(const std::vector<StepReport>& steps);
// "3 accesses undecided, the first: …", or the one.
std::string describe_undecided(const std::vector<std::string>& undecided);

}  // namespace stria::command
