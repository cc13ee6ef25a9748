// SPDX-License-Identifier: Apache-2.0
// One convolution on every device that is there: all run at the same time, then the results are
// compared and the times printed. Failures are handled, not fatal: a device that cannot run the
// program is reported and the others go on.
#include <stria/stria.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int64_t kSize = 32, kChannels = 16;

// A run on one device, and what must stay alive to look at it.
struct Run {
  stria::Device device;
  stria::Tensor output;
  stria::Event done;
};

// Anything but random will do as long as it is the same on every device.
std::vector<float> wave(int64_t count, float step) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t n = 0; n < values.size(); ++n) values[n] = std::sin(step * static_cast<float>(n));
  return values;
}

stria::Result<Run> start(const stria::Runtime& runtime, const std::string& selector,
                         const stria::Program& program) {
  Run run;
  STRIA_ASSIGN(run.device, runtime.open(selector));
  STRIA_ASSIGN(stria::Tensor image,
               run.device.create_tensor({1, kSize, kSize, kChannels},
                                        wave(kSize * kSize * kChannels, 0.01f)));
  STRIA_ASSIGN(stria::Tensor weights,
               run.device.create_tensor({3, 3, kChannels, kChannels},
                                        wave(9 * kChannels * kChannels, 0.1f)));
  STRIA_ASSIGN(
      stria::Executable convolution,
      run.device.compile(program, {{"D", image.tensor_type()}, {"K", weights.tensor_type()}}));
  STRIA_ASSIGN(run.output, run.device.create_tensor(convolution.outputs()[0]));
  // Returns at once. Tensors and executable may go out of scope: the run keeps what it needs.
  STRIA_ASSIGN(run.done, convolution.run({image, weights}, {run.output}));
  return run;
}

}  // namespace

int main() {
  const stria::Runtime runtime;
  auto program = stria::Program::from_tile({"conv_relu.tile", R"(
      function conv_relu(D[N, X, Y, CI], K[I, J, CO, CI]) -> (R) {
          O[n, x, y, co : N, X, Y, CO] = +(D[n, x + i - 1, y + j - 1, ci] * K[i, j, co, ci]);
          R = (O > 0 ? O : 0);
      })"});
  if (!program.ok()) {
    std::fprintf(stderr, "%s\n", program.status().message().c_str());
    return 1;
  }

  int failures = 0;
  auto fail = [&](const std::string& what, const stria::Status& status) {
    std::printf("%-16s %s\n", what.c_str(), status.to_string().c_str());
    ++failures;
  };
  std::vector<Run> runs;
  for (const stria::DeviceInfo& info : runtime.devices()) {
    if (!info.available) {
      std::printf("%-16s left out: %s\n", info.selector.c_str(), info.reason.c_str());
      continue;
    }
    auto run = start(runtime, info.selector, *program);
    if (run.ok()) {
      runs.push_back(*run);
    } else {
      fail(info.selector, run.status());
    }
  }

  std::vector<float> first;
  for (const Run& run : runs) {
    const std::string& selector = run.device.info().selector;
    if (stria::Status status = run.done.wait(); !status.ok()) {
      fail(selector, status);
      continue;
    }
    auto values = run.output.read_values<float>();
    auto nanoseconds = run.done.duration_ns();
    if (!values.ok() || !nanoseconds.ok()) {
      fail(selector, values.ok() ? nanoseconds.status() : values.status());
      continue;
    }
    if (first.empty()) first = *values;
    float difference = 0;
    bool same = true;
    for (size_t n = 0; n < first.size(); ++n) {
      const float here = std::fabs((*values)[n] - first[n]);
      difference = std::max(difference, here);
      same = same && here < 1e-3f;  // of sums of 9 * kChannels products below 1; NaN is not
    }
    std::printf("%-16s %9.3f ms  largest difference %.2g: %s\n", selector.c_str(),
                static_cast<double>(*nanoseconds) * 1e-6, static_cast<double>(difference),
                same ? "same" : "DIFFERENT");
    if (!same) ++failures;
  }
  return failures == 0 && !runs.empty() ? 0 : 1;
}
