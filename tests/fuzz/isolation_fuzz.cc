// SPDX-License-Identifier: Apache-2.0
// Messages between a host and the process of a plugin: an input is a kind and a body.
// What is read as a message is written as the same bytes; anything else is Malformed, with a text.
#include "fuzzer.h"
#include "stria/base/status.h"
#include "stria/hal/isolation/messages.h"

namespace {

using namespace stria::hal::isolation;

template <typename M>
void read(const std::string& body) {
  const M message = decoded<M>(body);
  const std::string again = encoded(message).substr(Header::kBytes);
  STRIA_CHECK(again == body, "{} bytes are read, and {} others written", body.size(), again.size());
}

template <typename M>
void read_both(const std::string& body, bool answer) {
  answer ? read<Answer<typename M::Answer>>(body) : read<M>(body);
}

// `answer`: the body is that of the kind's answer.
void read_body(Kind kind, bool answer, const std::string& body) {
  switch (kind) {
    case Kind::hello: return read_both<Hello>(body, answer);
    case Kind::enumerate: return read_both<Enumerate>(body, answer);
    case Kind::open: return read_both<Open>(body, answer);
    case Kind::create_compiler: return read_both<CreateCompiler>(body, answer);
    case Kind::create_executor: return read_both<CreateExecutor>(body, answer);
    case Kind::allocate: return read_both<Allocate>(body, answer);
    case Kind::transform: return read_both<Transform>(body, answer);
    case Kind::kernels: return read_both<ListKernels>(body, answer);
    case Kind::source: return read_both<Source>(body, answer);
    case Kind::prepare: return read_both<Prepare>(body, answer);
    case Kind::flush: return read_both<Flush>(body, answer);
    case Kind::drain: return read_both<Drain>(body, answer);
    case Kind::map: return read_both<Map>(body, answer);
    case Kind::close: return read_both<Close>(body, answer);
    case Kind::estimate: return read_both<Estimate>(body, answer);
    case Kind::shutdown: return read_both<Shutdown>(body, answer);
    case Kind::ping: return read_both<Ping>(body, answer);
    case Kind::wait: return read<Wait>(body);
    case Kind::fault: return read<Fault>(body);
    case Kind::bytes: return read<Bytes>(body);
    case Kind::create_event: return read<CreateEvent>(body);
    case Kind::build: return read<Build>(body);
    case Kind::submit: return read<Submit>(body);
    case Kind::copy: return read<Copy>(body);
    case Kind::fill: return read<Fill>(body);
    case Kind::run: return read<Run>(body);
    case Kind::unmap: return read<Unmap>(body);
    case Kind::signal: return read<Signal>(body);
    case Kind::end: return read<End>(body);
    case Kind::release: return read<Release>(body);
    case Kind::done: return read<Done>(body);
    case Kind::log: return read<Log>(body);
    case Kind::answer: break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stria;
  const std::string bytes = fuzz::text_of(data, size);
  try {
    if (bytes.size() >= Header::kBytes) (void)read_header(bytes);
  } catch (const Malformed& error) {
    STRIA_CHECK(error.what()[0] != '\0', "a failure without a text");
  }
  if (size == 0) return 0;
  // The kind's number; 128 more: its answer.
  const bool answer = data[0] >= 128;
  try {
    read_body(static_cast<Kind>(data[0] & 127), answer, bytes.substr(1));
  } catch (const Malformed& error) {
    STRIA_CHECK(error.what()[0] != '\0', "a failure without a text");
  }
  return 0;
}
