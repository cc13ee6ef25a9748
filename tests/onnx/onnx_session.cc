// SPDX-License-Identifier: Apache-2.0
// Runs a model as often as it is asked to, through the public interface:
//
//   onnx_session --device SEL MODEL.onnx
//
// A request on stdin is a line with the number of inputs, and for each a line "BYTES NAME" with a
// .npy file of so many bytes behind it. The answer on stdout is a line of JSON: {"error": …}, or
// {"compile_s": …, "run_s": …, "outputs": [[name, bytes], …]} with the .npy files behind it.
// Inputs of new sizes, and new elements that sizes depend on, are a new program; it is kept.
// "run_s" is from inputs in the host's memory to outputs there. tools/onnx/onnx_models.py runs it.
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <list>
#include <map>
#include <nlohmann/json.hpp>

#include "stria/base/status.h"
#include "stria/runtime/onnx_model.h"
#include "stria/runtime/stria.h"
#include "stria/tensor_io/npy.h"

namespace stria {
namespace {

using nlohmann::json;
using Inputs = std::map<std::string, std::shared_ptr<const HostTensor>>;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What is compiled for inputs of these sizes, and for these elements of those that it binds.
struct Prepared {
  std::map<std::string, std::vector<int64_t>> sizes;
  Inputs bound;
  Executable executable;
  std::vector<Tensor> inputs, outputs;
};

bool serves(const Prepared& prepared, const Inputs& given) {
  if (prepared.sizes.size() != given.size()) return false;
  for (const auto& [name, tensor] : given) {
    const auto sizes = prepared.sizes.find(name);
    if (sizes == prepared.sizes.end() || sizes->second != tensor->sizes()) return false;
    const auto bound = prepared.bound.find(name);
    if (bound != prepared.bound.end() && bound->second->bytes() != tensor->bytes()) return false;
  }
  return true;
}

Result<Prepared> prepare(const Device& device, const OnnxModel& model, const Inputs& given) {
  Prepared out;
  STRIA_ASSIGN(const Program program, model.program({.at_hand = given}));
  for (const auto& [name, tensor] : given) {
    out.sizes[name] = tensor->sizes();
    if (!program.find_input(name).ok()) out.bound[name] = tensor;
  }
  STRIA_ASSIGN(out.executable, device.compile(program));
  for (const TensorInfo& info : out.executable.inputs()) {
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(info));
    out.inputs.push_back(std::move(tensor));
  }
  for (const TensorInfo& info : out.executable.outputs()) {
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(info));
    out.outputs.push_back(std::move(tensor));
  }
  return out;
}

Result<std::vector<HostTensor>> run(const Prepared& prepared, const Inputs& given) {
  for (size_t i = 0; i < prepared.inputs.size(); ++i)
    STRIA_RETURN_IF_ERROR(
        prepared.inputs[i].write(given.at(prepared.executable.inputs()[i].name)->bytes()));
  STRIA_ASSIGN(const Event event, prepared.executable.run(prepared.inputs, prepared.outputs));
  STRIA_RETURN_IF_ERROR(event.wait());
  std::vector<HostTensor> out;
  for (const Tensor& tensor : prepared.outputs) {
    STRIA_ASSIGN(HostTensor host, tensor.read());
    out.push_back(std::move(host));
  }
  return out;
}

// nullopt at the end of the requests.
Result<std::optional<Inputs>> read_request() {
  int count = 0;
  if (!(std::cin >> count)) return std::optional<Inputs>();
  Inputs out;
  for (int i = 0; i < count; ++i) {
    size_t size = 0;
    std::string name;
    std::cin >> size;
    std::cin.get();
    std::getline(std::cin, name);
    std::string bytes(size, '\0');
    if (!std::cin.read(bytes.data(), static_cast<std::streamsize>(size)))
      return invalid_argument("the request ends in input {}", i);
    STRIA_ASSIGN(HostTensor tensor, parse_npy(bytes, name));
    out[name] = std::make_shared<const HostTensor>(std::move(tensor));
  }
  return std::optional(std::move(out));
}

class Session {
 public:
  Session(Device device, OnnxModel model) : device_(std::move(device)), model_(std::move(model)) {}

  // The answer, with files behind its line.
  Result<std::string> answer(const Inputs& given) {
    const auto start = std::chrono::steady_clock::now();
    const Prepared* use = nullptr;
    for (const Prepared& prepared : prepared_)
      if (serves(prepared, given)) use = &prepared;
    if (use == nullptr) {
      STRIA_ASSIGN(Prepared made, prepare(device_, model_, given));
      use = &prepared_.emplace_back(std::move(made));
    }
    json line{{"compile_s", seconds_since(start)}};
    const auto begin = std::chrono::steady_clock::now();
    STRIA_ASSIGN(const std::vector<HostTensor> results, run(*use, given));
    line["run_s"] = seconds_since(begin);
    std::string files;
    for (size_t k = 0; k < results.size(); ++k) {
      const std::string file = format_npy(results[k]);
      line["outputs"].push_back({use->executable.outputs()[k].name, file.size()});
      files += file;
    }
    return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n" + files;
  }

 private:
  Device device_;
  OnnxModel model_;
  std::list<Prepared> prepared_;
};

Status serve(const std::string& selector, const std::string& path) {
  RuntimeOptions how;
  how.plugin_time_limit = std::chrono::minutes(1);  // other work may run beside it
  const Runtime runtime(how);
  STRIA_ASSIGN(Device device, runtime.open(selector));
  STRIA_ASSIGN(OnnxModel model, OnnxModel::read(path));
  Session session(std::move(device), std::move(model));
  for (;;) {
    STRIA_ASSIGN(const std::optional<Inputs> given, read_request());
    if (!given) return Status();
    const auto answer = session.answer(*given);
    std::cout << (answer.ok() ? *answer
                              : json{{"error", answer.status().to_string()}}.dump(
                                    -1, ' ', false, json::error_handler_t::replace) +
                                    "\n")
              << std::flush;
  }
}

}  // namespace
}  // namespace stria

int main(int argc, char** argv) {
  if (argc != 4 || std::string(argv[1]) != "--device") {
    std::cerr << "usage: onnx_session --device SELECTOR MODEL.onnx\n";
    return 2;
  }
  const stria::Status status = stria::serve(argv[2], argv[3]);
  if (status.ok()) return 0;
  std::cerr << "onnx_session: " << status.to_string() << "\n";
  return 1;
}
