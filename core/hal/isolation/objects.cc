// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/isolation/objects.h"

#include <fmt/format.h>

#include <utility>

namespace stria::hal::isolation {

void Objects::add(Id id, Object object) {
  const std::lock_guard lock(mutex_);
  if (id == 0 || !all_.emplace(id, std::move(object)).second)
    throw Malformed(fmt::format("{} is no new number for an object", id));
}

Objects::Object Objects::take(Id id) {
  const std::lock_guard lock(mutex_);
  auto node = all_.extract(id);
  if (!node) throw Malformed(fmt::format("there is no object {}", id));
  return std::move(node.mapped());
}

void* Objects::find(Id id, Noun noun) const {
  const std::lock_guard lock(mutex_);
  const auto it = all_.find(id);
  if (it == all_.end()) throw Malformed(fmt::format("there is no {} {}", name_of(noun), id));
  const Object& object = it->second;
  if (object.noun != noun)
    throw Malformed(
        fmt::format("object {} is a {}, not a {}", id, name_of(object.noun), name_of(noun)));
  if (object.failure) throw sdk::Error(object.failure);
  return object.handle;
}

}  // namespace stria::hal::isolation
