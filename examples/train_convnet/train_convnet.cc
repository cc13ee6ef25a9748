// SPDX-License-Identifier: Apache-2.0
// Trains a small convolutional network. Data, network, loss and the step of the descent are Tile;
// the gradient of the loss is made from its text. This program only moves tensors from one to the
// next.
//
//   train_convnet FOLDER [DEVICE [STEPS]]     FOLDER has the .tile files; auto, 600 steps
//
// Prints the loss now and then, then how well the network does on data that it was not trained on,
// and writes the loss of every step to loss.npy. Exit code 1 if it did not learn.
#include <stria/stria.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace {

using stria::DataType, stria::Device, stria::Executable, stria::Program, stria::Result,
    stria::Status, stria::Tensor;
using Tensors = std::vector<Tensor>;

constexpr float kRate = 0.2f;
constexpr uint32_t kBatches = 32;     // that it is trained on, with the seeds 1, 2, …
constexpr uint32_t kTestSeed = 1000;  // of the batch that it is not trained on
constexpr float kLearnt = 0.05f;      // largest mean loss of the last 32 steps

// Runs the program with new tensors for its results.
Result<Tensors> run(const Device& device, const Executable& program, const Tensors& inputs) {
  Tensors outputs;
  for (const stria::TensorInfo& info : program.outputs()) {
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(info));
    outputs.push_back(tensor);
  }
  STRIA_ASSIGN(stria::Event done, program.run(inputs, outputs));
  return outputs;  // what reads them waits for the run
}

// A program compiled for inputs like these.
Result<Executable> compile(const Device& device, const Program& program, const Tensors& inputs) {
  stria::InputTypes types;
  for (size_t n = 0; n < inputs.size(); ++n)
    types[program.inputs()[n].name] = inputs[n].tensor_type();
  return device.compile(program, types);
}

// What a function of stripes.tile makes of a seed.
Result<Tensors> made(const Device& device, const Executable& program, uint32_t seed) {
  STRIA_ASSIGN(Tensor input, device.create_tensor({}, std::vector<uint32_t>{seed}));
  return run(device, program, {input});
}

Tensors operator+(Tensors first, const Tensors& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Result<float> number(const Tensor& tensor) {
  STRIA_ASSIGN(std::vector<float> values, tensor.read_values<float>());
  return values[0];
}

Result<std::string> text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!(text << file.rdbuf())) return Status(stria::StatusCode::not_found, "cannot read " + path);
  return text.str();
}

// A vector of fp32 as numpy reads it.
bool write_npy(const std::string& path, const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(values.size()) + ",), }";
  header.resize(117, ' ');  // with the ten bytes before it and the line's end a multiple of 64
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00\x76\x00", 10) << header << '\n';
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
  return file.good();
}

Result<bool> train(const std::string& folder, const std::string& selector, int steps) {
  const stria::Runtime runtime;
  STRIA_ASSIGN(Device device, runtime.open(selector));

  const std::string data = folder + "/stripes.tile", network = folder + "/network.tile";
  const stria::InputTypes seed = {{"Seed", {DataType::u32, {}}}};
  STRIA_ASSIGN(Program batch, Program::read(data, "batch"));
  STRIA_ASSIGN(Executable make_batch, device.compile(batch, seed));
  STRIA_ASSIGN(Program weights, Program::read(data, "weights"));
  STRIA_ASSIGN(Executable make_weights, device.compile(weights, seed));
  std::vector<Tensors> batches;
  for (uint32_t n = 1; n <= kBatches; ++n) {
    STRIA_ASSIGN(Tensors pictures, made(device, make_batch, n));
    batches.push_back(pictures);
  }
  STRIA_ASSIGN(Tensors network_weights, made(device, make_weights, 1));

  // The loss and its derivative by each of the weights; then the step that calls it, in one
  // program.
  STRIA_ASSIGN(Program loss, Program::read(network, "loss"));
  stria::GradientOptions by_weights;
  by_weights.wrt = {"K1", "B1", "K2", "B2", "W", "B"};
  by_weights.keep_results = true;
  STRIA_ASSIGN(Program gradient, loss.gradient(by_weights));
  STRIA_ASSIGN(std::string step_text, text_of(folder + "/step.tile"));
  STRIA_ASSIGN(Program descend,
               Program::from_tile({"step.tile", gradient.text() + step_text}, "step"));
  STRIA_ASSIGN(Tensor rate, device.create_tensor({}, std::vector<float>{kRate}));
  STRIA_ASSIGN(Executable step_down,
               compile(device, descend, batches[0] + network_weights + Tensors{rate}));

  std::vector<float> losses;
  for (int step = 0; step < steps; ++step) {
    const Tensors& pictures = batches[static_cast<size_t>(step) % batches.size()];
    STRIA_ASSIGN(Tensors stepped,
                 run(device, step_down, pictures + network_weights + Tensors{rate}));
    network_weights.assign(stepped.begin() + 1, stepped.end());
    STRIA_ASSIGN(float value, number(stepped[0]));
    losses.push_back(value);
    if (step % 50 == 0) std::printf("step %4d  loss %.4f\n", step, static_cast<double>(value));
  }

  const size_t last = std::min<size_t>(kBatches, losses.size());
  const float mean =
      std::accumulate(losses.end() - static_cast<std::ptrdiff_t>(last), losses.end(), 0.0f) /
      static_cast<float>(last);
  STRIA_ASSIGN(Program accuracy, Program::read(network, "accuracy"));
  STRIA_ASSIGN(Tensors unseen, made(device, make_batch, kTestSeed));
  STRIA_ASSIGN(Executable judge, compile(device, accuracy, unseen + network_weights));
  STRIA_ASSIGN(Tensors judged, run(device, judge, unseen + network_weights));
  STRIA_ASSIGN(float right, number(judged[0]));
  std::printf("loss %.4f after %d steps on %s; %.0f%% of unseen pictures right\n",
              static_cast<double>(mean), steps, device.info().selector.c_str(),
              static_cast<double>(100 * right));
  if (!write_npy("loss.npy", losses))
    return Status(stria::StatusCode::permission_denied, "cannot write loss.npy");
  return mean < kLearnt;
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 3 ? std::atoi(argv[3]) : 600;
  if (argc < 2 || argc > 4 || steps < 1) {
    std::fprintf(stderr, "usage: train_convnet FOLDER [DEVICE [STEPS]]\n");
    return 2;
  }
  const Result<bool> learnt = train(argv[1], argc > 2 ? argv[2] : "auto", steps);
  if (!learnt.ok()) {
    std::fprintf(stderr, "%s\n", learnt.status().message().c_str());
    return 1;
  }
  if (!*learnt) std::fprintf(stderr, "the loss is not below %.2f\n", static_cast<double>(kLearnt));
  return *learnt ? 0 : 1;
}
