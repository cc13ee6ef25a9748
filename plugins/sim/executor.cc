// SPDX-License-Identifier: Apache-2.0
#include "executor.h"

#include <functional>
#include <memory>

#include "compiler.h"

namespace stria::sim {
namespace {

// What a worker thread gets.
struct Job {
  sdk::Ref<sdk::StartedWork> work;
  std::function<void(const sdk::Ref<sdk::StartedWork>&)> run;
};

// What a launch keeps alive until it is done.
struct Used {
  sdk::Ref<sdk::Kernel> kernel;
  std::vector<sdk::Argument> arguments;
};

}  // namespace

sdk::Ref<sdk::Event> SimExecutor::launch(const sdk::Ref<sdk::Kernel>& kernel,
                                         std::vector<sdk::Argument> arguments, sdk::Waits waits) {
  auto used = std::make_shared<Used>(Used{kernel, std::move(arguments)});
  auto run = [used, clock = clock_](const sdk::Ref<sdk::StartedWork>& work) {
    const auto& part = static_cast<const SimKernel&>(*used->kernel);
    std::vector<stria_memory> memory;
    for (const sdk::Argument& argument : used->arguments)
      memory.push_back(
          {argument.buffer->data() + argument.offset, argument.buffer->size() - argument.offset});
    sdk::Outcome outcome = sdk::outcome_of_call([&] { part.run(memory.data(), memory.size()); });
    const uint64_t nanoseconds = part.nanoseconds();
    const uint64_t begin = clock->now_ns.fetch_add(nanoseconds);
    // Whoever waits for the work may shut the device down: drop everything that belongs to it
    // first.
    *used = {};
    work->finish(std::move(outcome), begin, begin + nanoseconds);
  };
  return sdk::start_when(
      host(), tracker(), waits,
      [&host = host(), run = std::move(run)](const sdk::Ref<sdk::StartedWork>& work) {
        auto job = std::make_unique<Job>(Job{work, run});
        host.post(
            [](void* state) {
              const std::unique_ptr<Job> job(static_cast<Job*>(state));
              job->run(job->work);
            },
            job.release());
      });
}

}  // namespace stria::sim
