// SPDX-License-Identifier: Apache-2.0
// A part of a buffer as the host's interpreter works on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "store.h"

namespace third_chip {

class ArgumentCopy {
 public:
  ArgumentCopy(Store& store, uint64_t offset, uint64_t bytes)
      : store_(&store), offset_(offset), bytes_(bytes), copy_((bytes + 15) / 16 + 1) {
    store.read(offset, copy_.data(), bytes);
  }
  std::byte* data() { return copy_.front().bytes; }
  uint64_t size() const { return bytes_; }
  void write_back() { store_->write(offset_, copy_.data(), bytes_); }
  // Makes the bytes from `begin` what the device has.
  void undo_from(uint64_t begin) {
    if (begin < bytes_) store_->read(offset_ + begin, data() + begin, bytes_ - begin);
  }

 private:
  struct alignas(16) Piece {  // as every element type asks for
    std::byte bytes[16];
  };
  Store* store_;
  uint64_t offset_;
  uint64_t bytes_;
  std::vector<Piece> copy_;
};

}  // namespace third_chip
