// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/session.h"

#include <iterator>

#include "suite/case.h"

namespace stria::conformance {

std::string_view name_of(Stage stage) {
  static constexpr std::string_view kNames[] = {
      "loaded",  "asked",    "created", "listed",  "opened", "worked", "mapped",
      "waiting", "building", "built",   "running", "failed", "ended"};
  static_assert(std::size(kNames) == std::size(kStages));
  return kNames[static_cast<int>(stage)];
}

Status Session::go_to(Stage stage) {
  while (next_ <= static_cast<int>(stage)) {
    const auto now = static_cast<Stage>(next_++);
    STRIA_RETURN_IF_ERROR(step(now));
  }
  return Status();
}

Status Session::step(Stage stage) {
  constexpr uint64_t kBytes = 256;
  switch (stage) {
    case Stage::loaded: return subject_.load();
    case Stage::asked: return subject_.ask();
    case Stage::created: return subject_.begin();
    case Stage::listed: return subject_.list(subject_.driver()).status();
    case Stage::opened:
      STRIA_RETURN_IF_ERROR(subject_.open());
      work_.emplace(subject_);
      return Status();
    case Stage::worked: return work_round(*work_, 21);
    case Stage::mapped: {
      STRIA_ASSIGN(executor_, work_->executor());
      STRIA_ASSIGN(source_, work_->buffer(pattern(kBytes, 22)));
      STRIA_ASSIGN(target_, work_->buffer(Bytes(kBytes)));
      STRIA_ASSIGN(const DeviceWork::Mapping mapping,
                   work_->map(Slot::buffer_map_current, source_, 0, kBytes));
      mapped_ = mapping.memory;
      is_mapped_ = true;
      return work_->wait(mapping.ready);
    }
    case Stage::waiting: {
      STRIA_ASSIGN(const Event unmapped, work_->unmap(source_, mapped_));
      is_mapped_ = false;
      STRIA_RETURN_IF_ERROR(work_->wait(unmapped));
      STRIA_ASSIGN(open_, work_->host_event());
      is_open_ = true;
      stria_event* const waits[] = {open_.get()};
      STRIA_ASSIGN(copied_, work_->copy(executor_, source_, 0, target_, 0, kBytes, waits));
      return Status();
    }
    case Stage::building: {
      STRIA_ASSIGN(program_, SmallProgram::of(subject_));
      stria_event* const waits[] = {open_.get()};
      STRIA_ASSIGN(builds_[0], begin_build(*work_, program_->stripe()));
      STRIA_ASSIGN(builds_[1], begin_build(*work_, program_->stripe(), waits));
      return Status();
    }
    case Stage::built: {
      STRIA_ASSIGN(loaded_, load(*work_, *program_));
      return work_->wait(builds_[0].done);
    }
    case Stage::running: {
      STRIA_ASSIGN(tensors_, SmallTensors::make(*work_, *program_, 23));
      stria_event* const waits[] = {open_.get()};
      STRIA_ASSIGN(run_, start(*work_, loaded_, tensors_, waits));
      return Status();
    }
    case Stage::failed: {
      STRIA_RETURN_IF_ERROR(work_->signal(open_));
      is_open_ = false;
      STRIA_RETURN_IF_ERROR(work_->wait(run_));
      STRIA_RETURN_IF_ERROR(tensors_.check(*work_, *program_, 23));
      STRIA_RETURN_IF_ERROR(work_->wait(copied_));
      STRIA_RETURN_IF_ERROR(work_->holds(target_, pattern(kBytes, 22), "after a copy"));
      STRIA_RETURN_IF_ERROR(work_->wait(builds_[1].done));
      STRIA_ASSIGN(const Event failing, work_->host_event());
      stria_event* const waits[] = {failing.get()};
      STRIA_ASSIGN(failed_, start(*work_, loaded_, tensors_, waits));
      STRIA_RETURN_IF_ERROR(work_->signal(failing, Status(StatusCode::data_loss, "as asked")));
      if (const Status status = work_->wait(failed_); status.code() != StatusCode::data_loss)
        return broken("a run behind an event that failed with STRIA_DATA_LOSS ends with '{}'",
                      status.to_string());
      return Status();
    }
    case Stage::ended: return end();
  }
  return Status();
}

Status Session::end() {
  next_ = static_cast<int>(Stage::ended) + 1;
  if (is_mapped_) {
    STRIA_ASSIGN(const Event unmapped, work_->unmap(source_, mapped_));
    STRIA_RETURN_IF_ERROR(work_->wait(unmapped));
    is_mapped_ = false;
  }
  if (is_open_) {
    STRIA_RETURN_IF_ERROR(work_->signal(open_));
    is_open_ = false;
  }
  for (const Event* event : {&copied_, &builds_[0].done, &builds_[1].done, &run_})
    if (*event) STRIA_RETURN_IF_ERROR(work_->wait(*event));
  failed_.reset();
  run_.reset();
  tensors_ = SmallTensors();
  loaded_ = LoadedSmall();
  for (SmallBuild& build : builds_) build = SmallBuild();
  copied_.reset();
  open_.reset();
  target_.reset();
  source_.reset();
  executor_.reset();
  return subject_.end();
}

}  // namespace stria::conformance
