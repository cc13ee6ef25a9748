// SPDX-License-Identifier: Apache-2.0
#include "repeat/failure_test.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include "child_process.h"
#include "stria/base/output_target.h"
#include "stria/base/temporary_file.h"
#include "stria/base/text.h"
#include "stria/interp/program_values.h"
#include "stria/runtime/host/intrinsics.h"

namespace stria::command {
namespace {

// A pass that takes longer hangs.
constexpr unsigned kSecondsPerProgram = 20;

// A text that a child process leaves behind.
class SharedText {
 public:
  SharedText() {
    memory_ = static_cast<char*>(
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    STRIA_CHECK(memory_ != MAP_FAILED, "no shared memory: {}", std::strerror(errno));
  }
  ~SharedText() { ::munmap(memory_, kBytes); }
  SharedText(const SharedText&) = delete;
  SharedText& operator=(const SharedText&) = delete;
  void set(const std::string& text) {
    const size_t count = std::min(text.size(), kBytes - 1);
    std::memcpy(memory_, text.data(), count);
    memory_[count] = '\0';
  }
  std::string get() const { return memory_; }

 private:
  static constexpr size_t kBytes = 1 << 16;
  char* memory_ = nullptr;
};

// The first line of a message without the names, values and places in it: what is the same for two
// programs of which one has been made smaller.
std::string shape_of(const std::string& message) {
  std::string out;
  char quote = 0;
  for (char c : message.substr(0, message.find('\n'))) {
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '`') {
      quote = c;
      out += '_';
    } else if (!std::isdigit(static_cast<unsigned char>(c))) {
      out += c;
    }
  }
  // Paths of blocks and names of kernels stand before the last colon.
  const size_t colon = out.rfind(": ");
  return colon == std::string::npos ? out : out.substr(colon + 2);
}

std::string failure_in_pipeline(const stripe::Program& program, const PipelineTest& test) {
  const std::map<std::string, int64_t> units = test.model.units();
  stripe::VerifyOptions options;
  options.intrinsics = &intrinsic_signatures();
  if (!units.empty()) options.units = &units;
  if (test.legal_only && !stripe::verify(program, options).ok()) return "";
  auto values = interp::run_on_random(program, test.seed);
  if (!values.ok() && test.legal_only) return "";
  std::string failure;
  stripe::Program after = program;
  PipelineOptions how;
  how.verify_each = test.legal_only;
  how.intrinsics = &intrinsic_signatures();
  how.evaluate = &intrinsic_evaluator();
  how.after_step = [&](int, const StepReport& report, const stripe::Program& now) {
    if (!failure.empty() || !values.ok()) return;
    const Refusal wrong = interp::difference(
        now, *values, test.exact ? interp::Same::exact : interp::Same::within_bounds);
    if (wrong)
      failure = fmt::format(
          "step '{}' changes values{}", report.step,
          wrong.reason().starts_with("does not run") ? ": " + shape_of(wrong.reason()) : "");
  };
  auto reports = run_pipeline(after, test.pipeline, test.model, how);
  if (failure.empty() && !reports.ok()) failure = shape_of(reports.status().to_string());
  return failure;
}

}  // namespace

FailureTest fails_in_pipeline(PipelineTest test) {
  auto shared = std::make_shared<SharedText>();
  return [=](const stripe::Program& program) {
    shared->set("");
    const ChildEnd end = run_in_child(
        [&] {
          ::alarm(kSecondsPerProgram);
          shared->set(failure_in_pipeline(program, test));
          return WorkEnd::well;
        },
        Prints::no);
    return end.failure.empty() ? shared->get() : end.failure;
  };
}

FailureTest fails_in_command(const std::string& command, const std::string& says,
                             std::function<std::string(const stripe::Program&)> as_text) {
  return [=](const stripe::Program& program) -> std::string {
    // Under a name that nobody can foresee, and that a signal removes.
    const std::filesystem::path folder = std::filesystem::temp_directory_path();
    TemporaryBatch batch;
    int descriptor = -1;
    const std::shared_ptr<OutputFolder> open = OutputFolder::open(folder);
    const auto file = open ? batch.create(open, "stria-reduce", &descriptor, ".stripe") : nullptr;
    if (!file) return "";
    const std::string path = (folder / file->name()).string();
    const Status written = write_all(descriptor, as_text(program), path);
    ::close(descriptor);
    if (!written.ok()) return "";
    std::string line = command;
    const size_t place = line.find("{}");
    if (place == std::string::npos)
      line += " '" + path + "'";
    else
      line.replace(place, 2, "'" + path + "'");
    std::string printed;
    std::FILE* pipe = ::popen(("{ " + line + "\n} 2>&1 < /dev/null").c_str(), "r");
    STRIA_CHECK(pipe != nullptr, "no process: {}", std::strerror(errno));
    char buffer[4096];
    for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
      printed.append(buffer, count);
    const int status = ::pclose(pipe);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (!says.empty())
      return printed.find(says) == std::string::npos ? "" : fmt::format("prints '{}'", says);
    return code == 0 ? "" : fmt::format("ends with {}", code);
  };
}

}  // namespace stria::command
