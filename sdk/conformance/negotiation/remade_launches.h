// SPDX-License-Identifier: Apache-2.0
// The launches of a batch in structs of another size than today's, each at the end of a page.
#pragma once

#include <memory>
#include <vector>

#include "negotiation/at_page_end.h"
#include "negotiation/longer_struct.h"
#include "suite/small_program.h"

namespace stria::conformance {

enum class Remade { as_they_are, longer, chained, shorter };

// Gone with the object: whoever keeps a pointer crashes.
class RemadeLaunches {
 public:
  RemadeLaunches(const SmallLaunches& launches, Remade how) : chain_(2) {
    for (uint64_t i = 0; i < launches.count(); ++i) {
      stria_launch launch = *launches.list()[i];
      std::vector<const stria_argument*> arguments;
      for (uint64_t k = 0; k < launch.argument_count; ++k) {
        stria_argument argument = *launch.arguments[k];
        if (how == Remade::chained) argument.next = chain_.first();
        // What is 0 may be left out.
        const bool is_short = how == Remade::shorter && argument.offset == 0;
        arguments.push_back(add(argument, is_short ? offsetof(stria_argument, offset) : 0, how));
      }
      launch.arguments = list(arguments);
      if (launch.after_count > 0)
        launch.after = static_cast<const uint32_t*>(
            bytes(launch.after, launch.after_count * sizeof(uint32_t)));
      if (how == Remade::chained) launch.next = chain_.first();
      const bool is_short = how == Remade::shorter && launch.after_count == 0;
      pointers_.push_back(add(launch, is_short ? offsetof(stria_launch, after) : 0, how));
    }
    list_ = list(pointers_);
  }
  const stria_launch* const* list() const { return list_; }
  uint64_t count() const { return pointers_.size(); }
  bool chain_is_untouched() const { return chain_.is_untouched(); }

 private:
  void* bytes(const void* from, size_t count) {
    kept_.push_back(std::make_unique<BytesAtPageEnd>(from, count));
    return kept_.back()->get();
  }
  template <typename T>
  const T* const* list(const std::vector<const T*>& pointers) {
    return static_cast<const T* const*>(bytes(pointers.data(), pointers.size() * sizeof(T*)));
  }
  template <typename T>
  const T* add(T value, size_t short_bytes, Remade how) {
    if (how == Remade::longer) {
      LongerStruct<T> longer(value, 48);
      return static_cast<const T*>(bytes(longer.get(), sizeof value + 48));
    }
    value.size = short_bytes > 0 ? short_bytes : sizeof value;
    return static_cast<const T*>(bytes(&value, value.size));
  }

  UnknownChain chain_;
  std::vector<std::unique_ptr<BytesAtPageEnd>> kept_;
  std::vector<const stria_launch*> pointers_;
  const stria_launch* const* list_ = nullptr;
};

}  // namespace stria::conformance
