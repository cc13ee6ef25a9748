// SPDX-License-Identifier: Apache-2.0
// Memory of the host that somebody else made, as a buffer of a device that works on host memory.
#pragma once

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "stria/experimental.h"
#include "stria/sdk/buffer.h"

namespace stria::sdk {

class SharedHostBuffer final : public Buffer {
 public:
  // Throws STRIA_UNSUPPORTED for an address that is no multiple of HostBuffer::kAlignment, or an
  // offset that is none of the page size, and what the system says of a descriptor.
  SharedHostBuffer(const Host& host, const stria_shared_memory& memory)
      : Buffer(memory.bytes), host_(host), memory_(memory) {
    if (memory.kind == STRIA_HOST_MEMORY) {
      const auto address = reinterpret_cast<uintptr_t>(memory.address);
      if ((memory.bytes > 0 && !memory.address) || address % HostBuffer::kAlignment != 0)
        throw Error(STRIA_UNSUPPORTED, "host memory at address " + std::to_string(address) +
                                           ": this device takes multiples of " +
                                           std::to_string(HostBuffer::kAlignment));
      data_ = static_cast<std::byte*>(memory.address);
    } else {
      map_descriptor();
    }
  }
  ~SharedHostBuffer() override {
    if (memory_.kind == STRIA_MEMORY_DESCRIPTOR && data_) ::munmap(data_, size());
    if (memory_.released) memory_.released(memory_.state);
  }

  std::byte* data() override { return data_; }
  void* map(uint64_t offset, uint64_t, MapMode, Waits waits, Ref<Event>* done) override {
    *done = when_done(host_, host_.tracker(), waits);
    return data_ + offset;
  }
  Ref<Event> unmap(void*) override { return when_done(host_, host_.tracker(), {}); }
  stria_shared_memory share(stria_memory_kind kind) override {
    if (kind != STRIA_HOST_MEMORY) return Buffer::share(kind);
    return host_memory(data_, size());
  }

 private:
  void map_descriptor() {
    const long page = ::sysconf(_SC_PAGESIZE);
    if (memory_.offset % static_cast<uint64_t>(page) != 0)
      throw Error(STRIA_UNSUPPORTED, "offset " + std::to_string(memory_.offset) +
                                         " of a descriptor's memory: this device takes multiples "
                                         "of the page size, " +
                                         std::to_string(page));
    if (size() == 0) return;
    // A file that is shorter would end the process at the first touch behind its end.
    const off_t end = file_bytes();
    if (end >= 0 && (memory_.offset > static_cast<uint64_t>(end) ||
                     size() > static_cast<uint64_t>(end) - memory_.offset))
      throw Error(STRIA_OUT_OF_RANGE, std::to_string(size()) + " bytes from offset " +
                                          std::to_string(memory_.offset) +
                                          " of a descriptor's memory of " + std::to_string(end));
    void* const mapped = ::mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_SHARED,
                                memory_.descriptor, static_cast<off_t>(memory_.offset));
    if (mapped == MAP_FAILED) {
      const int error = errno;
      throw Error(Failure{error == ENOMEM ? STRIA_OUT_OF_MEMORY : STRIA_INVALID_ARGUMENT,
                          "descriptor " + std::to_string(memory_.descriptor) + " cannot be mapped",
                          error, std::strerror(error), "", ""});
    }
    data_ = static_cast<std::byte*>(mapped);
  }

  // -1 if that is not known. The descriptor is the caller's: where it stands in a file stays.
  off_t file_bytes() const {
    struct stat info{};
    if (::fstat(memory_.descriptor, &info) != 0) return -1;
    return S_ISREG(info.st_mode) ? info.st_size : ::lseek(memory_.descriptor, 0, SEEK_END);
  }

  const Host& host_;
  const stria_shared_memory memory_;
  std::byte* data_ = nullptr;
};

}  // namespace stria::sdk
