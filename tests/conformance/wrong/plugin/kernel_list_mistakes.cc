// SPDX-License-Identifier: Apache-2.0
// Libraries that list other kernels than they have.
#include <algorithm>

#include "wrong_object.h"

namespace stria::wrong {
namespace {

using Kernels = std::vector<sdk::KernelInfo>;
template <void (*kChange)(Kernels&)>
void plant_list(WrongObject&) {
  hooks().list_kernels = kChange;
}
// Each kernel that has arguments.
template <void (*kChange)(sdk::KernelInfo&)>
void plant_each(WrongObject&) {
  hooks().list_kernels = [](Kernels& kernels) {
    for (sdk::KernelInfo& kernel : kernels)
      if (!kernel.arguments.empty()) kChange(kernel);
  };
}

stria_error* list_with_other_state(stria_library* library, stria_kernel_sink sink, void*) {
  static char own[4096];
  return Right::kernels(library, sink, own);
}
// Passes each kernel on after a change of its struct.
using Edit = void (*)(stria_kernel_info& info);
struct Sent {
  stria_kernel_sink sink;
  void* state;
  Edit edit;
};
template <Edit kEdit>
stria_error* kernels(stria_library* library, stria_kernel_sink sink, void* state) {
  Sent sent{sink, state, kEdit};
  return Right::kernels(
      library,
      [](void* raw, const stria_kernel_info* info) {
        const auto& to = *static_cast<const Sent*>(raw);
        stria_kernel_info changed = *info;
        to.edit(changed);
        to.sink(to.state, &changed);
      },
      &sent);
}
template <Edit kEdit>
void plant_struct(WrongObject& object) {
  object.tables.library.kernels = kernels<kEdit>;
}
// Before the build is done there is nothing: that is said as success.
stria_error* kernels_too_early(stria_library* library, stria_kernel_sink sink, void* state) {
  const auto& handle = sdk::as<sdk::LibraryHandle>(library);
  return handle.done->done() ? Right::kernels(library, sink, state) : nullptr;
}
stria_error* source_too_early(stria_library* library, stria_text_sink sink, void* state) {
  const auto& handle = sdk::as<sdk::LibraryHandle>(library);
  return handle.done->done() ? Right::source(library, sink, state) : nullptr;
}
// The last kernel stands for all that are not there.
stria_error* prepare_any(stria_executor* executor, stria_library* library, uint64_t index,
                         stria_kernel** kernel) {
  const auto& handle = sdk::as<sdk::LibraryHandle>(library);
  if (!handle.done->done() || !handle.library)
    return Right::prepare(executor, library, index, kernel);
  const uint64_t last = handle.library->kernels().size() - 1;
  return Right::prepare(executor, library, std::min(index, last), kernel);
}
stria_error* prepare_in_32_bits(stria_executor* executor, stria_library* library, uint64_t index,
                                stria_kernel** kernel) {
  return Right::prepare(executor, library, static_cast<uint32_t>(index), kernel);
}
// Any number of arguments, anywhere.
stria_error* run_unchecked(stria_kernel* kernel, const stria_argument* const* arguments,
                           uint64_t argument_count, stria_event* const* waits, uint64_t wait_count,
                           stria_event** done) {
  stria_error* const error = Right::run(kernel, arguments, argument_count, waits, wait_count, done);
  if (!error || error->code != STRIA_INVALID_ARGUMENT) return error;
  error->release(error);
  const auto& handle = sdk::as<sdk::KernelHandle>(kernel);
  *done = sdk::give<stria_event>(sdk::when_done(handle.executor->host(), handle.executor->tracker(),
                                                sdk::waits_of(waits, wait_count)));
  return nullptr;
}
stria_error* run_with_another_code(stria_kernel* kernel, const stria_argument* const* arguments,
                                   uint64_t argument_count, stria_event* const* waits,
                                   uint64_t wait_count, stria_event** done) {
  stria_error* const error = Right::run(kernel, arguments, argument_count, waits, wait_count, done);
  if (error && error->code == STRIA_INVALID_ARGUMENT) error->code = STRIA_INTERNAL;
  return error;
}
stria_error* transform_any(stria_compiler*, stria_string stripe, stria_string, stria_string,
                           stria_text_sink sink, void* state) {
  sink(state, sdk::to_c("stripe"), stripe);
  return nullptr;
}
// Text that cannot be read gives a library without kernels.
stria_error* build_of_anything(stria_compiler* compiler, const stria_build_params* params,
                               stria_event* const* waits, uint64_t wait_count,
                               stria_library** library, stria_event** done) {
  static constexpr std::string_view kNothing =
      "stripe 1.0\n0: #program block [] ( // nothing\n) {\n  0: #main block [] ( // main\n  ) {\n"
      "  }\n}\n";
  stria_build_params given = sdk::whole(params);
  given.size = sizeof given;
  if (sdk::view_of(given.stripe).substr(0, 7) != "stripe ") given.stripe = sdk::to_c(kNothing);
  return Right::build(compiler, &given, waits, wait_count, library, done);
}

constexpr Mistake kAll[] = {
    {"kernels.backward", plant_list<[](Kernels& all) { std::reverse(all.begin(), all.end()); }>},
    {"kernels.last_is_missing", plant_list<[](Kernels& all) {
       if (!all.empty()) all.pop_back();
     }>},
    {"kernels.first_comes_twice", plant_list<[](Kernels& all) {
       if (!all.empty()) all.push_back(all.front());
     }>},
    {"kernels.inputs_first",
     plant_each<[](sdk::KernelInfo& k) { std::reverse(k.arguments.begin(), k.arguments.end()); }>},
    {"kernels.outputs_are_inputs",
     plant_each<[](sdk::KernelInfo& k) { k.arguments[0].direction = STRIA_IN; }>},
    {"kernels.outputs_are_inout",
     plant_each<[](sdk::KernelInfo& k) { k.arguments[0].direction = STRIA_INOUT; }>},
    {"kernels.bytes_one_more", plant_each<[](sdk::KernelInfo& k) { ++k.arguments.back().bytes; }>},
    {"kernels.bytes_one_less", plant_each<[](sdk::KernelInfo& k) { --k.arguments.back().bytes; }>},
    {"kernels.bytes_are_elements",
     plant_each<[](sdk::KernelInfo& k) { k.arguments[0].bytes /= 4; }>},
    {"kernels.argument_is_missing", plant_each<[](sdk::KernelInfo& k) { k.arguments.pop_back(); }>},
    {"kernels.other_names", plant_each<[](sdk::KernelInfo& k) { k.arguments[0].name = "arg0"; }>},
    {"kernels.all_in_main", plant_each<[](sdk::KernelInfo& k) { k.part = STRIA_MAIN; }>},
    {"kernels.statements_from_one", plant_each<[](sdk::KernelInfo& k) { ++k.statement; }>},
    {"kernels.inputs_may_overlap",
     plant_each<[](sdk::KernelInfo& k) { k.arguments.back().may_overlap = {0}; }>},
    {"kernels.overlap_nobody",
     plant_each<[](sdk::KernelInfo& k) { k.arguments[0].may_overlap = {99}; }>},
    {"kernels.overlap_all", plant_each<[](sdk::KernelInfo& k) {
       for (uint32_t a = 1; a < k.arguments.size(); ++a) k.arguments[0].may_overlap.push_back(a);
     }>},
    {"kernels.with_another_state",
     [](WrongObject& o) { o.tables.library.kernels = list_with_other_state; }},
    {"kernels.struct_of_no_size", plant_struct<[](stria_kernel_info& i) { i.size = 0; }>},
    {"kernels.arguments_are_null",
     plant_struct<[](stria_kernel_info& i) { i.arguments = nullptr; }>},
    {"kernels.too_early", [](WrongObject& o) { o.tables.library.kernels = kernels_too_early; }},
    {"source.too_early", [](WrongObject& o) { o.tables.library.source = source_too_early; }},
    {"prepare.any_index", [](WrongObject& o) { o.tables.executor.prepare = prepare_any; }},
    {"prepare.index_in_32_bits",
     [](WrongObject& o) { o.tables.executor.prepare = prepare_in_32_bits; }},
    {"run.minds_no_arguments", [](WrongObject& o) { o.tables.kernel.run = run_unchecked; }},
    {"run.says_another_code", [](WrongObject& o) { o.tables.kernel.run = run_with_another_code; }},
    {"transform.knows_every_pass",
     [](WrongObject& o) { o.tables.compiler.transform = transform_any; }},
    {"build.of_anything", [](WrongObject& o) { o.tables.compiler.build = build_of_anything; }},
};

}  // namespace

std::span<const Mistake> kernel_list_mistakes() { return kAll; }

}  // namespace stria::wrong
