// SPDX-License-Identifier: Apache-2.0
#include "build_id.h"

#include <fmt/format.h>
#include <link.h>

#include <cstring>

namespace stria::llvm_cpu {
namespace {

struct Search {
  uintptr_t inside;
  std::string id;
};

size_t aligned(size_t size) { return (size + 3) / 4 * 4; }

std::string id_in(const char* notes, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes, sizeof head);
    const size_t name = sizeof head, text = name + aligned(head.n_namesz),
                 end = text + aligned(head.n_descsz);
    if (end > size) break;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
        std::memcmp(notes + name, "GNU", 4) == 0) {
      std::string id;
      for (size_t i = 0; i < head.n_descsz; ++i)
        id += fmt::format("{:02x}", static_cast<unsigned char>(notes[text + i]));
      return id;
    }
    notes += end;
    size -= end;
  }
  return "";
}

int look(dl_phdr_info* object, size_t, void* raw) {
  auto& search = *static_cast<Search*>(raw);
  bool here = false;
  for (int n = 0; n < object->dlpi_phnum; ++n) {
    const ElfW(Phdr)& part = object->dlpi_phdr[n];
    const uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    here |=
        part.p_type == PT_LOAD && search.inside >= begin && search.inside - begin < part.p_memsz;
  }
  if (!here) return 0;
  for (int n = 0; n < object->dlpi_phnum && search.id.empty(); ++n) {
    const ElfW(Phdr)& part = object->dlpi_phdr[n];
    if (part.p_type == PT_NOTE)
      search.id =
          id_in(reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr), part.p_memsz);
  }
  return 1;
}

}  // namespace

std::string build_id() {
  Search search{reinterpret_cast<uintptr_t>(&build_id), ""};
  dl_iterate_phdr(look, &search);
  return search.id;
}

}  // namespace stria::llvm_cpu
