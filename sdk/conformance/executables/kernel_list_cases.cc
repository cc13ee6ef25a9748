// SPDX-License-Identifier: Apache-2.0
#include "executables/kernel_list_cases.h"

#include <map>

#include "executables/executable_case.h"
#include "executables/sums.h"
#include "numbers/form.h"
#include "stria/hal/boundary/received.h"
#include "stria/stripe/walk.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kOrder =
    "The library's kernels in launch order: one per statement of prologue and main, or one for a "
    "whole part.";
constexpr std::string_view kArguments =
    "Out and inout arguments in printed order, then in arguments in printed order.";
constexpr std::string_view kDirection = "the refinement's: in, out or inout";
constexpr std::string_view kBytes = "least bytes that must lie behind the argument's offset";
constexpr std::string_view kOverlap =
    "Outputs only: positions of the inputs whose memory this output may overlap.";
constexpr std::string_view kState =
    "A sink, a callback, a body and a task get the `state` that was given with them.";

const std::vector<Form>& programs() {
  static const std::vector<Form> all = {
      {"elementwise", "A 37; B 37", "A, B -> R", "  R = A - B;\n"},
      {"product", "A 9,17; B 17,5", "A[M, K], B[K, N] -> C",
       "  C[i, j : M, N] = +(A[i, k] * B[k, j]);\n"},
      {"several_kernels", "A 9,17; B 17,9", "A[M, K], B[K, N] -> R, S",
       "  X[i, j : M, N] = +(A[i, k] * B[k, j]);\n  T[i, 0 : M, 1] = >(X[i, j]);\n"
       "  R = X - T;\n  S[k : K] = +(A[i, k]);\n"},
      {"prologue", "A 7,12; W! 12,12; V! 12", "A[M, K], W[K, N], V[N] -> R",
       "  X[i, j : K, N] = +(W[i, k] * W[k, j]);\n  Y = X + V;\n"
       "  R[i, j : M, N] = +(A[i, k] * Y[k, j]);\n"},
      {"one_tensor_twice", "A 13,13", "A[M, N] -> R", "  R[i, j : M, N] = +(A[i, k] * A[k, j]);\n"},
      {"gather", "D 11,6; I 9 index 11", "D[M, N], I[K] -> R", "  R = gather(D, I);\n"},
      {"scatter", "E 13,3; I 13 index 5; V 5,3", "E[K, N], I[K], V[M, N] -> R",
       "  R = scatter(E, I, V);\n"},
      {"numbers", "A -; B -", "A, B -> R", "  R = A + B;\n"},
      {"many_inputs", "A 21; B 21; C 21; D 21; E 21; F 21; G 21; H 21",
       "A, B, C, D, E, F, G, H -> R", "  R = A + B * C - D + E * F - G * H;\n"},
      {"many_outputs", "A 21; B 21", "A, B -> P, Q, R, S",
       "  P = A + B;\n  Q = A - B;\n  R = A * B;\n  S = max(A, B);\n"},
  };
  return all;
}

// A program and what the library says of it: plain values, nothing of the plugin's.
struct Listed {
  Compilation program;
  std::vector<hal::KernelInfo> kernels;
};

Result<const Listed*> listed(const Subject& subject, const Form& form) {
  static auto* kept = new std::map<std::string, Listed>;
  if (const auto it = kept->find(form.name); it != kept->end()) return &it->second;
  TestProgram program = program_of(form, DataType::i32);
  program.name = "kernels";
  Listed out;
  STRIA_ASSIGN(out.program, compile_for_device(subject, program));
  STRIA_ASSIGN(const Compiler compiler, subject.make_compiler());
  STRIA_ASSIGN(const Building building, begin_build(subject, compiler, out.program.device_text));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(building.done).with_context("the build"));
  STRIA_ASSIGN(out.kernels, kernels_of(subject, building.library));
  return &kept->emplace(form.name, std::move(out)).first->second;
}

// The part of the program that a kernel belongs to; null if there is no such part.
const stripe::Block* part_of(const Listed& listed, const hal::KernelInfo& kernel) {
  return kernel.part == hal::ProgramPart::main ? listed.program.device.main()
                                               : listed.program.device.prologue();
}
std::string place_of(const hal::KernelInfo& kernel) {
  const char* part = kernel.part == hal::ProgramPart::main ? "main" : "prologue";
  return kernel.statement == STRIA_WHOLE_PART
             ? fmt::format("the kernel '{}' for all of {}", kernel.name, part)
             : fmt::format("the kernel '{}' for statement {} of {}", kernel.name, kernel.statement,
                           part);
}

Finding check_order(const Listed& listed) {
  std::vector<std::pair<hal::ProgramPart, uint64_t>> due;
  size_t at = 0;
  for (const hal::ProgramPart part : {hal::ProgramPart::prologue, hal::ProgramPart::main}) {
    const stripe::Block* block = part == hal::ProgramPart::main ? listed.program.device.main()
                                                                : listed.program.device.prologue();
    if (block == nullptr) continue;
    const auto is_due = [&](uint64_t statement) {
      return at < listed.kernels.size() && listed.kernels[at].part == part &&
             listed.kernels[at].statement == statement;
    };
    if (is_due(STRIA_WHOLE_PART)) {
      ++at;
      continue;
    }
    for (uint64_t s = 0; s < block->stmts.size(); ++s, ++at)
      if (!is_due(s))
        return broken("kernel {} of the list is {}, where that for statement {} of {} is due", at,
                      at < listed.kernels.size() ? place_of(listed.kernels[at]) : "missing", s,
                      part == hal::ProgramPart::main ? "main" : "prologue");
  }
  if (at < listed.kernels.size())
    return broken("behind the last kernel the list has {}", place_of(listed.kernels[at]));
  return {};
}

struct Wanted {
  std::string name;
  hal::Direction direction = hal::Direction::in;
};
std::vector<Wanted> wanted_of(const stripe::Block& part, const hal::KernelInfo& kernel) {
  const auto direction_of = [](stripe::RefDir dir) {
    return dir == stripe::RefDir::in    ? hal::Direction::in
           : dir == stripe::RefDir::out ? hal::Direction::out
                                        : hal::Direction::inout;
  };
  std::vector<Wanted> out;
  if (kernel.statement == STRIA_WHOLE_PART) {
    for (const stripe::Refinement* ref : stripe::kernel_arguments(part))
      out.push_back({ref->into, direction_of(ref->dir)});
    return out;
  }
  if (kernel.statement >= part.stmts.size()) return out;
  const stripe::Statement& statement = part.stmts[kernel.statement];
  if (const stripe::Block* block = statement.block())
    for (const stripe::Refinement* ref : stripe::kernel_arguments(*block))
      out.push_back({ref->from, direction_of(ref->dir)});
  if (const stripe::Special* special = statement.special()) {
    for (const std::string& name : special->outputs) out.push_back({name, hal::Direction::out});
    for (const std::string& name : special->inputs) out.push_back({name, hal::Direction::in});
  }
  return out;
}

// Without the temporaries that a kernel for a whole part may ask for.
std::vector<hal::ArgumentInfo> arguments_of(const stripe::Block& part,
                                            const hal::KernelInfo& kernel) {
  std::vector<hal::ArgumentInfo> out;
  for (const hal::ArgumentInfo& argument : kernel.arguments) {
    const stripe::Refinement* ref = part.find_ref(argument.name);
    const bool is_temporary = ref != nullptr && ref->dir == stripe::RefDir::none;
    if (kernel.statement != STRIA_WHOLE_PART || !is_temporary) out.push_back(argument);
  }
  return out;
}

Finding check_arguments(const Listed& listed) {
  for (const hal::KernelInfo& kernel : listed.kernels) {
    const stripe::Block* part = part_of(listed, kernel);
    if (part == nullptr) return broken("{}: there is no such part", place_of(kernel));
    const std::vector<Wanted> wanted = wanted_of(*part, kernel);
    const std::vector<hal::ArgumentInfo> got = arguments_of(*part, kernel);
    if (got.size() != wanted.size())
      return broken("{} takes {} arguments, the statement has {} refinements", place_of(kernel),
                    got.size(), wanted.size());
    for (size_t a = 0; a < wanted.size(); ++a)
      if (got[a].name != wanted[a].name)
        return broken("{}: argument {} is '{}', not '{}'", place_of(kernel), a,
                      hal::one_line(got[a].name), wanted[a].name);
  }
  return {};
}

Finding check_directions(const Listed& listed) {
  for (const hal::KernelInfo& kernel : listed.kernels) {
    const stripe::Block* part = part_of(listed, kernel);
    if (part == nullptr) return broken("{}: there is no such part", place_of(kernel));
    const std::vector<Wanted> wanted = wanted_of(*part, kernel);
    const std::vector<hal::ArgumentInfo> got = arguments_of(*part, kernel);
    for (size_t a = 0; a < std::min(got.size(), wanted.size()); ++a)
      if (got[a].direction != wanted[a].direction)
        return broken("{}: argument '{}' has direction {}, not {}", place_of(kernel), got[a].name,
                      static_cast<int>(got[a].direction), static_cast<int>(wanted[a].direction));
  }
  return {};
}

// The host gives an argument its tensor's memory and nothing more.
Finding check_bytes(const Listed& listed, bool touches_all) {
  for (const hal::KernelInfo& kernel : listed.kernels) {
    const stripe::Block* part = part_of(listed, kernel);
    if (part == nullptr) return broken("{}: there is no such part", place_of(kernel));
    for (const hal::ArgumentInfo& argument : kernel.arguments) {
      const stripe::Refinement* ref = part->find_ref(argument.name);
      if (ref == nullptr) return broken("{}: no tensor '{}'", place_of(kernel), argument.name);
      const auto whole = static_cast<uint64_t>(ref->shape.span_bytes());
      if (argument.bytes > whole || (touches_all && argument.bytes != whole))
        return broken("{}: argument '{}' asks for {} bytes, its tensor has {}", place_of(kernel),
                      argument.name, argument.bytes, whole);
    }
  }
  return {};
}

Finding check_overlaps(const Listed& listed) {
  for (const hal::KernelInfo& kernel : listed.kernels)
    for (size_t a = 0; a < kernel.arguments.size(); ++a)
      for (const uint32_t other : kernel.arguments[a].may_overlap) {
        if (kernel.arguments[a].direction == hal::Direction::in)
          return broken("{}: the input '{}' says what it may overlap", place_of(kernel),
                        kernel.arguments[a].name);
        if (other >= kernel.arguments.size() ||
            kernel.arguments[other].direction != hal::Direction::in)
          return broken("{}: '{}' may overlap argument {} of {}, which is no input",
                        place_of(kernel), kernel.arguments[a].name, other, kernel.arguments.size());
      }
  return {};
}

// ---- the slots

Result<Building> build_sum(const Subject& subject, std::string_view options = "{}") {
  STRIA_ASSIGN(const Compilation program, sum_program(subject, DataType::i32, 37));
  STRIA_ASSIGN(const Compiler compiler, subject.make_compiler());
  STRIA_ASSIGN(Building building, begin_build(subject, compiler, program.device_text, {}, options));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(building.done));
  return building;
}

Finding listed_twice(Subject& subject) {
  STRIA_ASSIGN(const Building building, build_sum(subject));
  STRIA_ASSIGN(const std::vector<hal::KernelInfo> first, kernels_of(subject, building.library));
  STRIA_ASSIGN(const std::vector<hal::KernelInfo> again, kernels_of(subject, building.library));
  if (first.empty()) return broken("the library of R = A + B has no kernel");
  if (first != again) return broken("library.kernels gives another list the second time");
  return {};
}

// Counts its calls, if they come with its address.
struct Counted {
  Counted* self = this;
  int calls = 0, wrong = 0;
  template <typename... Rest>
  static void count(void* state, Rest...) {
    auto* counted = static_cast<Counted*>(state);
    if (counted == nullptr || counted->self != counted) return;
    ++counted->calls;
  }
};

Finding sink_gets_its_state(Subject& subject) {
  STRIA_ASSIGN(const Building building, build_sum(subject));
  STRIA_ASSIGN(const std::vector<hal::KernelInfo> kernels, kernels_of(subject, building.library));
  Counted counted;
  STRIA_SLOT(subject, library, kernels, building.library.get(),
             Counted::count<const stria_kernel_info*>, &counted);
  // The list itself was gathered by a sink that has a state.
  if (kernels.empty()) return broken("the library of R = A + B lists no kernel to the sink");
  if (static_cast<size_t>(counted.calls) != kernels.size())
    return broken("of {} kernels {} reach the sink with its state", kernels.size(), counted.calls);
  return {};
}

// What the host's interpreter runs is said to be so. Isolated, the interpreter is not ours.
Finding interpreted_is_said(Subject& subject) {
  constexpr uint32_t kSince = 4;
  if (subject.abi_minor() < kSince)
    return Finding::skip("the plugin speaks ABI 0.3 or older, which has no word for it");
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  const std::vector<hal::KernelInfo>& kernels = sums.built.infos;
  const uint64_t before = subject.host().kernels_run();
  STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, 5));
  STRIA_ASSIGN(const Event done, run_sum(subject, sums, tensors));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  const uint64_t interpreted = subject.host().kernels_run() - before;
  const auto says = std::count_if(kernels.begin(), kernels.end(), [](const hal::KernelInfo& info) {
    return !info.interpreted.empty();
  });
  if (interpreted > 0 && says == 0)
    return broken("the host's interpreter runs the program's kernels, and none is said to be so");
  return {};
}

// The structs say how long they are, in the arrays of pointers too.
Finding structs_have_sizes(Subject& subject) {
  STRIA_ASSIGN(const Building building, build_sum(subject));
  struct Seen {
    std::string wrong;
    static void look(void* state, const stria_kernel_info* info) {
      auto& wrong = static_cast<Seen*>(state)->wrong;
      if (info == nullptr || info->size < offsetof(stria_kernel_info, argument_count) + 8) {
        wrong = "a stria_kernel_info without its size";
        return;
      }
      for (uint64_t a = 0; a < info->argument_count; ++a)
        if (info->arguments == nullptr || info->arguments[a] == nullptr ||
            info->arguments[a]->size < offsetof(stria_argument_info, bytes) + 8)
          wrong = fmt::format("argument {} of a kernel without its size", a);
    }
  } seen;
  STRIA_SLOT(subject, library, kernels, building.library.get(), Seen::look, &seen);
  if (!seen.wrong.empty()) return broken("library.kernels gives {}", seen.wrong);
  return {};
}

Finding same_for_the_same_text(Subject& subject) {
  STRIA_ASSIGN(const Building first, build_sum(subject));
  STRIA_ASSIGN(const Building second, build_sum(subject));
  STRIA_ASSIGN(const std::vector<hal::KernelInfo> one, kernels_of(subject, first.library));
  STRIA_ASSIGN(const std::vector<hal::KernelInfo> other, kernels_of(subject, second.library));
  if (one.size() != other.size())
    return broken("the same text gives {} kernels, and then {}", one.size(), other.size());
  for (size_t k = 0; k < one.size(); ++k)
    if (one[k].part != other[k].part || one[k].statement != other[k].statement ||
        one[k].arguments != other[k].arguments)
      return broken("the same text gives {} with other arguments the second time",
                    place_of(one[k]));
  return {};
}

Finding source_is_text(Subject& subject, std::string_view options) {
  STRIA_ASSIGN(const Building building, build_sum(subject, options));
  std::vector<size_t> counts;
  for (int i = 0; i < 2; ++i) {
    hal::Received<hal::NamedText> got;
    const Status status = Subject::failure(
        Slot::library_source,
        subject.tables().library.source(building.library.get(),
                                        hal::Received<hal::NamedText>::text_sink, &got));
    if (status.code() == StatusCode::unimplemented) return Finding::skip(status.message());
    STRIA_RETURN_IF_ERROR(status);
    STRIA_RETURN_IF_ERROR(got.fault.with_context("library.source"));
    for (const hal::NamedText& text : got.items)
      if (text.name.empty()) return broken("library.source gives a text without a name");
    counts.push_back(got.items.size());
  }
  if (counts[0] != counts[1])
    return broken("library.source gives {} texts, and then {}", counts[0], counts[1]);
  return {};
}

// ---- passes

Finding unknown_pass(Subject& subject, const std::string& pass) {
  STRIA_ASSIGN(const Compilation program, sum_program(subject, DataType::i32, 37));
  STRIA_ASSIGN(const Compiler compiler, subject.make_compiler());
  Counted counted;
  const SlotAnswer answer = answer_of(subject.tables().compiler.transform(
      compiler.get(), hal::to_c(program.device_text), hal::to_c(pass), hal::to_c("{}"),
      Counted::count<stria_string, stria_string>, &counted));
  if (answer.code == STRIA_UNIMPLEMENTED) return Finding::skip("the plugin has no passes");
  STRIA_RETURN_IF_ERROR(
      expect_code(answer, {STRIA_NOT_FOUND},
                  fmt::format("compiler.transform of the pass '{}'", hal::one_line(pass))));
  if (counted.calls > 0)
    return broken("compiler.transform gives {} texts for a pass that it does not have",
                  counted.calls);
  return {};
}

}  // namespace

void add_kernel_list_cases(CaseMaker& maker) {
  const auto add = [&](const char* check, std::string_view sentence,
                       Finding (*look)(const Listed&)) {
    for (const Form& form : programs())
      add_executable_case(
          maker, fmt::format("kernels.{}.{}", check, form.name),
          form.name == "several_kernels" || form.name == "prologue" ? Level::right : Level::robust,
          sentence, [look, &form](Subject& subject) -> Finding {
            const Result<const Listed*> kernels = listed(subject, form);
            if (!kernels.ok()) return finding_of(kernels.status());
            return look(**kernels);
          });
  };
  add("order", kOrder, check_order);
  add("arguments", kArguments, check_arguments);
  add("directions", kDirection, check_directions);
  add("bytes", kBytes, [](const Listed& kernels) { return check_bytes(kernels, false); });
  add("overlaps", kOverlap, check_overlaps);
  add_executable_case(maker, "kernels.bytes_of_all_that_is_touched", Level::right, kBytes,
                      [](Subject& subject) -> Finding {
                        const Result<const Listed*> kernels = listed(subject, programs()[0]);
                        if (!kernels.ok()) return finding_of(kernels.status());
                        return check_bytes(**kernels, true);
                      });
  add_executable_case(maker, "kernels.listed_twice", Level::right, kOrder, listed_twice);
  add_executable_case(maker, "kernels.interpreted_is_said", Level::right,
                      "Empty: code of the plugin's own does.", interpreted_is_said);
  add_executable_case(maker, "kernels.sink_gets_its_state", Level::right, kState,
                      sink_gets_its_state);
  add_executable_case(maker, "kernels.structs_have_sizes", Level::right,
                      "Every struct starts with `size`, sizeof the struct as its maker compiled it",
                      structs_have_sizes);
  add_executable_case(maker, "kernels.same_for_the_same_text", Level::right, kOrder,
                      same_for_the_same_text);
  constexpr std::string_view kSource =
      "What was generated, for people: named texts such as \"kernel_0.s\". None is success.";
  add_executable_case(maker, "source.of_a_plain_build", Level::right, kSource,
                      [](Subject& subject) { return source_is_text(subject, "{}"); });
  add_executable_case(
      maker, "source.of_a_build_that_keeps_it", Level::right, kSource, [](Subject& subject) {
        return source_is_text(subject, R"({"fast_math": false, "dump_source": true})");
      });
  constexpr std::string_view kPass = "STRIA_NOT_FOUND for a pass it does not have.";
  const std::pair<const char*, std::string> passes[] = {{"unknown", "no_such_pass"},
                                                        {"of_the_host", "autotile"},
                                                        {"without_a_name", ""},
                                                        {"of_a_long_name", std::string(5000, 'x')},
                                                        {"of_odd_letters", "p\xc3\xa4ss\n%s%n"}};
  for (const auto& [name, pass] : passes)
    add_executable_case(maker, fmt::format("transform.{}", name),
                        std::string_view(name) == "unknown" ? Level::right : Level::robust, kPass,
                        [pass = pass](Subject& subject) { return unknown_pass(subject, pass); });
}

}  // namespace stria::conformance
