// SPDX-License-Identifier: Apache-2.0
#include "examination.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "child_process.h"
#include "inputs/open_device.h"
#include "stria/base/text.h"
#include "stria/hwmodel/unlikely_numbers.h"
#include "stria/runtime/check.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/pick/device_selector.h"

namespace stria::command {
namespace {

using Json = nlohmann::json;

constexpr const char* kSelfTest = "self-test";
constexpr const char* kShutdown = "shutdown";
// For one device: compiling is most of it.
constexpr std::chrono::seconds kSelfTestLimit{60};

// A product, a sum over it and something elementwise behind, in sizes that fit no vector.
constexpr const char* kProgram =
    "function self_test(A[M, K], B[K, N]) -> (R) {\n"
    "  C[m, n : M, N] = +(A[m, k] * B[k, n]);\n"
    "  R = C < 0 ? -C : C;\n"
    "}\n";

// ---- in the child

void send(int pipe, const Json& message) {
  // Texts come from plugins: bytes that are no UTF-8 are replaced.
  const std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t count = ::write(pipe, line.data() + done, line.size() - done);
    if (count < 0 && errno != EINTR) ::_exit(1);
    if (count > 0) done += static_cast<size_t>(count);
  }
}

void send_step(int pipe, std::string_view name, const Status& status) {
  send(pipe, {{"step", name}, {"failure", status.message()}});
}

Result<HostTensor> self_test_input(const TensorInfo& info) {
  STRIA_ASSIGN(HostTensor tensor, HostTensor::create(info.type, info.sizes, info.name));
  auto* values = reinterpret_cast<float*>(tensor.data());
  for (int64_t i = 0; i < tensor.element_count(); ++i)
    values[i] = static_cast<float>((i * 37 + 11) % 17) - 8;
  return tensor;
}

// What no machine has of the numbers of an opened device's model.
void send_warnings(int pipe, const std::string& selector, const Device& device) {
  const HardwareModel& model = Inside::model(device);
  for (const UnlikelyNumber& number :
       unlikely_numbers(model, Inside::hal_device(device).info().memory_bytes))
    send(pipe, {{"warning", number.text(model)}, {"device", selector}});
}

// What stands under an `if` of the pipeline is read with another value of a parameter.
Status try_settings(const Device& device, const Program& program, const InputTypes& inputs,
                    int pipe) {
  STRIA_ASSIGN(const std::vector<TemplateParameter> parameters, Inside::parameters(device));
  for (const TemplateParameter& parameter : parameters)
    for (const std::string& value : parameter.choices) {
      send(pipe, {{"alive", true}});
      CompileOptions options;
      options.parameters[parameter.name] = value;
      STRIA_ASSIGN(Compilation generic, lower_program(program, inputs, options));
      const Status status = CompileDriver::specialize(device, std::move(generic), options).status();
      if (!status.ok())
        return status.with_context(fmt::format("with --set {}={}", parameter.name, value));
    }
  return Status();
}

Status self_test(const Runtime& runtime, const std::string& selector, bool is_author, int pipe) {
  STRIA_ASSIGN(Device device, runtime.open(selector));
  send_warnings(pipe, selector, device);
  STRIA_ASSIGN(Program program, Program::from_tile({"self_test.tile", kProgram}));
  const InputTypes types{{"A", {DataType::fp32, {7, 19}}}, {"B", {DataType::fp32, {19, 5}}}};
  STRIA_ASSIGN(Executable executable, device.compile(program, types));
  std::vector<HostTensor> given;
  std::vector<Tensor> inputs, outputs;
  for (const TensorInfo& info : executable.inputs()) {
    STRIA_ASSIGN(HostTensor values, self_test_input(info));
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(info.type, info.sizes, info.name));
    STRIA_RETURN_IF_ERROR(tensor.write(values.bytes()));
    given.push_back(std::move(values));
    inputs.push_back(std::move(tensor));
  }
  for (const TensorInfo& info : executable.outputs()) {
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(info.type, info.sizes, info.name));
    outputs.push_back(std::move(tensor));
  }
  STRIA_ASSIGN(auto run, executable.run(inputs, outputs));
  STRIA_RETURN_IF_ERROR(run.wait());
  std::vector<HostTensor> results;
  for (const Tensor& tensor : outputs) {
    STRIA_ASSIGN(HostTensor result, tensor.read());
    results.push_back(std::move(result));
  }
  STRIA_ASSIGN(auto checks,
               check_outputs(Inside::compilation(executable), given, results, std::nullopt));
  for (const OutputCheck& check : checks)
    if (!check.report.passed())
      return make_error(StatusCode::data_loss, "wrong results: {}", check.report.worst_text);
  const Status status = try_settings(device, program, types, pipe);
  if (status.ok() || is_author) return status;
  // Who did not write the plugin need not give these.
  send(pipe, {{"warning", hal::one_line(status.message())}, {"device", selector}});
  return Status();
}

void send_needs(int pipe, const hal::Manifest& manifest) {
  for (size_t i = 0; i < manifest.required.size(); ++i) {
    void* library = ::dlopen(manifest.required[i].library.c_str(), RTLD_LAZY | RTLD_LOCAL);
    std::string path;
    link_map* map = nullptr;
    if (library && ::dlinfo(library, RTLD_DI_LINKMAP, &map) == 0) path = map->l_name;
    send(pipe, {{"need", i}, {"path", path}});
  }
}

void examine_here(int pipe, const hal::FoundPlugin& found, std::chrono::milliseconds step_limit,
                  bool isolated) {
  RuntimeOptions options = runtime_options(std::chrono::duration<double>(kSelfTestLimit).count());
  options.plugin_paths = {found.directory};
  options.only_plugin_paths = true;
  options.author = options.author || hal::is_own_place(found.origin);
  const bool is_author = options.author;
  options.plugin_time_limit = step_limit;
  options.isolate_plugins = isolated;
  const Runtime runtime = Inside::runtime(std::move(options), [pipe](const hal::Verdict& verdict) {
    send_step(pipe, hal::name_of(verdict.step), verdict.status);
  });
  const std::vector<hal::PluginRecord>& records = Inside::records(runtime);
  if (records.size() != 1 || !records[0].status().ok()) return;
  Json devices = Json::array();
  for (size_t i = 0; i < records[0].devices.size(); ++i) {
    const hal::DeviceInfo& device = records[0].devices[i];
    devices.push_back(
        {{"selector", fmt::format("{}{}:{}", isolated ? kIsolated : "", records[0].id, i)},
         {"name", device.name},
         {"reason", device.available        ? ""
                    : device.reason.empty() ? kNoReason
                                            : device.reason}});
  }
  send(pipe, {{"devices", devices}});
  Status outcome;
  for (const Json& device : devices) {
    if (device.at("reason") != "") continue;
    const std::string selector = device.at("selector");
    if (Status status = self_test(runtime, selector, is_author, pipe); outcome.ok())
      outcome = status.with_context(selector);
    send(pipe, {{"ran", selector}});
  }
  send_step(pipe, kSelfTest, outcome);
  // What a failed self-test has left behind would only be said again.
  if (outcome.ok()) send_step(pipe, kShutdown, runtime.shutdown());
}

// ---- in the parent

void take_message(Examination& examination, const Json& message) {
  if (message.contains("alive")) return;  // it goes on
  if (message.contains("step")) {
    examination.steps.push_back({message.at("step"), message.at("failure")});
  } else if (message.contains("ran")) {
    for (ExaminedDevice& device : examination.devices)
      if (device.selector == message.at("ran")) device.ran = true;
  } else if (message.contains("warning")) {
    for (ExaminedDevice& device : examination.devices)
      if (device.selector == message.at("device")) device.warnings.push_back(message.at("warning"));
  } else if (message.contains("need")) {
    const size_t position = message.at("need");
    examination.needs.at(position).path = message.at("path");
  } else {
    for (const Json& device : message.at("devices"))
      examination.devices.push_back(
          {device.at("selector"), device.at("name"), device.at("reason"), false});
  }
}

// A line that no child of ours has sent came from the plugin in it: it says nothing to us.
void take(Examination& examination, const std::string& line) {
  try {
    take_message(examination, Json::parse(line));
  } catch (const Json::exception&) {
  } catch (const std::out_of_range&) {
  }
}

// The step after the last that was reached: what was going on when nothing more came.
std::string step_in_progress(const Examination& examination) {
  if (examination.steps.empty()) return std::string(hal::name_of(hal::Step::manifest));
  const std::string& last = examination.steps.back().name;
  for (int i = 0; i < static_cast<int>(hal::Step::enumerate); ++i)
    if (last == hal::name_of(static_cast<hal::Step>(i)))
      return std::string(hal::name_of(static_cast<hal::Step>(i + 1)));
  return last == kSelfTest ? kShutdown : kSelfTest;
}

// Reads messages until the child has said all; false if none came for `patience`.
bool read_messages(int pipe, std::chrono::milliseconds patience, Examination& examination) {
  std::string text;
  while (true) {
    pollfd wait{pipe, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(patience.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    char chunk[4096];
    const ssize_t count = ::read(pipe, chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(chunk, static_cast<size_t>(count));
    for (size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
      take(examination, text.substr(0, end));
  }
}

}  // namespace

Examination examine(const hal::FoundPlugin& found, std::chrono::milliseconds step_limit,
                    bool isolated) {
  Examination examination;
  examination.found = found;
  if (!found.search.ok()) {
    examination.steps.push_back(
        {std::string(hal::name_of(hal::Step::search)), hal::one_line(found.search.message())});
    return examination;
  }
  examination.steps.push_back({std::string(hal::name_of(hal::Step::search)), ""});
  if (auto manifest = hal::read_manifest(found.directory); manifest.ok())
    examination.manifest = std::move(*manifest);
  for (const hal::Requirement& need : examination.manifest.required)
    examination.needs.push_back({need, ""});

  int pipe[2];
  const auto failed = [&](std::string failure) {
    examination.steps.push_back({step_in_progress(examination), std::move(failure)});
    return examination;
  };
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    return failed(fmt::format("no pipe to its process: {}", std::strerror(errno)));
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    const int error = errno;
    ::close(pipe[0]);
    ::close(pipe[1]);
    return failed(no_child(error));
  }
  if (child == 0) {
    ::close(pipe[0]);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);  // what a plugin prints is no part of our results
    end_after([&] {
      send_needs(pipe[1], examination.manifest);
      examine_here(pipe[1], found, step_limit, isolated);
      send(pipe[1], {{"step", "end"}, {"failure", ""}});
      return 0;
    });
  }
  ::close(pipe[1]);
  // Longer than the limits that the child itself keeps.
  const bool ended = read_messages(
      pipe[0], std::max<std::chrono::milliseconds>(step_limit, kSelfTestLimit) * 2, examination);
  ::close(pipe[0]);
  if (!ended) ::kill(child, SIGKILL);
  const Result<int> status = wait_for(child);
  if (!examination.steps.empty() && examination.steps.back().name == "end") {
    examination.steps.pop_back();
    return examination;
  }
  std::string failure = status.ok() ? failure_of(*status) : status.status().message();
  if (!ended) failure = "hangs";
  examination.steps.push_back({step_in_progress(examination), std::move(failure)});
  return examination;
}

}  // namespace stria::command
