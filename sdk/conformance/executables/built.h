// SPDX-License-Identifier: Apache-2.0
// A program that was built by the plugin's own tables, and its launches.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stria/exec/plan.h"
#include "suite/device_work.h"
#include "suite/program_run.h"

namespace stria::conformance {

// What a slot said: its error is read and given back.
struct SlotAnswer {
  stria_code code = STRIA_OK;
  std::string message;
};
SlotAnswer answer_of(stria_error* error);
// A failure unless the answer has one of these codes; `what` was asked for.
Status expect_code(const SlotAnswer& answer, const std::vector<stria_code>& codes,
                   std::string_view what);
std::string_view name_of_code(stria_code code);

// Each member may be given back before the others.
struct Built {
  Compiler compiler;
  Library library;
  Executor executor;
  std::vector<hal::KernelInfo> infos;
  std::vector<Kernel> kernels;  // by their position in the library
  exec::Plan plan;
};

struct Building {
  Library library;
  Event done;
};
// Begins to build with this compiler.
Result<Building> begin_build(const Subject& subject, const Compiler& compiler,
                             std::string_view stripe, std::span<stria_event* const> waits = {},
                             std::string_view options = "{}");
Result<std::vector<hal::KernelInfo>> kernels_of(const Subject& subject, const Library& library);
Result<Kernel> prepare(const Subject& subject, const Executor& executor, const Library& library,
                       uint64_t index);
// Builds, waits, and prepares every kernel on a new executor.
Result<Built> build(const Subject& subject, const Compilation& program,
                    std::string_view options = "{}");
// The rest of it, for a library whose build is done.
Result<Built> finish(const Subject& subject, const Compilation& program, Library library);

// A tensor's element 0.
struct Spot {
  stria_buffer* buffer = nullptr;
  uint64_t offset = 0;
};
// By the name that the tensor has in the program.
using Spots = std::map<std::string, Spot>;

// Launches of the kernels of programs, as executor.submit and kernel.run take them.
class Launches {
 public:
  // Adds prologue and main of `built`, which wait for the launches at `after`. Memory for
  // temporaries is allocated and lives as long as this object.
  Status add(const Subject& subject, const Built& built, const Spots& spots,
             const std::vector<uint32_t>& after = {});
  uint64_t count() const { return launches_.size(); }
  // As submit takes them; valid until the next add.
  std::vector<const stria_launch*> list();
  const stria_launch& launch(size_t at) { return *list()[at]; }
  // Makes all that was handed to a slot unreadable as what it was.
  void overwrite();

 private:
  struct Launch {
    stria_launch launch{};
    std::vector<stria_argument> arguments;
    std::vector<const stria_argument*> pointers;
    std::vector<uint32_t> after;
  };
  std::vector<Launch> launches_;
  std::vector<Buffer> arenas_;
};

// Submits them as one batch.
Result<Event> submit(const Subject& subject, const Executor& executor, Launches& launches,
                     std::span<stria_event* const> waits = {}, std::vector<Event>* each = nullptr);
// Runs them one by one with kernel.run, each after the one before.
Result<Event> run_each(const Subject& subject, Launches& launches,
                       std::span<stria_event* const> waits = {});

}  // namespace stria::conformance
