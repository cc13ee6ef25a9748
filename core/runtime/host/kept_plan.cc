// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/host/kept_plan.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "stria/runtime/host/user_cache.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"

namespace stria {
namespace {

// Where the search for the build id is, and what it has found.
struct Search {
  uintptr_t address = 0;  // in the object that is looked for
  std::string id;
};

void read_notes(const char* at, const char* end, std::string& id) {
  constexpr char kGnu[] = "GNU";
  const auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) head;
    std::memcpy(&head, at, sizeof head);
    const char* const name = at + sizeof head;
    const char* const value = name + padded(head.n_namesz);
    at = value + padded(head.n_descsz);
    if (at > end || head.n_type != NT_GNU_BUILD_ID || head.n_namesz != sizeof kGnu ||
        std::memcmp(name, kGnu, sizeof kGnu) != 0)
      continue;
    for (size_t i = 0; i < head.n_descsz; ++i)
      id += fmt::format("{:02x}", static_cast<unsigned char>(value[i]));
    return;
  }
}

int look_at(dl_phdr_info* object, size_t, void* state) {
  auto& search = *static_cast<Search*>(state);
  const auto begin_of = [object](const ElfW(Phdr) & part) {
    return static_cast<uintptr_t>(object->dlpi_addr + part.p_vaddr);
  };
  const ElfW(Phdr)* const parts = object->dlpi_phdr;
  const ElfW(Phdr)* const end = parts + object->dlpi_phnum;
  const bool is_it = std::any_of(parts, end, [&](const ElfW(Phdr) & part) {
    return part.p_type == PT_LOAD && search.address >= begin_of(part) &&
           search.address - begin_of(part) < part.p_memsz;
  });
  if (!is_it) return 0;
  for (const ElfW(Phdr)* part = parts; part != end && search.id.empty(); ++part)
    if (part->p_type == PT_NOTE) {
      const auto* begin = reinterpret_cast<const char*>(begin_of(*part));
      read_notes(begin, begin + part->p_memsz, search.id);
    }
  return 1;
}

hal::DiskCache& cache() { return user_cache("plans"); }

}  // namespace

const std::string& build_id() {
  static const std::string id = [] {
    Search search{reinterpret_cast<uintptr_t>(&build_id), ""};
    ::dl_iterate_phdr(look_at, &search);
    return search.id;
  }();
  return id;
}

KeptPlan::KeptPlan(const stripe::Program& generic, const Pipeline& pipeline,
                   const HardwareModel& model) {
  const bool by_plugin =
      std::any_of(pipeline.steps.begin(), pipeline.steps.end(),
                  [](const PipelineStep& step) { return step.pass == "plugin_pass"; });
  if (build_id().empty() || by_plugin) return;
  const std::string parts[] = {build_id(), pipeline.to_json(0, pipeline.steps.size()),
                               model.to_string(), stripe::print(generic)};
  // With its size, no part can be taken for the end of another.
  key_ = "plan 1\n";
  for (const std::string& part : parts) key_ += fmt::format("{}\n{}\n", part.size(), part);
}

std::optional<stripe::Program> KeptPlan::find(std::string& text) const {
  if (key_.empty()) return std::nullopt;
  std::optional<std::string> kept = cache().get(key_);
  if (!kept) return std::nullopt;
  Result<stripe::Program> program = stripe::parse({"kept device Stripe", *kept});
  if (!program.ok()) return std::nullopt;
  text = *std::move(kept);
  return std::move(program).value();
}

void KeptPlan::keep(std::string_view text) const {
  if (!key_.empty()) cache().put(key_, text);
}

}  // namespace stria
