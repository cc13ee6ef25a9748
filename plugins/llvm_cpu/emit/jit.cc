// SPDX-License-Identifier: Apache-2.0
#include "emit/jit.h"

#include <dlfcn.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <cstring>
#include <mutex>

#include "emit/compiled_kernels.h"
#include "emit/emit_llvm.h"
#include "emit/group_reductions.h"

namespace stria::llvm_cpu {
namespace {

Status failure(llvm::Error error, std::string_view what) {
  return internal_error("{}: {}", what, llvm::toString(std::move(error)));
}

void initialize_target() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

// `has` tells whether the processor has a feature.
template <typename Has>
int vector_bytes_of(const Has& has) {
  return has("avx512f") && has("avx512vl") && has("avx512dq") && has("avx512bw") ? 64 : has("avx2") && has("fma") ? 32 : 16;
}

struct GroupReductions : llvm::PassInfoMixin<GroupReductions> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    if (!group_reductions(function)) return llvm::PreservedAnalyses::all();
    llvm::PreservedAnalyses preserved;
    preserved.preserveSet<llvm::CFGAnalyses>();
    return preserved;
  }
};

// Enough to turn what emit_function writes into what the instruction selector wants: slots into values,
// common addresses and loads once, invariant ones outside their loops. Loops are not unrolled or
// vectorised: passes on the Stripe have decided that.
void optimize(llvm::Module& module, llvm::TargetMachine& target) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager per_loop;
  per_loop.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(per_loop), /*UseMemorySSA=*/true));
  passes.addPass(GroupReductions());
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::ADCEPass());
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) passes.run(function, functions);
}

// The function as an optimised module.
Status make_module(const semtree::Function& function, const std::string& symbol,
                   const EmitOptions& options, llvm::TargetMachine& target, llvm::Module& module) {
  module.setDataLayout(target.createDataLayout());
  module.setTargetTriple(target.getTargetTriple().str());
  emit_function(function, symbol, options, module);
  std::string problem;
  llvm::raw_string_ostream report(problem);
  if (llvm::verifyModule(module, &report))
    return internal_error("kernel '{}' became wrong LLVM IR: {}", function.name, report.str());
  optimize(module, target);
  return {};
}

bool generate(llvm::Module& from, llvm::TargetMachine& target, llvm::CodeGenFileType kind,
              llvm::SmallVectorImpl<char>& bytes) {
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, stream, nullptr, kind)) return false;
  passes.run(from);
  return true;
}

Result<std::string> assembly_of(llvm::Module& module, llvm::TargetMachine& target) {
  llvm::SmallVector<char, 0> text;
  if (!generate(module, target, llvm::CodeGenFileType::AssemblyFile, text))
    return internal_error("no assembly for this target");
  return std::string(text.begin(), text.end());
}

}  // namespace

struct Jit::State {
  JitOptions options;
  EmitOptions emit;
  std::unique_ptr<llvm::orc::JITTargetMachineBuilder> target;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  // Making a target machine takes longer than compiling a small kernel: those that are not in use wait here.
  std::mutex mutex;
  std::vector<std::unique_ptr<llvm::TargetMachine>> idle;

  Result<std::unique_ptr<llvm::TargetMachine>> take_machine() {
    {
      std::lock_guard lock(mutex);
      if (!idle.empty()) {
        std::unique_ptr<llvm::TargetMachine> machine = std::move(idle.back());
        idle.pop_back();
        return machine;
      }
    }
    auto machine = target->createTargetMachine();
    if (!machine) return failure(machine.takeError(), "target machine");
    return std::move(*machine);
  }
  void give_back(std::unique_ptr<llvm::TargetMachine> machine) {
    std::lock_guard lock(mutex);
    idle.push_back(std::move(machine));
  }
};

Jit::Jit(std::unique_ptr<State> state) : state_(std::move(state)) {}
Jit::~Jit() = default;

Result<std::unique_ptr<Jit>> Jit::create(const JitOptions& options) {
  initialize_target();
  auto state = std::make_unique<State>();
  state->options = options;
  auto target = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!target) return failure(target.takeError(), "host CPU");
  target->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  state->target = std::make_unique<llvm::orc::JITTargetMachineBuilder>(*target);
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(*target)
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                 .create();
  if (!jit) return failure(jit.takeError(), "JIT");
  state->jit = std::move(*jit);
  state->emit.fast_math = options.fast_math;
  state->emit.vector_bytes = host_vector_lanes() * 4;

  // Generated code sees these symbols and no others.
  llvm::orc::SymbolMap symbols;
  const auto define = [&](const std::string& name, void* address) {
    symbols[state->jit->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                                  llvm::JITSymbolFlags::Exported};
  };
  define("memcpy", reinterpret_cast<void*>(&std::memcpy));
  define("memset", reinterpret_cast<void*>(&std::memset));
  define("memmove", reinterpret_cast<void*>(&std::memmove));
  // Both libraries belong to the C library and stay loaded for the process's life.
  void* scalar = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  if (!scalar) return make_error(StatusCode::unavailable, "the C mathematics library does not load: {}", dlerror());
  for (const std::string& name : math_symbols()) {
    void* address = dlsym(scalar, name.c_str());
    if (!address) return make_error(StatusCode::unavailable, "the C mathematics library has no '{}'", name);
    define(name, address);
  }
  if (void* vector = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL)) {
    state->emit.vector_math = true;
    for (const std::string& name : vector_math_symbols(state->emit.vector_bytes)) {
      void* address = dlsym(vector, name.c_str());
      if (!address) {
        state->emit.vector_math = false;
        break;
      }
      define(name, address);
    }
  }
  if (auto error = state->jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))))
    return failure(std::move(error), "symbols of the C library");
  return std::unique_ptr<Jit>(new Jit(std::move(state)));
}

Status Jit::add(const semtree::Function& function, const std::string& symbol, JitDump* dump) {
  STRIA_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine, state_->take_machine());
  Status status = compile(function, symbol, *machine, dump);
  state_->give_back(std::move(machine));
  return status;
}

Status Jit::compile(const semtree::Function& function, const std::string& symbol, llvm::TargetMachine& target,
                    JitDump* dump) {
  llvm::LLVMContext context;
  llvm::Module module(symbol, context);
  STRIA_RETURN_IF_ERROR(make_module(function, symbol, state_->emit, target, module));
  if (dump && state_->options.dump_ir) {
    llvm::raw_string_ostream text(dump->ir);
    module.print(text, nullptr);
  }
  if (dump && state_->options.dump_assembly) {
    if (!state_->options.assembly_for.empty()) {
      STRIA_ASSIGN(dump->assembly, other_assembly(function, symbol, target));
    } else {
      // Code generation changes the module it works on.
      STRIA_ASSIGN(dump->assembly, assembly_of(*llvm::CloneModule(module), target));
    }
  }
  llvm::SmallVector<char, 0> object;
  if (!generate(module, target, llvm::CodeGenFileType::ObjectFile, object))
    return internal_error("no object code for this target");
  auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(object), symbol, false);
  if (auto error = state_->jit->addObjectFile(std::move(buffer))) return failure(std::move(error), symbol);
  return {};
}

Result<std::string> Jit::other_assembly(const semtree::Function& function,
                                        const std::string& symbol,
                                        const llvm::TargetMachine& host) {
  const std::string& name = state_->options.assembly_for;
  if (!host.getMCSubtargetInfo()->isCPUStringValid(name))
    return invalid_argument("the code generator knows no processor '{}' of this kind", name);
  llvm::orc::JITTargetMachineBuilder builder(state_->target->getTargetTriple());
  builder.setCPU(name).setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  auto machine = builder.createTargetMachine();
  if (!machine) return failure(machine.takeError(), "target machine of " + name);
  const llvm::MCSubtargetInfo& features = *(*machine)->getMCSubtargetInfo();
  EmitOptions emit = state_->emit;
  emit.vector_bytes = vector_bytes_of(
      [&](const char* feature) { return features.checkFeatures(std::string("+") + feature); });
  llvm::LLVMContext context;
  llvm::Module module(symbol, context);
  STRIA_RETURN_IF_ERROR(make_module(function, symbol, emit, **machine, module));
  return assembly_of(module, **machine);
}

Result<void*> Jit::address(const std::string& symbol) {
  auto found = state_->jit->lookup(symbol);
  if (!found) return failure(found.takeError(), symbol);
  return found->toPtr<void*>();
}

std::string host_cpu_name() { return llvm::sys::getHostCPUName().str(); }

int host_vector_lanes() {
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  return vector_bytes_of([&](const char* name) {
           auto at = features.find(name);
           return at != features.end() && at->second;
         }) /
         4;
}

}  // namespace stria::llvm_cpu
