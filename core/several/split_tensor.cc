// SPDX-License-Identifier: Apache-2.0
#include "stria/several/split_tensor.h"

#include <cstring>

#include "stria/base/status.h"
#include "stria/runtime/inside.h"
#include "stria/several/on_each.h"
#include "stria/several/split_state.h"
#include "stria/several/topology.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

// Below it, the way from the host is as quick as any.
constexpr uint64_t kWorthAPeer = 1 << 20;

// Writes `bytes` of the whole, or the rows of a part of it.
Status write_piece(const Tensor& piece, std::string_view bytes, const CutRows* rows) {
  const auto* from = reinterpret_cast<const std::byte*>(bytes.data());
  if (rows == nullptr) return piece.write(bytes);
  if (rows->is_contiguous()) return piece.write(bytes.substr(rows->begin(), rows->bytes()));
  STRIA_ASSIGN(MappedTensor mapped, piece.map_discard());
  STRIA_RETURN_IF_ERROR(mapped.ready().wait());
  rows->take(from, mapped.data());
  STRIA_ASSIGN(const Event done, mapped.unmap());
  return done.wait();
}

Status read_piece(const Tensor& piece, std::span<std::byte> whole, const CutRows* rows) {
  if (rows == nullptr) return Inside::read_into(piece, whole);
  if (rows->is_contiguous())
    return Inside::read_into(piece, whole.subspan(rows->begin(), rows->bytes()));
  STRIA_ASSIGN(const HostTensor part, piece.read());
  rows->put(part.data(), whole.data());
  return Status();
}

// Does a copy from the one device take less time than one from the host?
bool is_nearer(const Device& from, const Device& to, uint64_t bytes) {
  if (bytes < kWorthAPeer) return false;
  const Result<DeviceLink> link = measure_link(from, to);
  if (!link.ok() || !link->peer.known()) return false;
  const Result<MoveRate> from_host = measure_to_device(to);
  return from_host.ok() && link->peer.seconds(bytes) < from_host->seconds(bytes);
}

}  // namespace

const TensorInfo& SplitTensor::info() const { return state_->info; }
bool SplitTensor::is_cut() const { return state_->cut.has_value(); }
size_t SplitTensor::dimension() const { return state_->cut ? state_->cut->dim : 0; }
const std::vector<Tensor>& SplitTensor::pieces() const { return state_->pieces; }

Status SplitTensor::check_values(DataType type, size_t count) const {
  const int64_t elements = dense_shape(info().type, info().sizes).element_count();
  if (type == info().type && count == static_cast<size_t>(elements)) return Status();
  return invalid_argument("{} has {} elements of {}, got {} of {}",
                          to_string(info().type, info().sizes), elements,
                          stria::name_of(info().type), count, stria::name_of(type));
}

std::vector<Status> SplitInside::write(const SplitTensor& tensor, std::string_view bytes) {
  const SplitTensor::State& state = *tensor.state_;
  const size_t count = state.pieces.size();
  if (state.cut)
    return on_each(count, [&](size_t n) {
      const CutRows rows(state.info.type, state.info.sizes, *state.cut, state.units[n]);
      return write_piece(state.pieces[n], bytes, &rows);
    });
  std::vector<bool> by_peer(count, false);
  for (size_t n = 1; n < count; ++n)
    by_peer[n] = is_nearer(state.devices[0], state.devices[n], bytes.size());
  std::vector<Status> out = on_each(count, [&](size_t n) {
    return by_peer[n] ? Status() : write_piece(state.pieces[n], bytes, nullptr);
  });
  if (!out[0].ok()) return out;
  std::vector<Event> moved(count);
  for (size_t n = 1; n < count; ++n) {
    if (!by_peer[n]) continue;
    Result<Event> copy = copy_tensor(state.devices[0], state.pieces[0], state.devices[n],
                                     state.pieces[n], MoveWay::peer);
    out[n] = copy.status();
    if (copy.ok()) moved[n] = *std::move(copy);
  }
  for (size_t n = 1; n < count; ++n)
    if (moved[n].valid()) out[n] = moved[n].wait();
  return out;
}

std::vector<Status> SplitInside::read(const SplitTensor& tensor, HostTensor& into) {
  const SplitTensor::State& state = *tensor.state_;
  const std::span<std::byte> whole(into.data(), into.byte_count());
  std::vector<Status> out(state.pieces.size());
  if (!state.cut) {
    out[0] = read_piece(state.pieces[0], whole, nullptr);
    return out;
  }
  return on_each(state.pieces.size(), [&](size_t n) {
    const CutRows rows(state.info.type, state.info.sizes, *state.cut, state.units[n]);
    return read_piece(state.pieces[n], whole, &rows);
  });
}

Status SplitTensor::write(std::string_view bytes) const {
  const auto expected = static_cast<uint64_t>(
      bytes_of(info().type, dense_shape(info().type, info().sizes).element_count()));
  if (bytes.size() != expected)
    return invalid_argument("{} has {} bytes, got {}", to_string(info().type, info().sizes),
                            expected, bytes.size());
  return first_failure(SplitInside::write(*this, bytes), state_->names);
}

Result<HostTensor> SplitTensor::read() const {
  STRIA_ASSIGN(HostTensor out, HostTensor::create(info().type, info().sizes, info().name));
  STRIA_RETURN_IF_ERROR(first_failure(SplitInside::read(*this, out), state_->names));
  return out;
}

}  // namespace stria
