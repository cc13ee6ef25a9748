// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/tensor.h"

#include <cstring>

#include "stria/base/status.h"
#include "stria/hal/experimental.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/tensor_state.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

std::string to_string(const TensorType& type) { return to_string(type.type, type.sizes); }

}  // namespace

Result<std::shared_ptr<Tensor::State>> Tensor::State::create(const exec::DeviceMemory& memory,
                                                             std::shared_ptr<std::mutex> order,
                                                             TensorType type,
                                                             std::string_view what) {
  STRIA_ASSIGN(auto state, without_memory(memory, std::move(order), std::move(type), what));
  auto buffer =
      memory.allocate(static_cast<uint64_t>(bytes_of(state->type.type, state->element_count)),
                      fmt::format("{} {}", what, to_string(state->type)), "the caller");
  if (!buffer.ok()) return buffer.status().with_context(what);
  state->buffer = std::move(*buffer);
  return state;
}

Result<std::shared_ptr<Tensor::State>> Tensor::State::without_memory(
    const exec::DeviceMemory& memory, std::shared_ptr<std::mutex> order, TensorType type,
    std::string_view what) {
  STRIA_RETURN_IF_ERROR(check_sizes(type.type, type.sizes, what));
  auto state = std::make_shared<State>();
  state->device = memory.device();
  state->order = std::move(order);
  state->name = what;
  state->element_count = dense_shape(type.type, type.sizes).element_count();
  state->type = std::move(type);
  return state;
}

std::string Tensor::State::description() const {
  return fmt::format("{} {} of {}:{}", name, to_string(type), device.plugin_id(), device.info().id);
}

void Tensor::State::add_events_before_read(std::vector<hal::Event>& waits) const {
  if (writer.valid()) waits.push_back(writer);
}

// Who overwrites a tensor waits for its users but does not share their fate: each open event is
// replaced by one that is done when it is and never fails. Whose fate is shared already, as its
// event is among `waits`, needs no other; and readers, if there are any, have waited for the
// writer.
Status Tensor::State::add_events_before_write(std::vector<hal::Event>& waits) const {
  auto add = [&](const hal::Event& event) -> Status {
    for (const hal::Event& wait : waits)
      if (wait.handle() == event.handle()) return Status();
    if (event.is_done()) return Status();
    STRIA_ASSIGN(hal::Event end, event.end());
    waits.push_back(std::move(end));
    return Status();
  };
  if (readers.empty()) return add(writer);
  for (const hal::Event& reader : readers) STRIA_RETURN_IF_ERROR(add(reader));
  return Status();
}

void Tensor::State::add_reader(const hal::Event& event) {
  // Readers that are done need no place; without this a tensor that is only read would grow for
  // ever.
  std::erase_if(readers, [](const hal::Event& reader) { return reader.is_done(); });
  readers.push_back(event);
}

void Tensor::State::set_writer(const hal::Event& event) {
  writer = event;
  readers.clear();
  ++version;
}

struct MappedTensor::State {
  Tensor tensor;
  hal::Mapping mapping;
  hal::Event ended;  // what the tensor's next users wait for
  Event ready;
};

const TensorType& Tensor::tensor_type() const { return state_->type; }
int64_t Tensor::element_count() const { return state_->element_count; }
uint64_t Tensor::byte_count() const {
  return static_cast<uint64_t>(bytes_of(type(), state_->element_count));
}

Result<MappedTensor> Tensor::map(bool current) const {
  std::lock_guard lock(*state_->order);
  if (state_->mapped)
    return make_error(StatusCode::failed_precondition, "a tensor {} is mapped twice at once",
                      to_string(tensor_type()));
  std::vector<hal::Event> waits;
  if (current) state_->add_events_before_read(waits);
  STRIA_RETURN_IF_ERROR(state_->add_events_before_write(waits));
  STRIA_ASSIGN(hal::Event ended, state_->device.create_event("buffer.unmap"));
  const hal::Buffer& buffer = state_->buffer;
  STRIA_ASSIGN(hal::Mapping mapping,
               current ? buffer.map_current(waits) : buffer.map_discard(waits));
  state_->set_writer(ended);
  state_->mapped = true;
  Event ready = Inside::event_of(mapping.ready());
  return MappedTensor(std::make_unique<MappedTensor::State>(
      MappedTensor::State{*this, std::move(mapping), std::move(ended), std::move(ready)}));
}

Result<MappedTensor> Tensor::map_current() const { return map(true); }
Result<MappedTensor> Tensor::map_discard() const { return map(false); }

Status Tensor::check_values(DataType type, size_t count) const {
  if (type == this->type() && count == static_cast<size_t>(element_count())) return Status();
  return invalid_argument("{} has {} elements of {}, got {} of {}", to_string(tensor_type()),
                          element_count(), name_of(this->type()), count, name_of(type));
}

Status Tensor::write(std::string_view bytes) const {
  if (bytes.size() != byte_count())
    return invalid_argument("{} has {} bytes, got {}", to_string(tensor_type()), byte_count(),
                            bytes.size());
  auto copy = [&]() -> Status {
    STRIA_ASSIGN(MappedTensor mapped, map_discard());
    STRIA_RETURN_IF_ERROR(mapped.ready().wait());
    if (!bytes.empty()) std::memcpy(mapped.data(), bytes.data(), bytes.size());
    STRIA_ASSIGN(Event done, mapped.unmap());
    return done.wait();
  };
  return copy().with_context(fmt::format("writing {}", state_->description()));
}

Result<HostTensor> Tensor::read() const {
  STRIA_ASSIGN(HostTensor host, HostTensor::create(type(), sizes(), "tensor"));
  STRIA_RETURN_IF_ERROR(read_into({host.data(), host.byte_count()}));
  return host;
}

Status Tensor::read_into(std::span<std::byte> bytes) const {
  std::lock_guard one_at_a_time(state_->read);
  STRIA_ASSIGN(hal::Event ended, state_->device.create_event("buffer.map_read"));
  std::vector<hal::Event> waits;
  auto copy = [&]() -> Status {
    {
      std::lock_guard lock(*state_->order);
      if (state_->mapped)
        return make_error(StatusCode::failed_precondition, "a tensor {} is read while it is mapped",
                          to_string(tensor_type()));
      state_->add_events_before_read(waits);
      state_->add_reader(ended);
    }
    STRIA_ASSIGN(hal::Mapping mapping, state_->buffer.map_read(waits));
    const Status ready = mapping.ready().wait();
    if (ready.ok() && !bytes.empty()) std::memcpy(bytes.data(), mapping.data(), bytes.size());
    // Also after a failure the mapping holds the buffer until its unmap is done.
    STRIA_ASSIGN(hal::Event done, mapping.unmap());
    const Status unmapped = done.wait();
    return ready.ok() ? unmapped : ready;
  };
  // What failed may have been started long ago.
  Status status = copy().with_context(fmt::format("reading {}", state_->description()));
  // Who writes next waits for this reader alone, so it may not end before the last writer does.
  if (!status.ok()) (void)hal::wait_all(waits);
  STRIA_RETURN_IF_ERROR(ended.signal());
  return status;
}

Status Inside::read_into(const Tensor& tensor, std::span<std::byte> bytes) {
  return tensor.read_into(bytes);
}

Result<Event> Inside::copy(const hal::Executor& executor, const Tensor& from, const Tensor& to) {
  Tensor::State &source = *from.state_, &target = *to.state_;
  std::unique_lock one(*source.order, std::defer_lock), other(*target.order, std::defer_lock);
  if (source.order == target.order)
    one.lock();
  else
    std::lock(one, other);
  std::vector<hal::Event> waits;
  source.add_events_before_read(waits);
  STRIA_RETURN_IF_ERROR(target.add_events_before_write(waits));
  STRIA_ASSIGN(hal::Event done, hal::copy_between(executor, source.buffer, 0, target.buffer, 0,
                                                  from.byte_count(), waits));
  source.add_reader(done);
  target.set_writer(done);
  return event_of(std::move(done));
}

MappedTensor::MappedTensor(std::unique_ptr<State> state) : state_(std::move(state)) {}
MappedTensor::MappedTensor(MappedTensor&& other) noexcept = default;

MappedTensor& MappedTensor::operator=(MappedTensor&& other) noexcept {
  if (this == &other) return *this;
  if (state_) (void)unmap();
  state_ = std::move(other.state_);
  return *this;
}

MappedTensor::~MappedTensor() {
  if (state_) (void)unmap();
}

const Event& MappedTensor::ready() const {
  static const Event none;
  return state_ ? state_->ready : none;
}
std::byte* MappedTensor::data() const { return state_ ? state_->mapping.data() : nullptr; }
uint64_t MappedTensor::size() const { return state_ ? state_->mapping.size() : 0; }

Status MappedTensor::wait_for(DataType type) const {
  if (!state_)
    return make_error(StatusCode::failed_precondition, "the mapping of a tensor has ended before");
  const Tensor& tensor = state_->tensor;
  if (tensor.type() != type)
    return invalid_argument("{} has no elements of {}", to_string(tensor.tensor_type()),
                            name_of(type));
  return state_->ready.wait();
}

Result<Event> MappedTensor::unmap() {
  if (!state_)
    return make_error(StatusCode::failed_precondition, "the mapping of a tensor has ended before");
  const std::shared_ptr<State> state = std::move(state_);
  {
    std::lock_guard lock(*state->tensor.state_->order);
    state->tensor.state_->mapped = false;
  }
  const Result<hal::Event> done = state->mapping.unmap();
  Status status = done.status();
  // A tensor whose contents could not be had is no better for having been mapped.
  if (status.ok())
    status = done->on_done([state](const Status& unmapped) {
      const Status ready = state->mapping.ready().status();
      (void)state->ended.signal(ready.ok() ? unmapped : ready);
    });
  if (!status.ok()) {
    (void)state->ended.signal(status);
    return status;
  }
  return Inside::event_of(state->ended);
}

}  // namespace stria
