// SPDX-License-Identifier: Apache-2.0
// From device Stripe to kernels. By default the host's interpreter runs them: a plugin overrides
// Compiler::compile to make kernels of its own, and nothing else changes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stria/plugin.h"
#include "stria/sdk/host.h"
#include "stria/sdk/info.h"
#include "stria/sdk/object.h"

namespace stria::sdk {

// Something that runs on one worker thread of the host. Immutable: any number of runs at once.
class Kernel : public Object {
 public:
  // arguments[i].data is element 0 of argument i, in the order of KernelInfo::arguments. Throws
  // Error to fail; the failure travels along the run's event. A kernel of a device with a queue of
  // its own leaves this out: its Executor::launch knows the class.
  virtual void run(const stria_memory* arguments, uint64_t count) const {
    (void)arguments, (void)count;
    throw Error(STRIA_UNIMPLEMENTED, "this kernel does not run on the host's threads");
  }
};

// Compiled code. Immutable.
class Library : public Object {
 public:
  // In launch order.
  virtual const std::vector<KernelInfo>& kernels() const = 0;
  virtual Ref<Kernel> prepare(uint64_t index) = 0;
  // What was generated, for people.
  virtual std::vector<NamedText> source() const { return {}; }
};

// Called from any thread.
class Compiler : public Object {
 public:
  // The whole program's device Stripe; `options` is a JSON object. Runs on a worker thread.
  virtual Ref<Library> compile(std::string_view stripe, std::string_view options) = 0;
  // A pass of the plugin's own; the new Stripe is the text named "stripe".
  virtual std::vector<NamedText> transform(std::string_view, std::string_view pass,
                                           std::string_view) {
    throw Error(STRIA_NOT_FOUND, "this plugin has no pass '" + std::string(pass) + "'");
  }
};

class InterpretedKernel final : public Kernel {
 public:
  InterpretedKernel(const Host& host, stria_host_kernel* kernel) : kernel_(host, kernel) {}
  void run(const stria_memory* arguments, uint64_t count) const override {
    kernel_.run(arguments, count);
  }

 private:
  HostKernel kernel_;
};

class InterpretedLibrary final : public Library {
 public:
  InterpretedLibrary(const Host& host, std::string_view stripe)
      : host_(host), program_(host, stripe), kernels_(program_.kernels()) {
    for (KernelInfo& kernel : kernels_)
      kernel.interpreted = "the plugin generates no code for its device";
  }
  const std::vector<KernelInfo>& kernels() const override { return kernels_; }
  Ref<Kernel> prepare(uint64_t index) override {
    return make<InterpretedKernel>(host_, program_.prepare(index));
  }

 private:
  const Host& host_;
  HostProgram program_;
  std::vector<KernelInfo> kernels_;
};

class InterpretingCompiler final : public Compiler {
 public:
  explicit InterpretingCompiler(const Host& host) : host_(host) {}
  Ref<Library> compile(std::string_view stripe, std::string_view) override {
    return make<InterpretedLibrary>(host_, stripe);
  }

 private:
  const Host& host_;
};

}  // namespace stria::sdk
