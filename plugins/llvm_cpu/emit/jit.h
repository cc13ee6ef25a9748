// SPDX-License-Identifier: Apache-2.0
// Machine code for this process: optimises LLVM modules, makes objects of them and links those into
// memory. One Jit holds the code of one library.
#pragma once

#include <memory>
#include <string>

#include "stria/base/status.h"
#include "stria/semtree/tree.h"

namespace llvm {
class TargetMachine;
}

namespace stria::llvm_cpu {

struct JitOptions {
  bool fast_math = false;
  bool dump_ir = false;
  bool dump_assembly = false;
  std::string assembly_for;  // see CompileOptions
};

struct JitDump {
  std::string ir;
  std::string assembly;
};

class Jit {
 public:
  static Result<std::unique_ptr<Jit>> create(const JitOptions& options);
  ~Jit();  // frees the code

  // Compiles `function` under the symbol; safe to call from several threads at once, with different
  // symbols. `dump` (may be null) gets what the options ask for.
  Status add(const semtree::Function& function, const std::string& symbol, JitDump* dump);
  // Links what the symbol needs. The address stays valid while the Jit lives.
  Result<void*> address(const std::string& symbol);

 private:
  struct State;
  explicit Jit(std::unique_ptr<State> state);
  Status compile(const semtree::Function& function, const std::string& symbol, llvm::TargetMachine& target, JitDump* dump);
  // What `function` becomes on the processor that the options name, of the kind of `host`.
  Result<std::string> other_assembly(const semtree::Function& function, const std::string& symbol,
                                     const llvm::TargetMachine& host);
  std::unique_ptr<State> state_;
};

}  // namespace stria::llvm_cpu
