// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/isolation/messages.h"

namespace stria::hal::isolation {

std::string_view slot_of(Kind kind) {
  switch (kind) {
    case Kind::answer: return "an answer";
    case Kind::fault: return "a fault";
    case Kind::bytes: return "bytes of a mapping";
    case Kind::hello: return "the load";
    case Kind::enumerate: return "driver.enumerate";
    case Kind::open: return "driver.open";
    case Kind::create_compiler: return "device.create_compiler";
    case Kind::create_executor: return "device.create_executor";
    case Kind::allocate: return "device.allocate";
    case Kind::create_event: return "device.create_event";
    case Kind::build: return "compiler.build";
    case Kind::transform: return "compiler.transform";
    case Kind::kernels: return "library.kernels";
    case Kind::source: return "library.source";
    case Kind::prepare: return "executor.prepare";
    case Kind::submit: return "executor.submit";
    case Kind::copy: return "executor.copy";
    case Kind::fill: return "executor.fill";
    case Kind::flush: return "executor.flush";
    case Kind::drain: return "executor.drain";
    case Kind::run: return "kernel.run";
    case Kind::map: return "buffer.map";
    case Kind::unmap: return "buffer.unmap";
    case Kind::signal: return "event.signal";
    case Kind::end: return "event.end";
    case Kind::release: return "a release";
    case Kind::close: return "device.release";
    case Kind::estimate: return "estimate.estimate";
    case Kind::shutdown: return "driver.shutdown";
    case Kind::ping: return "a ping";
    case Kind::wait: return "event.wait";
    case Kind::done: return "the end of an event";
    case Kind::log: return "a log line";
  }
  return "an unknown message";
}

}  // namespace stria::hal::isolation
