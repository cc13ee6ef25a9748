// SPDX-License-Identifier: Apache-2.0
// The command `stria`: one file per verb; results go to stdout, everything else to stderr.
#include <cstdio>
#include <exception>
#include <new>

#include "command_line.h"
#include "inputs/open_device.h"
#include "message.h"
#include "plugin_guard.h"
#include "process_setup.h"
#include "standard_output.h"
#include "stria/base/temporary_file.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace stria::command {
namespace {

Outcome dispatch(const Verb& verb) {
  struct Dispatch {
    Outcome operator()(const DevicesOptions& options) const { return devices(options); }
    Outcome operator()(const DoctorOptions& options) const { return doctor(options); }
    Outcome operator()(const RunOptions& options) const { return run(options); }
    Outcome operator()(const CompileOptionsText& options) const { return compile(options); }
    Outcome operator()(const OptOptions& options) const { return opt(options); }
    Outcome operator()(const HwOptions& options) const { return hw(options); }
    Outcome operator()(const FmtOptions& options) const { return fmt_files(options); }
    Outcome operator()(const GradOptions& options) const { return grad(options); }
    Outcome operator()(const ReduceOptions& options) const { return reduce(options); }
    Outcome operator()(const SimOptions& options) const { return sim(options); }
    Outcome operator()(const ShowOptions& options) const { return show(options); }
    Outcome operator()(const PickVerb& options) const { return pick(options); }
    Outcome operator()(const OpsOptions& options) const { return ops(options); }
    Outcome operator()(const NewPluginOptions& options) const { return new_plugin(options); }
    Outcome operator()(const ConformOptions& options) const { return conform(options); }
    Outcome operator()(const CalibrateCommand& options) const { return calibrate(options); }
  };
  return std::visit(Dispatch{}, verb);
}

// The exit code of a verb that ends with `code` and may have printed in vain.
ExitCode with_stdout(ExitCode code) {
  if (code != ExitCode::success || is_written(stdout)) return code;
  print_message(kUnwritable);
  return ExitCode::program;
}

int run_command(int count, const char* const* arguments) {
  CommandLine line = parse_command_line(count, arguments);
  if (!line.verb) {
    std::fputs(line.text.c_str(), line.to_stdout ? stdout : stderr);
    return static_cast<int>(with_stdout(line.code));
  }
  audience() = line.audience;
  Outcome outcome = dispatch(*line.verb);
  if (!outcome.ok()) print_message(outcome.status().message());
  end_plugins();
  return static_cast<int>(with_stdout(outcome.code()));
}

}  // namespace
}  // namespace stria::command

namespace {

int guarded_command(int count, char** arguments) {
  try {
    return stria::command::run_command(count, arguments);
  } catch (const std::bad_alloc&) {
    std::fputs("stria: out of memory\n", stderr);
    return static_cast<int>(stria::command::ExitCode::program);
  } catch (const std::exception& error) {
    stria::command::print_message(std::string("bug: ") + error.what());
    return static_cast<int>(stria::command::ExitCode::bug);
  }
}

}  // namespace

int main(int count, char** arguments) {
  stria::command::take_standard_descriptors();
  stria::command::take_ends_of_children();
  stria::command::guard_process();
  stria::remove_temporaries_on_signals();
  const int code = stria::command::run_on_own_stack([&] {
    stria::command::mark_own_thread();
    return guarded_command(count, arguments);
  });
  std::fflush(nullptr);
#if defined(__SANITIZE_ADDRESS__)
  __lsan_do_leak_check();
#endif
  stria::command::leave(code);  // everything is written
}
