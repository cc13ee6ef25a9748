// SPDX-License-Identifier: Apache-2.0
// Where the host sees the bytes of a buffer: in the shared memory, or, without it, in memory of the
// mapping's own, to and from which they travel.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "stria/hal/isolation/connection.h"

namespace stria::hal::isolation {

void* Connection::map(Map message) {
  message.mapping = new_id();
  Mapping mapping{message.buffer, nullptr, message.bytes, message.mode, nullptr};
  if (!heap_.valid()) {
    // Before the message: the bytes may be here before its answer is read.
    mapping.own.reset(new (std::nothrow) std::byte[std::max<uint64_t>(message.bytes, 1)]);
    if (!mapping.own)
      throw sdk::Error(STRIA_OUT_OF_MEMORY,
                       fmt::format("no host memory for a mapping of {} bytes", message.bytes));
    mapping.memory = mapping.own.get();
  }
  {
    const std::lock_guard lock(mutex_);
    mappings_.emplace(message.mapping, std::move(mapping));
  }
  Map::Answer answer;
  try {
    answer = ask(message, Limit::step);
    if (answer.shared == heap_.valid() &&
        (!answer.shared || heap_.at(answer.place, message.bytes) != nullptr)) {
      const std::lock_guard lock(mutex_);
      Mapping& made = mappings_.at(message.mapping);
      if (answer.shared) made.memory = heap_.at(answer.place, message.bytes);
      return made.memory;
    }
    give_up(fmt::format("it has put a mapping of {} bytes at {} of {} bytes of shared memory",
                        message.bytes, answer.place, heap_.bytes()));
    throw sdk::Error(wait_for_loss());
  } catch (...) {
    const std::lock_guard lock(mutex_);
    mappings_.erase(message.mapping);
    throw;
  }
}

void Connection::unmap(Id buffer, void* memory, Id done) {
  std::map<Id, Mapping>::node_type ended;
  {
    const std::lock_guard lock(mutex_);
    // Mappings with one address end in the order in which they came.
    const auto it = std::find_if(mappings_.begin(), mappings_.end(), [&](const auto& entry) {
      return entry.second.buffer == buffer && entry.second.memory == memory;
    });
    if (it == mappings_.end())
      throw sdk::Error(STRIA_INVALID_ARGUMENT,
                       fmt::format("the buffer has no mapping at the address {:#x}",
                                   reinterpret_cast<uintptr_t>(memory)));
    ended = mappings_.extract(it);
  }
  const Mapping& mapping = ended.mapped();
  if (mapping.own && mapping.mode != MapMode::read)
    for (uint64_t at = 0; at < mapping.bytes; at += kPieceBytes) {
      Bytes piece;
      piece.mapping = ended.key();
      piece.offset = at;
      piece.data.assign(reinterpret_cast<const char*>(mapping.own.get()) + at,
                        std::min(kPieceBytes, mapping.bytes - at));
      tell(piece);
    }
  Unmap message;
  message.mapping = ended.key();
  message.done = done;
  tell(message);
}

void Connection::take_bytes(const Bytes& piece) {
  const std::lock_guard lock(mutex_);
  const auto it = mappings_.find(piece.mapping);
  const uint64_t bytes = piece.data.size();
  if (it == mappings_.end() || !it->second.own || piece.offset > it->second.bytes ||
      bytes > it->second.bytes - piece.offset)
    throw Malformed(fmt::format("{} bytes at offset {} of mapping {}, which has no room for them",
                                bytes, piece.offset, piece.mapping));
  std::memcpy(it->second.own.get() + piece.offset, piece.data.data(), bytes);
}

}  // namespace stria::hal::isolation
