// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/tensor.h"

#include <cstring>

#include "stria/type/tensor_shape.h"

namespace stria {

struct Tensor::State {
  hal::Device device;
  hal::Buffer buffer;
  DataType type = DataType::fp32;
  std::vector<int64_t> sizes;
  int64_t element_count = 0;

  std::shared_ptr<std::mutex> order;
  Event writer;                // guarded by order, as all below
  std::vector<Event> readers;  // since that write
  uint64_t version = 0;
  bool mapped = false;
  std::mutex read;  // one read() at a time: mappings of one buffer must not overlap
};

Result<Tensor> Tensor::create(const exec::DeviceMemory& memory, std::shared_ptr<std::mutex> order,
                              DataType type, std::vector<int64_t> sizes, std::string_view what) {
  STRIA_RETURN_IF_ERROR(check_sizes(type, sizes, what));
  Tensor tensor;
  tensor.state_ = std::make_shared<State>();
  State& state = *tensor.state_;
  state.device = memory.device();
  state.order = std::move(order);
  state.type = type;
  state.element_count = dense_shape(type, sizes).element_count();
  state.sizes = std::move(sizes);
  auto buffer = memory.allocate(
      tensor.byte_count(), fmt::format("{} {}", what, to_string(type, state.sizes)), "the caller");
  if (!buffer.ok()) return buffer.status().with_context(what);
  state.buffer = std::move(*buffer);
  return tensor;
}

DataType Tensor::type() const { return state_->type; }
const std::vector<int64_t>& Tensor::sizes() const { return state_->sizes; }
int64_t Tensor::element_count() const { return state_->element_count; }
uint64_t Tensor::byte_count() const {
  return static_cast<uint64_t>(state_->element_count * byte_size(state_->type));
}
const hal::Buffer& Tensor::buffer() const { return state_->buffer; }
const std::shared_ptr<std::mutex>& Tensor::order() const { return state_->order; }
uint64_t Tensor::version() const { return state_->version; }

void Tensor::add_events_before_read(std::vector<Event>& waits) const {
  if (state_->writer.valid()) waits.push_back(state_->writer);
}

// Who overwrites a tensor waits for its users but does not share their fate: each open event is
// replaced by one that is done when it is and never fails. Whose fate is shared already, as its
// event is among `waits`, needs no other; and readers, if there are any, have waited for the
// writer.
Status Tensor::add_events_before_write(std::vector<Event>& waits) const {
  auto add = [&](const Event& event) -> Status {
    if (!event.valid() || event.is_done()) return Status();
    for (const Event& wait : waits)
      if (wait.handle() == event.handle()) return Status();
    STRIA_ASSIGN(Event end, state_->device.create_event());
    // Signalling fails only if it was done before, which nobody else does.
    STRIA_RETURN_IF_ERROR(event.on_done([end](const Status&) { (void)end.signal(); }));
    waits.push_back(std::move(end));
    return Status();
  };
  if (state_->readers.empty()) return add(state_->writer);
  for (const Event& reader : state_->readers) STRIA_RETURN_IF_ERROR(add(reader));
  return Status();
}

void Tensor::add_reader(const Event& event) const {
  // Readers that are done need no place; without this a tensor that is only read would grow for
  // ever.
  std::erase_if(state_->readers, [](const Event& reader) { return reader.is_done(); });
  state_->readers.push_back(event);
}

void Tensor::set_writer(const Event& event) const {
  state_->writer = event;
  state_->readers.clear();
  ++state_->version;
}

Result<MappedTensor> Tensor::map(bool current) const {
  std::lock_guard lock(*state_->order);
  if (state_->mapped)
    return make_error(StatusCode::failed_precondition, "a tensor {} is mapped twice at once",
                      to_string(type(), sizes()));
  std::vector<Event> waits;
  if (current) add_events_before_read(waits);
  STRIA_RETURN_IF_ERROR(add_events_before_write(waits));
  STRIA_ASSIGN(Event ended, state_->device.create_event());
  STRIA_ASSIGN(hal::Mapping mapping,
               current ? buffer().map_current(waits) : buffer().map_discard(waits));
  set_writer(ended);
  state_->mapped = true;
  return MappedTensor(*this, std::move(mapping), std::move(ended));
}

Result<MappedTensor> Tensor::map_current() const { return map(true); }
Result<MappedTensor> Tensor::map_discard() const { return map(false); }

Status Tensor::write(std::string_view bytes) const {
  if (bytes.size() != byte_count())
    return invalid_argument("{} has {} bytes, got {}", to_string(type(), sizes()), byte_count(),
                            bytes.size());
  STRIA_ASSIGN(MappedTensor mapped, map_discard());
  STRIA_RETURN_IF_ERROR(mapped.ready().wait());
  if (!bytes.empty()) std::memcpy(mapped.data(), bytes.data(), bytes.size());
  STRIA_ASSIGN(Event done, mapped.unmap());
  return done.wait();
}

Result<HostTensor> Tensor::read() const {
  STRIA_ASSIGN(HostTensor host, HostTensor::create(type(), sizes(), "tensor"));
  std::lock_guard one_at_a_time(state_->read);
  STRIA_ASSIGN(Event ended, state_->device.create_event());
  std::vector<Event> waits;
  auto copy = [&]() -> Status {
    {
      std::lock_guard lock(*state_->order);
      if (state_->mapped)
        return make_error(StatusCode::failed_precondition, "a tensor {} is read while it is mapped",
                          to_string(type(), sizes()));
      add_events_before_read(waits);
      add_reader(ended);
    }
    STRIA_ASSIGN(hal::Mapping mapping, buffer().map_current(waits));
    STRIA_RETURN_IF_ERROR(mapping.ready().wait());
    if (host.byte_count() > 0) std::memcpy(host.data(), mapping.data(), host.byte_count());
    STRIA_ASSIGN(Event done, mapping.unmap());
    return done.wait();
  };
  Status status = copy();
  // Who writes next waits for this reader alone, so it may not end before the last writer does.
  if (!status.ok()) (void)hal::wait_all(waits);
  STRIA_RETURN_IF_ERROR(ended.signal());
  STRIA_RETURN_IF_ERROR(status);
  return host;
}

Result<Event> MappedTensor::unmap() {
  if (!tensor_.valid())
    return make_error(StatusCode::failed_precondition, "the mapping of a tensor has ended before");
  Tensor tensor = std::move(tensor_);
  tensor_ = Tensor();
  Result<Event> done = mapping_.unmap();
  {
    std::lock_guard lock(*tensor.order());
    tensor.state_->mapped = false;
  }
  if (!done.ok()) {
    (void)ended_.signal(done.status());
    return done;
  }
  STRIA_RETURN_IF_ERROR(
      done->on_done([ended = ended_](const Status& outcome) { (void)ended.signal(outcome); }));
  return done;
}

MappedTensor::~MappedTensor() {
  if (tensor_.valid()) (void)unmap();
}

}  // namespace stria
