// SPDX-License-Identifier: Apache-2.0
#include "gpu_machine.h"

#include "emit/dialect.h"
#include "kernel_shapes.h"
#include "stria/base/file.h"

namespace stria::lanes {
namespace {

// What hw/gpu.json says, with other numbers.
struct Numbers {
  int64_t units = 32;      // compute units
  int64_t local_KiB = 48;  // of a group
  int64_t threads = 256;   // lanes of a group at most
  int64_t vector_bytes = 16;
  std::string text() const {
    return fmt::format("{} units, {} KiB, {} lanes, vectors of {} bytes", units, local_KiB, threads,
                       vector_bytes);
  }
};

// What a driver has no question for stands in the file.
void set(std::string& text, const std::string& key, int64_t usual, int64_t value) {
  const std::string from = fmt::format("\"{}\": {}", key, usual);
  const size_t at = text.find(from);
  STRIA_CHECK(at != std::string::npos, "hw/gpu.json has no {}", from);
  text.replace(at, from.size(), fmt::format("\"{}\": {}", key, value));
}

Machine make_machine(const std::string& name, const Numbers& numbers) {
  const std::string folder = STRIA_SOURCE_DIR "/plugins/opencl/";
  std::string text = read_file(folder + "hw/gpu.json").value();
  const Numbers usual;
  set(text, "threads", usual.threads, numbers.threads);
  set(text, "vector_bytes", usual.vector_bytes, numbers.vector_bytes);
  const std::string device = fmt::format(
      R"({{"exec_units": {{"CU": {{"count": {}}}}}, "mem_units": {{"LOCAL": {{"size_KiB": {}}}}}}})",
      numbers.units, numbers.local_KiB);
  auto model = load_hardware_model({folder + "hw/gpu.json", text}, {{"device", device}});
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  semtree::SourceOptions options = opencl::source_options();
  options.shared_bytes = numbers.local_KiB << 10;
  options.largest_group = numbers.threads;
  return with_pipeline({name, std::move(model).value(), {}, options}, folder + "passes/gpu.json",
                       {});
}

}  // namespace

const std::vector<Machine>& gpus() {
  static const std::vector<Machine> all = {
      make_machine("usual", {}), make_machine("large", {.units = 132}),
      make_machine("small", {.units = 4, .local_KiB = 16, .threads = 64})};
  return all;
}

Machine made_up_gpu(trust::Dice& dice) {
  const Numbers numbers = {.units = random_size(dice, 8),
                           .local_KiB = dice.between(16, 100),
                           .threads = int64_t{16} << dice.between(0, 6),
                           .vector_bytes = int64_t{4} << dice.between(0, 3)};
  return make_machine(numbers.text(), numbers);
}

}  // namespace stria::lanes
