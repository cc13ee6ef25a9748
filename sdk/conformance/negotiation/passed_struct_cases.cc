// SPDX-License-Identifier: Apache-2.0
#include "negotiation/passed_struct_cases.h"

#include "negotiation/answer.h"
#include "negotiation/remade_launches.h"
#include "stria/hal/boundary/error.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kLongerIsIgnored =
    "What a longer struct has beyond the reader's own is ignored.";
constexpr std::string_view kUnknownNext = "unknown ones are skipped; NULL ends it";
constexpr std::string_view kWithinSize =
    "A reader uses a member only if all of it lies within `size`; one beyond counts as 0, NULL or "
    "empty.";
constexpr std::string_view kCallOnly =
    "Pointers given to a slot are valid during the call only, unless its comment says otherwise.";
constexpr std::string_view kNoZero = "text UTF-8 in {data, size} without a terminating zero";

Case& add(CaseMaker& maker, const std::string& name, std::string_view sentence,
          std::function<Finding(Subject&, const DeviceWork&)> run) {
  Case& c = maker.add('N', name, Level::right, sentence,
                      [run = std::move(run)](Subject& subject) -> Finding {
                        return run(subject, DeviceWork(subject));
                      });
  c.limit = std::chrono::seconds(60);
  return c;
}

Status check(const UnknownChain& chain) {
  return chain.is_untouched() ? Status()
                              : broken("it writes into an extension struct of the host's");
}

// ---- stria_buffer_params

// A buffer of 100 bytes by such params, which is as good as any.
Finding allocates(const DeviceWork& work, const stria_buffer_params* params) {
  if (!params) return make_error(StatusCode::out_of_memory, "no memory for this case");
  stria_buffer* raw = nullptr;
  STRIA_RETURN_IF_ERROR(Subject::failure(
      Slot::device_allocate, work.tables().device.allocate(work.device(), params, &raw)));
  if (!raw)
    return broken_rule(rule_of(Slot::device_allocate),
                       "device.allocate says that it succeeded and gives nothing");
  const Buffer buffer(raw, work.tables().buffer.release);
  const Bytes bytes = pattern(100, 5);
  STRIA_RETURN_IF_ERROR(work.write(buffer, 0, bytes));
  return work.holds(buffer, bytes, "a buffer of 100 bytes that were written");
}

stria_buffer_params hundred_bytes() {
  stria_buffer_params params{};
  params.size = sizeof params;
  params.bytes = 100;
  return params;
}

void add_buffer_params_cases(CaseMaker& maker) {
  add(maker, "buffer_params.longer", kLongerIsIgnored, [](Subject&, const DeviceWork& work) {
    LongerStruct<stria_buffer_params> params(hundred_bytes(), 64);
    return allocates(work, params.get());
  });
  add(maker, "buffer_params.ends_with_bytes", kWithinSize, [](Subject&, const DeviceWork& work) {
    const StructAtPageEnd<stria_buffer_params> params(hundred_bytes(),
                                                      offsetof(stria_buffer_params, memory));
    return allocates(work, params.get());
  });
  add(maker, "buffer_params.chain", kUnknownNext, [](Subject&, const DeviceWork& work) -> Finding {
    const UnknownChain chain(2);
    stria_buffer_params params = hundred_bytes();
    params.next = chain.first();
    const Finding finding = allocates(work, &params);
    return finding.ending() == Ending::pass ? Finding(check(chain)) : finding;
  });
}

// ---- stria_build_params

Finding builds(const DeviceWork& work, const stria_build_params* params,
               const std::function<void()>& forget = {}) {
  if (!params) return make_error(StatusCode::out_of_memory, "no memory for this case");
  STRIA_ASSIGN(const Compiler compiler, work.compiler());
  stria_library* raw = nullptr;
  stria_event* raw_done = nullptr;
  STRIA_RETURN_IF_ERROR(Subject::failure(
      Slot::compiler_build,
      work.tables().compiler.build(compiler.get(), params, nullptr, 0, &raw, &raw_done)));
  if (!raw || !raw_done)
    return broken_rule(rule_of(Slot::compiler_build),
                       "compiler.build says that it succeeded and gives nothing");
  const Library library(raw, work.tables().library.release);
  const Event done(raw_done, work.tables().event.release, Slot::compiler_build);
  if (forget) forget();
  STRIA_RETURN_IF_ERROR(work.wait(done));
  STRIA_ASSIGN(const auto kernels, kernels_of(work, library));
  if (kernels.empty()) return broken("a library that was built has no kernel");
  return {};
}

stria_build_params build_params(const SmallProgram& program) {
  stria_build_params params{};
  params.size = sizeof params;
  params.stripe = hal::to_c(program.stripe());
  params.options = hal::to_c("{}");
  return params;
}

void add_build_params_cases(CaseMaker& maker) {
  add(maker, "build_params.longer", kLongerIsIgnored,
      [](Subject& subject, const DeviceWork& work) -> Finding {
        STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
        LongerStruct<stria_build_params> params(build_params(program), 64);
        return builds(work, params.get());
      });
  add(maker, "build_params.chain", kUnknownNext,
      [](Subject& subject, const DeviceWork& work) -> Finding {
        STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
        const UnknownChain chain(2);
        stria_build_params params = build_params(program);
        params.next = chain.first();
        const Finding finding = builds(work, &params);
        return finding.ending() == Ending::pass ? Finding(check(chain)) : finding;
      });
  add(maker, "build_params.gone_after_the_call", kCallOnly,
      [](Subject& subject, const DeviceWork& work) -> Finding {
        STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
        auto stripe = std::make_unique<TextAtPageEnd>(program.stripe());
        auto options = std::make_unique<TextAtPageEnd>("{}");
        stria_build_params params = build_params(program);
        params.stripe = hal::to_c(stripe->view());
        params.options = hal::to_c(options->view());
        auto given = std::make_unique<StructAtPageEnd<stria_build_params>>(params, sizeof params);
        // From here on a pointer that was kept leads nowhere.
        return builds(work, given->get(), [&] {
          stripe.reset();
          options.reset();
          given.reset();
        });
      });
}

// ---- stria_launch and stria_argument

Finding runs(Subject& subject, const DeviceWork& work, Remade how) {
  STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
  STRIA_ASSIGN(const LoadedSmall loaded, load(work, program));
  STRIA_ASSIGN(const SmallTensors tensors, SmallTensors::make(work, program, 11));
  STRIA_ASSIGN(const SmallLaunches launches, SmallLaunches::make(work, loaded, tensors));
  STRIA_ASSIGN(const Event open, work.host_event());
  Event done;
  {
    const RemadeLaunches remade(launches, how);
    stria_event* const wait = open.get();
    const BytesAtPageEnd waits(&wait, sizeof wait);
    stria_event* raw = nullptr;
    STRIA_RETURN_IF_ERROR(Subject::failure(
        Slot::executor_submit,
        work.tables().executor.submit(loaded.executor.get(), remade.list(), remade.count(),
                                      static_cast<stria_event* const*>(waits.get()), 1, nullptr,
                                      &raw)));
    if (!raw)
      return broken_rule(rule_of(Slot::executor_submit),
                         "executor.submit says that it succeeded and gives nothing");
    done = Event(raw, work.tables().event.release, Slot::executor_submit);
    if (!remade.chain_is_untouched())
      return broken("executor.submit writes into an extension struct of the host's");
  }
  // The work starts now, when all that the call was given is gone.
  STRIA_RETURN_IF_ERROR(work.flush(loaded.executor));
  STRIA_RETURN_IF_ERROR(work.signal(open));
  STRIA_RETURN_IF_ERROR(work.wait(done));
  return tensors.check(work, program, 11);
}

void add_launch_cases(CaseMaker& maker) {
  struct How {
    const char* name;
    Remade remade;
    std::string_view sentence;
  };
  for (const How& how : {How{"launch.gone_after_the_call", Remade::as_they_are, kCallOnly},
                         How{"launch.longer", Remade::longer, kLongerIsIgnored},
                         How{"launch.chain", Remade::chained, kUnknownNext},
                         How{"launch.ends_where_the_rest_is_zero", Remade::shorter, kWithinSize}})
    add(maker, how.name, how.sentence, [how](Subject& subject, const DeviceWork& work) {
      return runs(subject, work, how.remade);
    });
}

// ---- stria_error, as event.signal gets it

Finding signals(const DeviceWork& work, const stria_error* error,
                const std::function<void()>& forget = {}) {
  if (!error) return make_error(StatusCode::out_of_memory, "no memory for this case");
  STRIA_ASSIGN(const Event event, work.host_event());
  STRIA_RETURN_IF_ERROR(
      Subject::failure(Slot::event_signal, work.tables().event.signal(event.get(), error)));
  if (forget) forget();
  for (int time = 0; time < 2; ++time) {
    stria_error* status = work.tables().event.status(event.get());
    if (!status) return broken("event.status of an event that was failed says that all is well");
    const stria_code code = status->code;
    const std::string message(hal::view_of(status->message));
    status->release(status);
    if (code != STRIA_DATA_LOSS || message != "a tape was torn")
      return broken(
          "of an event that was failed with STRIA_DATA_LOSS, 'a tape was torn', "
          "event.status says {}, '{}'",
          code_text(code), hal::one_line(message));
  }
  return {};
}

stria_error torn_tape() {
  stria_error error{};
  error.size = sizeof error;
  error.code = STRIA_DATA_LOSS;
  error.message = hal::to_c("a tape was torn");
  error.release = [](stria_error*) {};
  return error;
}

void add_error_cases(CaseMaker& maker) {
  add(maker, "error.longer", kLongerIsIgnored, [](Subject&, const DeviceWork& work) {
    LongerStruct<stria_error> error(torn_tape(), 64);
    return signals(work, error.get());
  });
  add(maker, "error.ends_with_message", kWithinSize, [](Subject&, const DeviceWork& work) {
    const StructAtPageEnd<stria_error> error(torn_tape(), offsetof(stria_error, native_message));
    return signals(work, error.get());
  });
  add(maker, "error.chain", kUnknownNext, [](Subject&, const DeviceWork& work) -> Finding {
    const UnknownChain chain(2);
    stria_error error = torn_tape();
    error.next = chain.first();
    const Finding finding = signals(work, &error);
    return finding.ending() == Ending::pass ? Finding(check(chain)) : finding;
  });
  add(maker, "error.gone_after_the_call",
      "Host events only: it is done, or failed with a copy of `error`.",
      [](Subject&, const DeviceWork& work) {
        auto message = std::make_unique<TextAtPageEnd>("a tape was torn");
        stria_error error = torn_tape();
        error.message = hal::to_c(message->view());
        auto given = std::make_unique<StructAtPageEnd<stria_error>>(error, sizeof error);
        return signals(work, given->get(), [&] {
          message.reset();
          given.reset();
        });
      });
}

// ---- lists and texts

// Each slot that takes a list of waits gets none: neither a list nor a count.
void add_null_list_cases(CaseMaker& maker) {
  constexpr std::string_view kNone =
      "Lists of events to wait for may be NULL if their count is 0, and hold events of the same "
      "device only";
  constexpr uint64_t kCount = 64;
  add(maker, "lists.null.fill", kNone, [](Subject&, const DeviceWork& work) -> Finding {
    STRIA_ASSIGN(const Executor executor, work.executor());
    STRIA_ASSIGN(const Buffer buffer, work.buffer(Bytes(kCount)));
    const std::byte mark{9};
    STRIA_ASSIGN(const Event filled, work.fill(executor, buffer, 0, kCount, {&mark, 1}));
    STRIA_RETURN_IF_ERROR(work.wait(filled));
    return work.holds(buffer, Bytes(kCount, mark), "after a fill");
  });
  add(maker, "lists.null.copy", kNone, [](Subject&, const DeviceWork& work) -> Finding {
    STRIA_ASSIGN(const Executor executor, work.executor());
    const Bytes bytes = pattern(kCount, 4);
    STRIA_ASSIGN(const Buffer source, work.buffer(bytes));
    STRIA_ASSIGN(const Buffer target, work.buffer(Bytes(kCount)));
    STRIA_ASSIGN(const Event copied, work.copy(executor, source, 0, target, 0, kCount));
    STRIA_RETURN_IF_ERROR(work.wait(copied));
    return work.holds(target, bytes, "after a copy");
  });
  for (const Slot slot :
       {Slot::buffer_map_current, Slot::buffer_map_discard, Slot::buffer_map_read})
    add(maker, fmt::format("lists.null.{}", name_of(slot).substr(name_of(slot).find('.') + 1)),
        kNone, [slot](Subject&, const DeviceWork& work) -> Finding {
          const Bytes bytes = pattern(kCount, 5);
          STRIA_ASSIGN(const Buffer buffer, work.buffer(bytes));
          Result<DeviceWork::Mapping> mapped = work.map(slot, buffer, 0, kCount);
          if (slot == Slot::buffer_map_read && mapped.status().code() == StatusCode::unimplemented)
            return Finding::skip("the plugin has no buffer.map_read");
          STRIA_ASSIGN(const DeviceWork::Mapping mapping, std::move(mapped));
          STRIA_RETURN_IF_ERROR(work.wait(mapping.ready));
          if (slot == Slot::buffer_map_discard)
            std::memcpy(mapping.memory, bytes.data(), kCount);
          else if (std::memcmp(mapping.memory, bytes.data(), kCount) != 0)
            return broken("the mapping does not show what the buffer holds");
          STRIA_ASSIGN(const Event unmapped, work.unmap(buffer, mapping.memory));
          STRIA_RETURN_IF_ERROR(work.wait(unmapped));
          return work.holds(buffer, bytes, "after an unmapping");
        });
  add(maker, "lists.null.build", kNone, [](Subject& subject, const DeviceWork& work) -> Finding {
    STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
    const stria_build_params params = build_params(program);
    return builds(work, &params);
  });
  add(maker, "lists.null.submit", kNone, [](Subject& subject, const DeviceWork& work) -> Finding {
    STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
    STRIA_ASSIGN(const LoadedSmall loaded, load(work, program));
    STRIA_ASSIGN(const SmallTensors tensors, SmallTensors::make(work, program, 12));
    STRIA_ASSIGN(const SmallLaunches launches, SmallLaunches::make(work, loaded, tensors));
    stria_event* raw = nullptr;
    STRIA_RETURN_IF_ERROR(Subject::failure(
        Slot::executor_submit,
        work.tables().executor.submit(loaded.executor.get(), launches.list(), launches.count(),
                                      nullptr, 0, nullptr, &raw)));
    if (!raw)
      return broken_rule(rule_of(Slot::executor_submit),
                         "executor.submit says that it succeeded and gives nothing");
    const Event done(raw, work.tables().event.release, Slot::executor_submit);
    STRIA_RETURN_IF_ERROR(work.flush(loaded.executor));
    STRIA_RETURN_IF_ERROR(work.wait(done));
    return tensors.check(work, program, 12);
  });
}

void add_text_cases(CaseMaker& maker) {
  add(maker, "texts.device_id", kNoZero, [](Subject& subject, const DeviceWork&) -> Finding {
    TestHost host;
    STRIA_ASSIGN(const Driver driver, subject.make_driver(host));
    Device device;
    {
      const TextAtPageEnd id(subject.device_info().id), options("{}");
      STRIA_ASSIGN(device, subject.open_device(driver.get(), id.view(), options.view()));
    }
    return work_round(DeviceWork(subject.tables(), device.get()), 6);
  });
  add(maker, "texts.executor_options", kNoZero, [](Subject&, const DeviceWork& work) -> Finding {
    Executor executor;
    {
      const TextAtPageEnd options("{}");
      STRIA_ASSIGN(executor, work.executor(options.view()));
    }
    STRIA_ASSIGN(const Buffer buffer, work.buffer(pattern(64, 1)));
    STRIA_ASSIGN(const Event filled, work.fill(executor, buffer, 0, 64, Bytes(1, std::byte{7})));
    STRIA_RETURN_IF_ERROR(work.wait(filled));
    return work.holds(buffer, Bytes(64, std::byte{7}), "after a fill");
  });
  add(maker, "texts.name_of_a_pass", kNoZero,
      [](Subject& subject, const DeviceWork& work) -> Finding {
        STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
        STRIA_ASSIGN(const Compiler compiler, work.compiler());
        const TextAtPageEnd stripe(program.stripe()), pass("no_such_pass"), options("{}");
        stria_error* error = work.tables().compiler.transform(
            compiler.get(), hal::to_c(stripe.view()), hal::to_c(pass.view()),
            hal::to_c(options.view()), [](void*, stria_string, stria_string) {}, nullptr);
        const Status status = Subject::failure(Slot::compiler_transform, error);
        if (status.code() == StatusCode::unimplemented)
          return Finding::skip("the plugin has no passes of its own");
        if (status.code() != StatusCode::not_found)
          return broken(
              "compiler.transform of the pass 'no_such_pass' says '{}', not STRIA_NOT_FOUND",
              status.to_string());
        return {};
      });
  add(maker, "texts.empty_with_null_data", "An empty text may have data NULL.",
      [](Subject&, const DeviceWork& work) -> Finding {
        stria_buffer_params params = hundred_bytes();
        params.memory = {nullptr, 0};
        return allocates(work, &params);
      });
  add(maker, "lists.waits_gone_after_the_call", kCallOnly,
      [](Subject&, const DeviceWork& work) -> Finding {
        STRIA_ASSIGN(const Executor executor, work.executor());
        const Bytes before = pattern(64, 2);
        STRIA_ASSIGN(const Buffer source, work.buffer(before));
        STRIA_ASSIGN(const Buffer target, work.buffer(Bytes(64)));
        STRIA_ASSIGN(const Event open, work.host_event());
        Event copied, filled;
        {
          stria_event* const wait = open.get();
          const BytesAtPageEnd waits(&wait, sizeof wait);
          const std::span list(static_cast<stria_event* const*>(waits.get()), 1);
          STRIA_ASSIGN(copied, work.copy(executor, source, 0, target, 0, 32, list));
          const Bytes mark = pattern(16, 3);
          const BytesAtPageEnd pattern_bytes(mark.data(), mark.size());
          const std::span given(static_cast<const std::byte*>(pattern_bytes.get()), mark.size());
          STRIA_ASSIGN(filled, work.fill(executor, target, 32, 32, given, list));
        }
        STRIA_RETURN_IF_ERROR(work.signal(open));
        STRIA_RETURN_IF_ERROR(work.wait(copied));
        STRIA_RETURN_IF_ERROR(work.wait(filled));
        Bytes expected(before.begin(), before.begin() + 32);
        const Bytes mark = pattern(16, 3);
        for (int time = 0; time < 2; ++time)
          expected.insert(expected.end(), mark.begin(), mark.end());
        return work.holds(target, expected, "after a copy and a fill");
      });
  add_null_list_cases(maker);
}

}  // namespace

void add_passed_struct_cases(CaseMaker& maker) {
  add_buffer_params_cases(maker);
  add_build_params_cases(maker);
  add_launch_cases(maker);
  add_error_cases(maker);
  add_text_cases(maker);
}

}  // namespace stria::conformance
