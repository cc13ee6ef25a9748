// SPDX-License-Identifier: Apache-2.0
// Errors themselves: each has a code, a message that names the thing, and stands alone.
#include <functional>
#include <thread>

#include "faults/fault_cases.h"
#include "negotiation/answer.h"
#include "stria/hal/boundary/sized.h"
#include "suite/device_work.h"
#include "suite/small_program.h"
#include "suite/utf8.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kStandsAlone = "It stands alone: no table is needed to read or free it.";
constexpr std::string_view kMessage = "one sentence that names the thing, the value and the limit";
constexpr std::string_view kOwned =
    "Made by either side, owned by who receives it, who calls error->release(error) once.";
constexpr std::string_view kCause = "owned by this error; NULL if none";

constexpr std::string_view kOpenAfter =
    "STRIA_DEADLINE_EXCEEDED if it is still open after timeout_ns (UINT64_MAX: no limit, 0: just "
    "look).";
constexpr std::string_view kWhileOpen = "STRIA_FAILED_PRECONDITION while it is open.";
constexpr std::string_view kTooEarly =
    "The library's other slots return STRIA_FAILED_PRECONDITION until `done` is, and its failure "
    "afterwards if it failed.";

// A way to get an error. What it needs is gone when the error has come.
struct Way {
  const char* name;
  stria_code code;
  const char* names;  // what its message has to name; "" for nothing in particular
  Result<stria_error*> (*provoke)(Subject& subject, const DeviceWork& work);
  std::string_view sentence;  // what asks for the code
};

Result<stria_error*> unknown_device(Subject& subject, const DeviceWork& work) {
  stria_device* device = nullptr;
  return work.tables().driver.open(subject.driver(), hal::to_c("no-such-device"), hal::to_c("{}"),
                                   &device);
}

Result<stria_error*> no_memory(Subject&, const DeviceWork& work) {
  stria_buffer_params params{};
  params.size = sizeof params;
  params.bytes = uint64_t{1} << 60;
  stria_buffer* buffer = nullptr;
  return work.tables().device.allocate(work.device(), &params, &buffer);
}

Result<stria_error*> no_such_memory(Subject&, const DeviceWork& work) {
  stria_buffer_params params{};
  params.size = sizeof params;
  params.bytes = 64;
  params.memory = hal::to_c("no-such-memory");
  stria_buffer* buffer = nullptr;
  stria_error* const error = work.tables().device.allocate(work.device(), &params, &buffer);
  if (!error && buffer) work.tables().buffer.release(buffer);
  return error;
}

Result<stria_error*> no_pass(Subject& subject, const DeviceWork& work) {
  STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
  STRIA_ASSIGN(const Compiler compiler, work.compiler());
  return work.tables().compiler.transform(
      compiler.get(), hal::to_c(program.stripe()), hal::to_c("no_such_pass"), hal::to_c("{}"),
      [](void*, stria_string, stria_string) {}, nullptr);
}

template <uint64_t kNanoseconds>
Result<stria_error*> wait_too_short(Subject&, const DeviceWork& work) {
  STRIA_ASSIGN(const Event open, work.host_event());
  return work.tables().event.wait(open.get(), kNanoseconds);
}

Result<stria_error*> drain_too_short(Subject&, const DeviceWork& work) {
  STRIA_ASSIGN(const Executor executor, work.executor());
  STRIA_ASSIGN(const Buffer buffer, work.allocate(64));
  STRIA_ASSIGN(const Event open, work.host_event());
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(const Event filled, work.fill(executor, buffer, 0, 64, Bytes(1), waits));
  stria_error* error = work.tables().executor.drain(executor.get(), 1'000'000);
  STRIA_RETURN_IF_ERROR(work.signal(open));
  STRIA_RETURN_IF_ERROR(work.wait(filled));
  return error;
}

Result<stria_error*> status_while_open(Subject&, const DeviceWork& work) {
  STRIA_ASSIGN(const Event open, work.host_event());
  return work.tables().event.status(open.get());
}

Result<stria_error*> duration_while_open(Subject&, const DeviceWork& work) {
  STRIA_ASSIGN(const Event open, work.host_event());
  uint64_t time = 0;
  return work.tables().event.duration_ns(open.get(), &time);
}

Result<stria_error*> signalled_twice(Subject&, const DeviceWork& work) {
  STRIA_ASSIGN(const Event event, work.host_event());
  STRIA_RETURN_IF_ERROR(work.signal(event));
  return work.tables().event.signal(event.get(), nullptr);
}

// While a build waits, its library has nothing yet.
Result<stria_error*> early_library(Subject& subject, const DeviceWork& work, Slot slot) {
  STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
  STRIA_ASSIGN(const Executor executor, work.executor());
  STRIA_ASSIGN(const Event open, work.host_event());
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(const SmallBuild build, begin_build(work, program.stripe(), waits));
  stria_error* error = nullptr;
  if (slot == Slot::executor_prepare) {
    stria_kernel* kernel = nullptr;
    error = work.tables().executor.prepare(executor.get(), build.library.get(), 0, &kernel);
  } else if (slot == Slot::library_kernels) {
    error = work.tables().library.kernels(
        build.library.get(), [](void*, const stria_kernel_info*) {}, nullptr);
  } else {
    error = work.tables().library.source(
        build.library.get(), [](void*, stria_string, stria_string) {}, nullptr);
  }
  STRIA_RETURN_IF_ERROR(work.signal(open));
  STRIA_RETURN_IF_ERROR(work.wait(build.done));
  return error;
}
Result<stria_error*> kernels_too_early(Subject& subject, const DeviceWork& work) {
  return early_library(subject, work, Slot::library_kernels);
}
Result<stria_error*> source_too_early(Subject& subject, const DeviceWork& work) {
  return early_library(subject, work, Slot::library_source);
}

// A failure that came by an event.
Result<stria_error*> failed_work(Subject&, const DeviceWork& work) {
  STRIA_ASSIGN(const Executor executor, work.executor());
  STRIA_ASSIGN(const Buffer buffer, work.allocate(64));
  STRIA_ASSIGN(const Event open, work.host_event());
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(const Event filled, work.fill(executor, buffer, 0, 64, Bytes(1), waits));
  STRIA_RETURN_IF_ERROR(work.signal(open, Status(StatusCode::data_loss, "tape 19 was torn")));
  STRIA_RETURN_IF_ERROR(work.wait_for_end(filled));
  return work.tables().event.status(filled.get());
}

Result<stria_error*> released_unsignalled(Subject&, const DeviceWork& work) {
  STRIA_ASSIGN(const Executor executor, work.executor());
  STRIA_ASSIGN(const Buffer buffer, work.allocate(64));
  STRIA_ASSIGN(Event open, work.host_event());
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(const Event filled, work.fill(executor, buffer, 0, 64, Bytes(1), waits));
  open.reset();
  STRIA_RETURN_IF_ERROR(work.wait_for_end(filled));
  return work.tables().event.status(filled.get());
}

Result<stria_error*> wrong_arguments(Subject& subject, const DeviceWork& work) {
  STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
  STRIA_ASSIGN(const LoadedSmall loaded, load(work, program));
  stria_event* done = nullptr;
  return work.tables().kernel.run(loaded.kernels[0].get(), nullptr, 0, nullptr, 0, &done);
}

const Way kWays[] = {
    {"unknown_device", STRIA_NOT_FOUND, "no-such-device", unknown_device,
     "a name or device that is not there"},
    {"no_memory", STRIA_OUT_OF_MEMORY, "1152921504606846976", no_memory,
     "or STRIA_OUT_OF_MEMORY with the bytes asked for and the bytes free."},
    {"no_such_memory", STRIA_NOT_FOUND, "no-such-memory", no_such_memory,
     "STRIA_NOT_FOUND: the device has no buffers in a memory unit of that name."},
    {"no_such_pass", STRIA_NOT_FOUND, "no_such_pass", no_pass,
     "STRIA_NOT_FOUND for a pass it does not have."},
    {"just_look", STRIA_DEADLINE_EXCEEDED, "", wait_too_short<0>, kOpenAfter},
    {"wait_of_a_millisecond", STRIA_DEADLINE_EXCEEDED, "", wait_too_short<1'000'000>, kOpenAfter},
    {"drain_of_a_millisecond", STRIA_DEADLINE_EXCEEDED, "", drain_too_short,
     "STRIA_DEADLINE_EXCEEDED after timeout_ns (UINT64_MAX: no limit)."},
    {"status_while_open", STRIA_FAILED_PRECONDITION, "", status_while_open, kWhileOpen},
    {"duration_while_open", STRIA_FAILED_PRECONDITION, "", duration_while_open, kWhileOpen},
    {"signalled_twice", STRIA_FAILED_PRECONDITION, "", signalled_twice,
     "A second call is STRIA_FAILED_PRECONDITION."},
    {"kernels_too_early", STRIA_FAILED_PRECONDITION, "", kernels_too_early, kTooEarly},
    {"source_too_early", STRIA_FAILED_PRECONDITION, "", source_too_early, kTooEarly},
    {"failed_work", STRIA_DATA_LOSS, "tape 19 was torn", failed_work,
     "its event fails with the same error (that of the first failed one in list order), after all "
     "waits are over"},
    {"released_unsignalled", STRIA_CANCELLED, "", released_unsignalled,
     "A host event that is released unsignalled fails with STRIA_CANCELLED."},
    {"wrong_arguments", STRIA_INVALID_ARGUMENT, "", wrong_arguments,
     "Wrong argument counts and offsets beyond a buffer's end are STRIA_INVALID_ARGUMENT."}};

// The error, or why there is none.
Result<stria_error*> provoked(Subject& subject, const Way& way, Finding& skip) {
  const DeviceWork work(subject);
  STRIA_ASSIGN(stria_error * error, way.provoke(subject, work));
  if (!error) return broken("{} succeeds; it should fail with {}", way.name, code_text(way.code));
  if (error->code == STRIA_UNIMPLEMENTED) {
    error->release(error);
    skip = Finding::skip("the plugin does not have the slot");
    return nullptr;
  }
  return error;
}

std::string fault_of_text(const char* what, stria_string text) {
  if (text.size == 0) return "";
  if (!hal::is_address(text.data)) return fmt::format("its {} is nowhere", what);
  if (text.size > (1 << 20)) return fmt::format("its {} has {} bytes", what, text.size);
  if (const char* fault = fault_of_bytes({text.data, text.size}); *fault)
    return fmt::format("its {} {}", what, fault);
  return "";
}

// Of the error and of each of its causes.
std::string fault_of_all(const stria_error* error) {
  constexpr int kMostCauses = 1000;
  constexpr stria_string kNone{nullptr, 0};
  for (int depth = 0; error; ++depth) {
    if (depth == kMostCauses) return "its causes have no end";
    if (!hal::is_address(error, alignof(stria_error))) return "a cause of it is nowhere";
    if (error->size < offsetof(stria_error, native_message))
      return fmt::format("it says that it has {} bytes", error->size);
    if (error->code <= STRIA_OK || error->code > STRIA_INTERNAL)
      return fmt::format("its code is {}", error->code);
    if (depth == 0 && error->message.size == 0) return "it has no message";
    for (const auto& [what, text] :
         {std::pair{"message", error->message},
          std::pair{"native_message", STRIA_SIZED(*error, native_message, kNone)},
          std::pair{"place", STRIA_SIZED(*error, place, kNone)},
          std::pair{"suggestion", STRIA_SIZED(*error, suggestion, kNone)}})
      if (const std::string fault = fault_of_text(what, text); !fault.empty()) return fault;
    error = STRIA_SIZED(*error, cause, nullptr);
  }
  return "";
}

struct Check {
  const char* name;
  std::string_view sentence;                                            // "": that of the way
  Status (*run)(Subject& subject, const Way& way, stria_error* error);  // releases it
};

const Check kChecks[] = {
    {"code", "",
     [](Subject&, const Way& way, stria_error* error) -> Status {
       const stria_code code = error->code;
       const std::string message(hal::view_of(error->message));
       error->release(error);
       if (code == way.code) return Status();
       return broken("{} gives {} ('{}'), not {}", way.name, code_text(code),
                     hal::one_line(message), code_text(way.code));
     }},
    {"message", kMessage,
     [](Subject&, const Way& way, stria_error* error) -> Status {
       const std::string fault = fault_of_text("message", error->message);
       const std::string message(fault.empty() ? hal::view_of(error->message) : "");
       error->release(error);
       if (!fault.empty()) return broken("of the error of {}: {}", way.name, fault);
       if (message.find(way.names) == std::string::npos)
         return broken("{} says '{}', which does not name '{}'", way.name, hal::one_line(message),
                       way.names);
       return message.empty() ? broken("the error of {} has no message", way.name) : Status();
     }},
    {"members_and_causes", kCause,
     [](Subject&, const Way& way, stria_error* error) -> Status {
       const std::string fault = fault_of_all(error);
       error->release(error);
       return fault.empty() ? Status() : broken("of the error of {}: {}", way.name, fault);
     }},
    // Later errors, later work and the thread make no difference to it.
    {"stands_alone", kStandsAlone,
     [](Subject& subject, const Way& way, stria_error* error) -> Status {
       const std::string message(hal::view_of(error->message));
       const stria_code code = error->code;
       for (int i = 0; i < 5; ++i) {
         STRIA_ASSIGN(stria_error * other, way.provoke(subject, DeviceWork(subject)));
         if (!other) return broken("{} fails, and succeeds the next time", way.name);
         const bool is_same = other == error;
         // An error that is made once for all times may come again; it is then as it was.
         other->release(other);
         if (is_same) break;
       }
       // Errors of other calls have other texts.
       for (const auto provoke : {unknown_device, no_memory, status_while_open, signalled_twice}) {
         STRIA_ASSIGN(stria_error * other, provoke(subject, DeviceWork(subject)));
         if (other) other->release(other);
       }
       STRIA_RETURN_IF_ERROR(work_round(DeviceWork(subject), 1));
       bool same = false;
       std::thread([&] {
         same = error->code == code && hal::view_of(error->message) == message;
         error->release(error);
       }).join();
       return same ? Status() : broken("the error of {} changes after it was given", way.name);
     }},
    {"many_alive", kOwned,
     [](Subject& subject, const Way& way, stria_error* error) -> Status {
       const std::string message(hal::view_of(error->message));
       std::vector<stria_error*> all = {error};
       Status status;
       for (int i = 0; i < 20 && status.ok(); ++i) {
         const auto more = way.provoke(subject, DeviceWork(subject));
         if (!more.ok())
           status = more.status();
         else if (*more)
           all.push_back(*more);
         else
           status = broken("{} fails, and succeeds the next time", way.name);
       }
       // In another order than they came.
       for (size_t i = 0; i < all.size(); i += 2) all[i]->release(all[i]);
       for (size_t i = 1; i < all.size(); i += 2) {
         if (status.ok() && hal::view_of(all[i]->message).empty())
           status = broken("the release of one error of {} empties another one", way.name);
         all[i]->release(all[i]);
       }
       return status;
     }},
};

}  // namespace

void add_error_cases(CaseMaker& maker) {
  for (const Check& check : kChecks)
    for (const Way& way : kWays) {
      if (std::string_view(check.name) == "message" && way.names[0] == '\0') continue;
      Case& c = maker.add('F', fmt::format("error.{}.{}", check.name, way.name), Level::robust,
                          check.sentence.empty() ? way.sentence : check.sentence,
                          [&check, &way](Subject& subject) -> Finding {
                            Finding skip;
                            STRIA_ASSIGN(stria_error * error, provoked(subject, way, skip));
                            if (!error) return skip;
                            return check.run(subject, way, error);
                          });
      c.limit = std::chrono::seconds(30);
    }
  Case& c = maker.add('F', "error.outlives_its_driver", Level::robust, kStandsAlone,
                      [](Subject& subject) -> Finding {
                        stria_error* error = nullptr;
                        TestHost host;
                        {
                          STRIA_ASSIGN(const Driver driver, subject.make_driver(host));
                          stria_device* device = nullptr;
                          error = subject.tables().driver.open(
                              driver.get(), hal::to_c("no-such-device"), hal::to_c("{}"), &device);
                        }
                        if (!error)
                          return broken("driver.open of a device that is not there succeeds");
                        const bool names = hal::view_of(error->message).find("no-such-device") !=
                                           std::string::npos;
                        error->release(error);
                        if (!names)
                          return broken("after driver.shutdown an error does not say what it said");
                        return {};
                      });
  c.place = Place::own;
}

}  // namespace stria::conformance
