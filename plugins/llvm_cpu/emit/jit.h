// SPDX-License-Identifier: Apache-2.0
// Machine code for this process: optimises LLVM modules, makes objects of them and links those into
// memory. One Jit holds the code of one library.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/semtree/tree/tree.h"

namespace llvm {
class TargetMachine;
}

namespace stria::llvm_cpu {

struct JitOptions {
  bool fast_math = false;
  bool group_reductions = true;  // see CompileOptions
  bool dump_ir = false;
  bool dump_assembly = false;
  bool report_spills = false;
  std::string assembly_for;  // see CompileOptions
  bool keep_objects = false;
};

struct JitDump {
  std::string ir;
  std::string assembly;
  std::vector<std::string> inner_spills;
};

class Jit {
 public:
  static Result<std::unique_ptr<Jit>> create(const JitOptions& options);
  ~Jit();  // frees the code

  // Compiles `function` and gives the symbol that it has. Functions that differ in names alone are
  // compiled once and share a symbol, unless something is dumped. Safe to call from several threads
  // at once; the symbol may be one that another thread is still at. `dump` (may be null) gets what
  // the options ask for.
  Result<std::string> add(const semtree::Function& function, JitDump* dump);
  // Takes an object that another Jit of this processor and these options has made.
  Status add_object(const std::string& symbol, std::string_view object);
  // Links what the symbol needs, when all is added. The address stays valid while the Jit lives.
  Result<void*> address(const std::string& symbol);
  // With keep_objects: what was compiled, by symbol.
  std::map<std::string, std::string> take_objects();

 private:
  struct State;
  explicit Jit(std::unique_ptr<State> state);
  Result<std::string> compile(const semtree::Function& function, llvm::TargetMachine& target,
                              JitDump* dump);
  // What `function` becomes on the processor that the options name, of the kind of `host`.
  Status other_assembly(const semtree::Function& function, const llvm::TargetMachine& host,
                        JitDump& dump);
  std::unique_ptr<State> state_;
};

}  // namespace stria::llvm_cpu
