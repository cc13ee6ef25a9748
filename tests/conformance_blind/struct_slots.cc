// SPDX-License-Identifier: Apache-2.0
// Slots that get structs, outputs, errors or the driver's life wrong.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "mistake.h"
#include "slot_tables.h"
#include "stria/sdk/error.h"

namespace stria::blind {
namespace {

using sdk::slot;

// ---- needs_newest_services

stria_error* create_with_all_services(const stria_driver_options* options, stria_driver** driver) {
  if (options->services->size >= sizeof(stria_host_services))
    return RightSlots::create(options, driver);
  return slot([] {
    throw sdk::Error(STRIA_INCOMPATIBLE, "the host offers fewer services than this plugin knows");
  });
}

// ---- longer_struct_refused: the size is taken for a mark of the version

template <typename T>
void check_size(const T& given) {
  if (given.size != sizeof given)
    throw sdk::Error(STRIA_INVALID_ARGUMENT, "a struct of " + std::to_string(given.size) +
                                                 " bytes where this plugin knows one of " +
                                                 std::to_string(sizeof given));
}
stria_error* allocate_known_size(stria_device* device, const stria_buffer_params* params,
                                 stria_buffer** buffer) {
  if (stria_error* error = slot([&] { check_size(*params); })) return error;
  return RightSlots::allocate(device, params, buffer);
}
stria_error* build_known_size(stria_compiler* compiler, const stria_build_params* params,
                              stria_event* const* waits, uint64_t wait_count,
                              stria_library** library, stria_event** done) {
  if (stria_error* error = slot([&] { check_size(*params); })) return error;
  return RightSlots::build(compiler, params, waits, wait_count, library, done);
}

// ---- arguments_contiguous: the first pointer is taken for an array of all

using Pointers = std::vector<const stria_argument*>;

Pointers from_first(const stria_argument* const* arguments, uint64_t count) {
  Pointers pointers;
  for (uint64_t i = 0; i < count; ++i) pointers.push_back(arguments[0] + i);
  return pointers;
}
stria_error* run_contiguous(stria_kernel* kernel, const stria_argument* const* arguments,
                            uint64_t argument_count, stria_event* const* waits, uint64_t wait_count,
                            stria_event** done) {
  stria_error* refused = nullptr;
  stria_error* failed = slot([&] {
    const Pointers pointers = from_first(arguments, argument_count);
    refused = RightSlots::run(kernel, pointers.data(), argument_count, waits, wait_count, done);
  });
  return failed ? failed : refused;
}
stria_error* submit_contiguous(stria_executor* executor, const stria_launch* const* launches,
                               uint64_t launch_count, stria_event* const* waits,
                               uint64_t wait_count, stria_event** each, stria_event** done) {
  stria_error* refused = nullptr;
  stria_error* failed = slot([&] {
    std::vector<Pointers> lists(launch_count);
    std::vector<stria_launch> copies(launch_count);
    std::vector<const stria_launch*> pointers;
    for (uint64_t n = 0; n < launch_count; ++n) {
      copies[n] = sdk::whole(launches[n]);
      copies[n].size = sizeof copies[n];
      lists[n] = from_first(copies[n].arguments, copies[n].argument_count);
      copies[n].arguments = lists[n].data();
      pointers.push_back(&copies[n]);
    }
    refused =
        RightSlots::submit(executor, pointers.data(), launch_count, waits, wait_count, each, done);
  });
  return failed ? failed : refused;
}

// ---- outputs_cleared_on_failure: a handle that is none is returned, to be on the safe side

stria_error* open_cleared(stria_driver* driver, stria_string id, stria_string options,
                          stria_device** device) {
  *device = nullptr;
  return RightSlots::open(driver, id, options, device);
}
stria_error* allocate_cleared(stria_device* device, const stria_buffer_params* params,
                              stria_buffer** buffer) {
  *buffer = nullptr;
  return RightSlots::allocate(device, params, buffer);
}
stria_error* prepare_cleared(stria_executor* executor, stria_library* library, uint64_t index,
                             stria_kernel** kernel) {
  *kernel = nullptr;
  return RightSlots::prepare(executor, library, index, kernel);
}
stria_error* run_cleared(stria_kernel* kernel, const stria_argument* const* arguments,
                         uint64_t argument_count, stria_event* const* waits, uint64_t wait_count,
                         stria_event** done) {
  *done = nullptr;
  return RightSlots::run(kernel, arguments, argument_count, waits, wait_count, done);
}

// ---- errors_share_one_text: the last message is kept in one place, as some drivers do it

stria_error* with_one_text(stria_error* error) {
  static char text[512];
  if (!error) return error;
  const uint64_t size = error->message.size < sizeof text ? error->message.size : sizeof text;
  std::memcpy(text, error->message.data, size);
  error->message = {text, size};
  return error;
}

template <auto kSlot>
struct WithOneText;
template <typename... A, stria_error* (*kSlot)(A...)>
struct WithOneText<kSlot> {
  static stria_error* call(A... arguments) { return with_one_text(kSlot(arguments...)); }
};

void share_one_text(SlotTables& tables) {
  tables.driver.open = WithOneText<&RightSlots::open>::call;
  tables.device.allocate = WithOneText<&RightSlots::allocate>::call;
  tables.library.kernels = WithOneText<&RightSlots::kernels>::call;
  tables.executor.prepare = WithOneText<&RightSlots::prepare>::call;
  tables.executor.submit = WithOneText<&RightSlots::submit>::call;
  tables.executor.copy = WithOneText<&RightSlots::copy>::call;
  tables.executor.fill = WithOneText<&RightSlots::fill>::call;
  tables.kernel.run = WithOneText<&RightSlots::run>::call;
  tables.buffer.map_current = WithOneText<&RightSlots::map_current>::call;
  tables.buffer.unmap = WithOneText<&RightSlots::unmap>::call;
  tables.event.wait = WithOneText<&RightSlots::wait>::call;
  tables.event.status = WithOneText<&RightSlots::status>::call;
}

// ---- shutdown_for_all: the vendor's library is shut down with the first driver

std::atomic<bool> g_shut_down{false};

void shutdown_all(stria_driver* driver) {
  RightSlots::shutdown(driver);
  g_shut_down.store(true);
}
stria_error* open_unless_shut_down(stria_driver* driver, stria_string id, stria_string options,
                                   stria_device** device) {
  if (!g_shut_down.load()) return RightSlots::open(driver, id, options, device);
  return slot([] { throw sdk::Error(STRIA_UNAVAILABLE, "the chip's library has been shut down"); });
}

}  // namespace

void replace_struct_slots(SlotTables& tables) {
  switch (chosen_mistake()) {
    case Mistake::needs_newest_services: tables.driver.create = create_with_all_services; break;
    case Mistake::longer_struct_refused:
      tables.device.allocate = allocate_known_size;
      tables.compiler.build = build_known_size;
      break;
    case Mistake::arguments_contiguous:
      tables.kernel.run = run_contiguous;
      tables.executor.submit = submit_contiguous;
      break;
    case Mistake::outputs_cleared_on_failure:
      tables.driver.open = open_cleared;
      tables.device.allocate = allocate_cleared;
      tables.executor.prepare = prepare_cleared;
      tables.kernel.run = run_cleared;
      break;
    case Mistake::errors_share_one_text: share_one_text(tables); break;
    case Mistake::shutdown_for_all:
      tables.driver.shutdown = shutdown_all;
      tables.driver.open = open_unless_shut_down;
      break;
    default: break;
  }
}

}  // namespace stria::blind
