// SPDX-License-Identifier: Apache-2.0
#include "threads/shared_handles.h"

#include "stria/hal/boundary/received.h"
#include "suite/case.h"

namespace stria::conformance {

Status SharedHandles::make(Subject& subject, bool with_program, SharedHandles& out) {
  out.subject = &subject;
  out.work.emplace(subject);
  STRIA_ASSIGN(const auto devices, subject.list(subject.driver()));
  for (const hal::DeviceInfo& device : devices) out.device_ids.push_back(device.id);
  STRIA_ASSIGN(out.executor, out.work->executor());
  STRIA_ASSIGN(out.compiler, out.work->compiler());
  STRIA_ASSIGN(out.buffer, out.work->buffer(pattern(kThreads * kShare, 51)));
  STRIA_ASSIGN(out.open, out.work->host_event());
  STRIA_ASSIGN(out.done, out.work->fill(out.executor, out.buffer, 0, 0, Bytes(1)));
  STRIA_RETURN_IF_ERROR(out.work->wait(out.done));
  STRIA_ASSIGN(const Event failing, out.work->host_event());
  stria_event* const waits[] = {failing.get()};
  STRIA_ASSIGN(out.failed, out.work->fill(out.executor, out.buffer, 0, kShare, Bytes(1), waits));
  STRIA_RETURN_IF_ERROR(out.work->signal(failing, Status(StatusCode::data_loss, "as asked")));
  STRIA_RETURN_IF_ERROR(out.work->wait_for_end(out.failed));
  if (!with_program) return Status();
  STRIA_ASSIGN(out.program, SmallProgram::of(subject));
  out.loaded.emplace();
  STRIA_ASSIGN(*out.loaded, load(*out.work, *out.program));
  STRIA_ASSIGN(out.kernels, kernels_of(*out.work, out.loaded->library));
  hal::Received<hal::NamedText> texts;
  const Status sources = Subject::failure(
      Slot::library_source,
      subject.tables().library.source(out.loaded->library.get(),
                                      hal::Received<hal::NamedText>::text_sink, &texts));
  if (!sources.ok() && sources.code() != StatusCode::unimplemented) return sources;
  for (const hal::NamedText& text : texts.items) out.sources[text.name] = text.text;
  return Status();
}

}  // namespace stria::conformance
