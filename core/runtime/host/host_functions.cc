// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/host/host_functions.h"

#include "stria/base/cache_folder.h"
#include "stria/hal/files/disk_cache.h"
#include "stria/interp/kernel_plan.h"
#include "stria/stripe/text/parser.h"

namespace stria {
namespace {

class Kernel : public hal::InterpretedKernel {
 public:
  explicit Kernel(interp::KernelPlan plan) : plan_(std::move(plan)) {}
  Status run(std::span<const stria_memory> arguments) const override {
    const auto& expected = plan_.arguments();
    if (arguments.size() != expected.size())
      return invalid_argument("kernel '{}' takes {} arguments, got {}", plan_.name(),
                              expected.size(), arguments.size());
    std::vector<void*> pointers;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const auto bytes = static_cast<uint64_t>(expected[i].shape.span_bytes());
      if (arguments[i].size < bytes)
        return invalid_argument("kernel '{}': argument '{}' needs {} bytes, got {}", plan_.name(),
                                expected[i].name, bytes, arguments[i].size);
      pointers.push_back(arguments[i].data);
    }
    return plan_.run(pointers.data());
  }

 private:
  interp::KernelPlan plan_;
};

hal::Direction direction_of(stripe::RefDir dir) {
  if (dir == stripe::RefDir::in) return hal::Direction::in;
  return dir == stripe::RefDir::out ? hal::Direction::out : hal::Direction::inout;
}

class Interpreted : public hal::InterpretedProgram {
 public:
  Status read(std::string_view text) {
    STRIA_ASSIGN(stripe::Program program, stripe::parse({"device Stripe", std::string(text)}));
    const std::pair<hal::ProgramPart, const stripe::Block*> parts[] = {
        {hal::ProgramPart::prologue, program.prologue()}, {hal::ProgramPart::main, program.main()}};
    for (auto [part, block] : parts) {
      if (block == nullptr) continue;
      for (size_t s = 0; s < block->stmts.size(); ++s) {
        STRIA_ASSIGN(interp::KernelPlan plan, interp::KernelPlan::make(*block, s));
        hal::KernelInfo info;
        info.name = plan.name();
        info.part = part;
        info.statement = s;
        for (const auto& argument : plan.arguments())
          info.arguments.push_back({argument.name,
                                    direction_of(argument.dir),
                                    static_cast<uint64_t>(argument.shape.span_bytes()),
                                    {}});
        infos_.push_back(std::move(info));
        plans_.push_back(std::move(plan));
      }
    }
    return Status();
  }
  const std::vector<hal::KernelInfo>& kernels() const override { return infos_; }
  Result<std::unique_ptr<hal::InterpretedKernel>> prepare(size_t index) const override {
    if (index >= plans_.size())
      return make_error(StatusCode::out_of_range, "kernel {} of a program with {}", index,
                        plans_.size());
    return std::unique_ptr<hal::InterpretedKernel>(std::make_unique<Kernel>(plans_[index]));
  }

 private:
  std::vector<hal::KernelInfo> infos_;
  std::vector<interp::KernelPlan> plans_;
};

}  // namespace

Result<std::unique_ptr<hal::InterpretedProgram>> interpret_for_plugin(
    std::string_view stripe_text) {
  auto program = std::make_unique<Interpreted>();
  STRIA_RETURN_IF_ERROR(program->read(stripe_text));
  return std::unique_ptr<hal::InterpretedProgram>(std::move(program));
}

hal::HostFunctions functions_for_plugins() {
  hal::HostFunctions functions;
  functions.interpret = interpret_for_plugin;
  const std::filesystem::path kept = user_cache_folder();
  const auto cache = std::make_shared<hal::DiskCache>(kept.empty() ? kept : kept / "plugins");
  functions.cache_get = [cache](std::string_view key) { return cache->get(key); };
  functions.cache_put = [cache](std::string_view key, std::string_view value) {
    cache->put(key, value);
    return Status();
  };
  return functions;
}

}  // namespace stria
