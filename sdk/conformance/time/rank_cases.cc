// SPDX-License-Identifier: Apache-2.0
// Estimates against measurements: who chooses among devices or tilings needs their order.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "executables/built.h"
#include "time/estimates.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kTime =
    "What one run of the program will take. Each is 0 where the plugin does not know it; `low` and "
    "`high` enclose what is expected in nine runs of ten.";

// A run is measured so often, and the shortest time counts: other work only adds to it.
constexpr int kRuns = 7;
// Of Spearman: 1 is the same order. Among these programs, whose times lie decades apart, a model
// that knows operations and bytes is above it; one that knows neither is near 0.
constexpr double kLeastCorrelation = 0.7;

struct Measured {
  const char* name;
  const char* body;
  std::vector<std::vector<int64_t>> sizes;  // of A, from little to much
};

const std::vector<Measured>& forms() {
  static const std::vector<Measured> all = {
      {"product", "  R[i, j : N, N] = +(A[i, k] * A[j, k]);\n", {{32, 32}, {96, 96}, {256, 256}}},
      {"sum", "  R[i : N] = +(A[i, k]);\n", {{64, 64}, {512, 512}, {1500, 1500}}},
      {"elementwise", "  R = A * A + 1;\n", {{40, 40}, {400, 400}, {1200, 1200}}},
      {"transpose", "  R[j, i : M, N] = =(A[i, j]);\n", {{48, 48}, {512, 512}, {1200, 1200}}},
  };
  return all;
}

// Nanoseconds of one run: the device's own word, or what the host waits if it has none.
Result<uint64_t> run_once(const Subject& s, Launches& launches, const Executor& executor) {
  const auto begin = std::chrono::steady_clock::now();
  STRIA_ASSIGN(const Event done, submit(s, executor, launches));
  STRIA_RETURN_IF_ERROR(DeviceWork(s).wait(done));
  const auto span = std::chrono::steady_clock::now() - begin;
  uint64_t ns = 0;
  STRIA_SLOT(s, event, duration_ns, done.get(), &ns);
  if (ns > 0) return ns;
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(span).count());
}

Result<uint64_t> shortest_run(const Subject& s, const Compilation& program,
                              const std::vector<int64_t>& sizes, const char* form) {
  STRIA_ASSIGN(const Built built, build(s, program));
  const auto elements = static_cast<uint64_t>(sizes[0] * sizes[1]);
  const uint64_t results =
      std::string_view(form) == "sum" ? static_cast<uint64_t>(sizes[0]) : elements;
  STRIA_ASSIGN(const Buffer a, DeviceWork(s).buffer(Bytes(elements * 4)));
  STRIA_ASSIGN(const Buffer r, DeviceWork(s).allocate(results * 4));
  Launches launches;
  STRIA_RETURN_IF_ERROR(launches.add(s, built, {{"A", {a.get(), 0}}, {"R", {r.get(), 0}}}));
  uint64_t best = UINT64_MAX;
  for (int run = 0; run < kRuns; ++run) {
    STRIA_ASSIGN(const uint64_t ns, run_once(s, launches, built.executor));
    best = std::min(best, ns);
  }
  return best;
}

// Of each value its place in the order; equal ones share the mean.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> out;
  for (const double value : values) {
    double rank = 0;
    for (const double other : values) rank += other < value ? 1 : other == value ? 0.5 : 0;
    out.push_back(rank);
  }
  return out;
}

// Pearson's of the ranks, which is Spearman's; 0 if either says the same of all.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const auto n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n,
               mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return xx == 0 || yy == 0 ? 0 : xy / std::sqrt(xx * yy);
}

// Estimates and times of all programs of these forms.
Finding in_the_order_of_times(Subject& s, const stria_estimate_table& table,
                              const std::string& only) {
  std::vector<double> said, measured;
  std::string list;
  for (const Measured& form : forms()) {
    if (!only.empty() && only != form.name) continue;
    for (const std::vector<int64_t>& sizes : form.sizes) {
      TestProgram program;
      program.name = form.name;
      program.parameters = {"A[N, M]"};
      program.outputs = {"R"};
      program.body = form.body;
      program.inputs = {{"A", DataType::fp32, sizes}};
      STRIA_ASSIGN(const Compilation compilation, compile_for_device(s, program));
      STRIA_ASSIGN(const stria_estimate out, estimate(s, table, compilation.device_text));
      if (out.time_ns == 0) continue;
      STRIA_ASSIGN(const uint64_t ns, shortest_run(s, compilation, sizes, form.name));
      said.push_back(static_cast<double>(out.time_ns));
      measured.push_back(static_cast<double>(ns));
      list += fmt::format("\n{} of {}x{}: said {} ns, measured {} ns", form.name, sizes[0],
                          sizes[1], out.time_ns, ns);
    }
  }
  if (said.size() < 3) return Finding::skip("the plugin does not say how long programs take");
  const double found = correlation(said, measured);
  if (found < kLeastCorrelation)
    return broken("the rank correlation of estimates and times is {:.2f}, less than {}:{}", found,
                  kLeastCorrelation, list);
  return {};
}

}  // namespace

void add_rank_cases(CaseMaker& maker) {
  const auto add = [&](const std::string& form) {
    Case& c =
        add_estimate_case(maker, fmt::format("rank.{}", form.empty() ? "all" : form), Level::honest,
                          kTime, [form](Subject& s, const stria_estimate_table& table) {
                            return in_the_order_of_times(s, table, form);
                          });
    c.limit = std::chrono::seconds(180);
  };
  for (const Measured& form : forms()) add(form.name);
  add("");
}

}  // namespace stria::conformance
