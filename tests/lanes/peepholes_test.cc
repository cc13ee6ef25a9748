// SPDX-License-Identifier: Apache-2.0
// Every program of tests/end_to_end/programs, and kernels of random sizes, as plugins/opencl
// compiles them for GPUs: without one peephole, and without all of them, each kernel computes the
// same bits as with all of them, without races. So nothing that a peephole does is a decision.
#include <gtest/gtest.h>

#include <cstring>
#include <iostream>

#include "gpu_machine.h"
#include "kernel_shapes.h"
#include "program_case.h"
#include "program_run.h"
#include "settings.h"
#include "stria/base/file.h"
#include "stria/semtree/build/kernels.h"
#include "stria/semtree/peephole/peepholes.h"
#include "stria/semtree/tree/print.h"

namespace stria::lanes {
namespace {

using semtree::Peepholes;

// All; without each of them; none.
struct Variant {
  std::string name;
  Peepholes peepholes;
};
std::vector<Variant> variants() {
  std::vector<Variant> out = {{"all", {}}, {"none", Peepholes::none()}};
  for (const semtree::Peephole& peephole : semtree::kPeepholes) {
    Variant without{fmt::format("all but {}", peephole.name), {}};
    without.peepholes.*peephole.runs = false;
    out.push_back(std::move(without));
  }
  return out;
}

// How many kernels have another text without it.
std::map<std::string, int>& changed() {
  static std::map<std::string, int> counts;
  return counts;
}

std::vector<std::string> texts_of(const stripe::Program& device, const Machine& machine) {
  std::vector<std::string> out;
  auto kernels = semtree::kernels_of(device);
  if (!kernels.ok()) return {kernels.status().to_string()};
  for (const semtree::KernelBlock& kernel : kernels->kernels) {
    auto function = semtree::build_kernel(kernel, machine.options);
    out.push_back(function.ok() ? semtree::print(*function) : function.status().to_string());
  }
  return out;
}

// The outputs of the program without those peepholes: "" if they are right, and the bits are kept.
std::string wrong_without(Machine machine, const Variant& variant, const stripe::Program& device,
                          passes::TileProgram& program, std::vector<std::string>& bits) {
  machine.options.build.peepholes = variant.peepholes;
  RunCounts counts;
  return passes::wrong_values(program, [&](const std::vector<interp::TensorArg>& tensors) {
    STRIA_RETURN_IF_ERROR(run_program(device, machine.options, tensors, 1, counts));
    for (const interp::TensorArg& tensor : tensors)
      bits.emplace_back(static_cast<const char*>(tensor.data),
                        static_cast<size_t>(tensor.shape.span_bytes()));
    return Status();
  });
}

void expect_same(const Machine& machine, passes::TileProgram& program, const std::string& what) {
  const Result<stripe::Program> device = compile(machine, program.generic);
  if (!device.ok()) {
    ASSERT_TRUE(machine.may_refuse && is_refusal(device.status())) << device.status().to_string();
    return;
  }
  std::vector<std::string> with_all, texts;
  for (const Variant& variant : variants()) {
    Machine other = machine;
    other.options.build.peepholes = variant.peepholes;
    const std::vector<std::string> now = texts_of(*device, other);
    if (texts.empty()) texts = now;
    ASSERT_EQ(now.size(), texts.size());
    int differ = 0;
    for (size_t k = 0; k < now.size(); ++k) differ += now[k] != texts[k];
    changed()[variant.name] += differ;
    if (differ == 0 && !with_all.empty()) continue;
    std::vector<std::string> bits;
    ASSERT_EQ(wrong_without(machine, variant, *device, program, bits), "")
        << what << " on the machine '" << machine.name << "', peepholes: " << variant.name;
    if (with_all.empty()) with_all = bits;
    EXPECT_TRUE(bits == with_all) << what << " on the machine '" << machine.name
                                  << "' has other bits, peepholes: " << variant.name;
  }
}

class Peephole : public testing::TestWithParam<size_t> {};

TEST_P(Peephole, ChangesNoBit) {
  const end_to_end::ProgramCase& c = end_to_end::all_program_cases()[GetParam()];
  const std::string path =
      fmt::format(STRIA_SOURCE_DIR "/tests/end_to_end/programs/{}.tile", c.program);
  const DataType type = (*c.types)[GetParam() % c.types->size()];
  end_to_end::Case filled(type, static_cast<uint32_t>(GetParam()));
  c.fill(filled);
  std::map<std::string, tile::TensorType> inputs;
  std::map<std::string, std::vector<Scalar>> values;
  for (const auto& [name, grid] : filled.inputs()) {
    inputs[name] = {grid.type, grid.sizes};
    for (double value : grid.values)
      values[name].push_back(convert(Scalar::of_float(DataType::fp64, value), grid.type));
  }
  auto program = passes::make_program(read_file(path).value(), inputs, values);
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  const std::vector<Machine> machines = gpus();
  expect_same(machines[GetParam() % machines.size()], *program, c.program);
}

INSTANTIATE_TEST_SUITE_P(Lanes, Peephole,
                         testing::Range(size_t{0}, end_to_end::all_program_cases().size()),
                         [](const auto& info) {
                           return std::string(end_to_end::all_program_cases()[info.param].program);
                         });

// Each of them did something: else the comparison shows nothing of it.
TEST(Peepholes, ChangeKernelsOfRandomSizes) {
  const uint64_t first = trust::number_from("STRIA_LANES_SEED", 1);
  const uint64_t count = trust::number_from("STRIA_LANES_SHAPES", 60);
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const ShapedProgram shaped = random_shapes(seed, false);
    auto program = passes::make_program(shaped.text, shaped.inputs);
    ASSERT_TRUE(program.ok()) << listing(shaped) << program.status().to_string();
    const std::vector<Machine> machines = gpus();
    Machine machine = machines[seed % machines.size()];
    machine.may_refuse |= shaped.may_not_fit;
    expect_same(machine, *program, listing(shaped));
  }
  for (const Variant& variant : variants()) {
    std::cout << fmt::format("kernels with another text, peepholes {}: {}\n", variant.name,
                             changed()[variant.name]);
    if (variant.name == "all" || count < 60) continue;
    EXPECT_GT(changed()[variant.name], 0) << variant.name;
  }
}

}  // namespace
}  // namespace stria::lanes
