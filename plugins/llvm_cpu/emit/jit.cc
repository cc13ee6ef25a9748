// SPDX-License-Identifier: Apache-2.0
#include "emit/jit.h"

#include <dlfcn.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/CodeGen/MachineDominators.h>
#include <llvm/CodeGen/MachineLoopInfo.h>
#include <llvm/CodeGen/MachineOptimizationRemarkEmitter.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SHA256.h>
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

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "emit/compiled_kernels.h"
#include "emit/emit_llvm.h"
#include "emit/group_reductions.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"

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
  return has("avx512f") && has("avx512vl") && has("avx512dq") && has("avx512bw") ? 64
         : has("avx2") && has("fma")                                             ? 32
                                                                                 : 16;
}

using llvm::orc::JITTargetMachineBuilder;

// The processor to make code for; see host_cpu_name in compiled_kernels.h.
Result<JITTargetMachineBuilder> detect_target() {
  initialize_target();
  auto host = JITTargetMachineBuilder::detectHost();
  if (!host) return failure(host.takeError(), "host CPU");
  host->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  const char* name = secure_getenv("STRIA_LLVM_CPU_PROCESSOR");
  if (!name || !*name) return *host;
  JITTargetMachineBuilder asked(host->getTargetTriple());
  asked.setCPU(name).setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  auto machine = host->createTargetMachine();
  if (!machine) return failure(machine.takeError(), "target machine");
  const llvm::MCSubtargetInfo& all = *(*machine)->getMCSubtargetInfo();
  if (!all.isCPUStringValid(name)) {
    std::vector<std::string> names;
    for (const llvm::SubtargetSubTypeKV& known : all.getAllProcessorDescriptions())
      names.emplace_back(known.Key);
    return make_error(
        StatusCode::unavailable,
        "STRIA_LLVM_CPU_PROCESSOR is '{}': the code generator knows no such processor{}",
        shown_name(name), did_you_mean(name, names));
  }
  machine = asked.createTargetMachine();
  if (!machine) return failure(machine.takeError(), "target machine");
  const llvm::MCSubtargetInfo& wanted = *(*machine)->getMCSubtargetInfo();
  // For such a one the code generator ends the process.
  if (host->getTargetTriple().getArch() == llvm::Triple::x86_64 && !wanted.checkFeatures("+64bit"))
    return make_error(StatusCode::unavailable,
                      "STRIA_LLVM_CPU_PROCESSOR is '{}', which has no 64-bit mode", name);
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    if (!feature.second && wanted.checkFeatures("+" + feature.first().str()))
      return make_error(StatusCode::unavailable,
                        "STRIA_LLVM_CPU_PROCESSOR is '{}', which has '{}': this machine has not",
                        name, feature.first().str());
  return asked;
}

int vector_bytes_of(const JITTargetMachineBuilder& builder) {
  auto machine = JITTargetMachineBuilder(builder).createTargetMachine();
  if (!machine) {
    llvm::consumeError(machine.takeError());
    return 16;
  }
  const llvm::MCSubtargetInfo& features = *(*machine)->getMCSubtargetInfo();
  return vector_bytes_of(
      [&](const char* feature) { return features.checkFeatures(std::string("+") + feature); });
}

struct GroupReductions : llvm::PassInfoMixin<GroupReductions> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    if (!group_reductions(function)) return llvm::PreservedAnalyses::all();
    llvm::PreservedAnalyses preserved;
    preserved.preserveSet<llvm::CFGAnalyses>();
    return preserved;
  }
};

// Enough to turn what emit_function writes into what the instruction selector wants: slots into
// values, common addresses and loads once, invariant ones outside their loops. Loops are not
// unrolled or vectorised: passes on the Stripe have decided that.
void optimize(llvm::Module& module, llvm::TargetMachine& target, bool with_group_reductions) {
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
  passes.addPass(llvm::InstCombinePass(
      llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager per_loop;
  per_loop.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(per_loop), /*UseMemorySSA=*/true));
  if (with_group_reductions) passes.addPass(GroupReductions());
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::InstCombinePass(
      llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::ADCEPass());
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) passes.run(function, functions);
}

// What a kernel is called until its symbol is known.
constexpr const char* kEntry = "kernel";

// The function as a module, as it was emitted.
Status make_module(const semtree::Function& function, const EmitOptions& options,
                   llvm::TargetMachine& target, llvm::Module& module) {
  module.setDataLayout(target.createDataLayout());
  module.setTargetTriple(target.getTargetTriple().str());
  emit_function(function, kEntry, options, module);
  std::string problem;
  llvm::raw_string_ostream report(problem);
  if (llvm::verifyModule(module, &report))
    return internal_error("kernel '{}' became wrong LLVM IR: {}", function.name, report.str());
  return {};
}

// Of all that the code of a module can depend on but names.
std::string symbol_of(const llvm::Module& module) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  module.print(stream, nullptr);
  const std::array<uint8_t, 32> hash = llvm::SHA256::hash(
      llvm::ArrayRef(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  return std::string(kEntry) + "_" + llvm::toHex(hash, /*LowerCase=*/true);
}

bool generate(llvm::Module& from, llvm::TargetMachine& target, llvm::CodeGenFileType kind,
              llvm::SmallVectorImpl<char>& bytes) {
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, stream, nullptr, kind)) return false;
  passes.run(from);
  return true;
}

// Hears what the register allocator remarks on innermost loops.
class SpillListener final : public llvm::DiagnosticHandler {
 public:
  explicit SpillListener(std::vector<std::string>& lines) : lines_(lines) {}
  bool isMissedOptRemarkEnabled(llvm::StringRef pass) const override { return pass == kAllocator; }
  bool isAnyRemarkEnabled() const override { return true; }
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    const auto* remark = llvm::dyn_cast<llvm::DiagnosticInfoMIROptimization>(&info);
    if (!remark || remark->getPassName() != kAllocator) return false;
    // Said of every loop and then of the function, with what is inside.
    const llvm::MachineBasicBlock* head = remark->getBlock();
    llvm::MachineDominatorTree dominators(*const_cast<llvm::MachineFunction*>(head->getParent()));
    const llvm::MachineLoopInfo loops(dominators);
    const llvm::MachineLoop* loop = loops.getLoopFor(head);
    if (!loop || loop->getHeader() != head || !loop->isInnermost()) return true;
    if (remark->getRemarkName() != "LoopSpillReloadCopies") return true;
    // No vector register outlives a call.
    for (const llvm::MachineBasicBlock* block : loop->blocks())
      for (const llvm::MachineInstr& instruction : *block)
        if (instruction.isCall()) return true;
    // A copy is none: it stays in registers.
    const std::string text = remark->getMsg();
    if (text.find("spill") != std::string::npos || text.find("reload") != std::string::npos)
      lines_.push_back(text);
    return true;
  }

 private:
  static constexpr const char* kAllocator = "regalloc";
  std::vector<std::string>& lines_;
};

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
  std::unique_ptr<JITTargetMachineBuilder> target;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  // Making a target machine takes longer than compiling a small kernel: those that are not in use
  // wait here.
  std::mutex mutex;
  std::vector<std::unique_ptr<llvm::TargetMachine>> idle;
  std::set<std::string> symbols;               // taken; guarded by mutex
  std::map<std::string, std::string> objects;  // with keep_objects; guarded by mutex

  // Whether nobody had it before.
  bool take_symbol(const std::string& symbol) {
    std::lock_guard lock(mutex);
    return symbols.insert(symbol).second;
  }
  std::string next_symbol() {
    std::lock_guard lock(mutex);
    return *symbols.insert(fmt::format("{}_{}", kEntry, symbols.size())).first;
  }

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
  auto state = std::make_unique<State>();
  state->options = options;
  STRIA_ASSIGN(const JITTargetMachineBuilder target, detect_target());
  state->target = std::make_unique<JITTargetMachineBuilder>(target);
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(target)
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                 .create();
  if (!jit) return failure(jit.takeError(), "JIT");
  state->jit = std::move(*jit);
  state->emit.fast_math = options.fast_math;
  state->emit.vector_bytes = vector_bytes_of(target);

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
  if (!scalar)
    return make_error(StatusCode::unavailable, "the C mathematics library does not load: {}",
                      dlerror());
  for (const std::string& name : math_symbols()) {
    void* address = dlsym(scalar, name.c_str());
    if (!address)
      return make_error(StatusCode::unavailable, "the C mathematics library has no '{}'", name);
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
  if (auto error =
          state->jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))))
    return failure(std::move(error), "symbols of the C library");
  return std::unique_ptr<Jit>(new Jit(std::move(state)));
}

Result<std::string> Jit::add(const semtree::Function& function, JitDump* dump) {
  STRIA_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine, state_->take_machine());
  Result<std::string> symbol = compile(function, *machine, dump);
  state_->give_back(std::move(machine));
  return symbol;
}

Result<std::string> Jit::compile(const semtree::Function& function, llvm::TargetMachine& target,
                                 JitDump* dump) {
  const JitOptions& options = state_->options;
  const bool dumps = options.dump_ir || options.dump_assembly || options.report_spills;
  const bool here = options.assembly_for.empty();
  llvm::LLVMContext context;
  context.setDiscardValueNames(!dumps);  // they are for people
  llvm::Module module("", context);
  STRIA_RETURN_IF_ERROR(make_module(function, state_->emit, target, module));
  const std::string symbol = dumps ? state_->next_symbol() : symbol_of(module);
  if (!dumps && !state_->take_symbol(symbol)) return symbol;
  module.getFunction(kEntry)->setName(symbol);
  optimize(module, target, options.group_reductions);
  if (dump && options.dump_ir) {
    llvm::raw_string_ostream text(dump->ir);
    module.print(text, nullptr);
  }
  if (dump && !here) STRIA_RETURN_IF_ERROR(other_assembly(function, target, *dump));
  // Code generation changes the module it works on.
  if (dump && here && options.dump_assembly) {
    STRIA_ASSIGN(dump->assembly, assembly_of(*llvm::CloneModule(module), target));
  }
  if (dump && here && options.report_spills)
    context.setDiagnosticHandler(std::make_unique<SpillListener>(dump->inner_spills));
  llvm::SmallVector<char, 0> object;
  if (!generate(module, target, llvm::CodeGenFileType::ObjectFile, object))
    return internal_error("no object code for this target");
  if (options.keep_objects) {
    std::lock_guard lock(state_->mutex);
    state_->objects.emplace(symbol, std::string(object.begin(), object.end()));
  }
  auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(object), symbol, false);
  if (auto error = state_->jit->addObjectFile(std::move(buffer)))
    return failure(std::move(error), symbol);
  return symbol;
}

Status Jit::add_object(const std::string& symbol, std::string_view object) {
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy({object.data(), object.size()}, symbol);
  if (auto error = state_->jit->addObjectFile(std::move(buffer)))
    return failure(std::move(error), symbol);
  return {};
}

std::map<std::string, std::string> Jit::take_objects() { return std::move(state_->objects); }

Status Jit::other_assembly(const semtree::Function& function, const llvm::TargetMachine& host,
                           JitDump& dump) {
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
  llvm::Module module("", context);
  STRIA_RETURN_IF_ERROR(make_module(function, emit, **machine, module));
  optimize(module, **machine, state_->options.group_reductions);
  if (state_->options.report_spills)
    context.setDiagnosticHandler(std::make_unique<SpillListener>(dump.inner_spills));
  STRIA_ASSIGN(dump.assembly, assembly_of(module, **machine));
  if (!state_->options.dump_assembly) dump.assembly.clear();
  return {};
}

Result<void*> Jit::address(const std::string& symbol) {
  auto found = state_->jit->lookup(symbol);
  if (!found) return failure(found.takeError(), symbol);
  return found->toPtr<void*>();
}

Status check_processor() { return detect_target().status(); }

std::string host_cpu_name() {
  const Result<JITTargetMachineBuilder> target = detect_target();
  return target.ok() ? target->getCPU() : llvm::sys::getHostCPUName().str();
}

int host_vector_lanes() {
  const Result<JITTargetMachineBuilder> target = detect_target();
  return target.ok() ? vector_bytes_of(*target) / 4 : 4;
}

std::string code_key(const CompileOptions& options) {
  const Result<JITTargetMachineBuilder> target = detect_target();
  // Without a target nothing is compiled, so nothing is kept.
  if (!target.ok()) return "no target";
  std::string out =
      fmt::format("LLVM {}, {}, {}{}", LLVM_VERSION_STRING, target->getCPU(),
                  target->getFeatures().getString(), options.fast_math ? ", fast_math" : "");
  for (const semtree::Peephole& peephole : semtree::kPeepholes)
    if (!(options.peepholes.*peephole.runs)) out += fmt::format(", no {}", peephole.name);
  if (!options.group_reductions) out += ", no group_reductions";
  return out;
}

}  // namespace stria::llvm_cpu
