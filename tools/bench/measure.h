// SPDX-License-Identifier: Apache-2.0
// Timing that can be trusted: many samples of things that alternate within one run, the median and
// the spread of each.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace stria::bench {

struct Timing {
  double median_s = 0, best_s = 0, worst_s = 0;
  int samples = 0;
};
Timing summarize(std::vector<double> seconds);

double seconds_of(const std::function<void()>& work);
// Processor time of the calling thread: what others take of its core in between does not count.
double thread_seconds();
double process_seconds();  // of all threads

// Runs each of `works` once per round, in order, `rounds` times, after `warmups` rounds that do not
// count. What slows the machine for a while slows all of them alike.
std::vector<Timing> interleave(const std::vector<std::function<void()>>& works, int rounds,
                               int warmups);

// Runs `command` with its output discarded; seconds from start to exit. Negative if it failed.
double seconds_of_process(const std::vector<std::string>& command);
// The same, returning what it printed on stdout; "" if it failed.
std::string output_of_process(const std::vector<std::string>& command);

// "Intel(R) Xeon(R) Processor, 2 cores".
std::string machine_text();

}  // namespace stria::bench
