// SPDX-License-Identifier: Apache-2.0
#include "memory/life_cases.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "memory/bench.h"
#include "memory/mapped.h"
#include "memory/sentences.h"
#include "suite/memory_in_use.h"

namespace stria::conformance {
namespace {

// A buffer and what it must hold.
struct Kept {
  Buffer buffer;
  Bytes contents;
};

Result<Kept> make_kept(const Bench& bench, uint64_t bytes, uint32_t seed) {
  Kept kept{{}, pattern(bytes, seed)};
  STRIA_ASSIGN(kept.buffer, bench.buffer(kept.contents));
  return kept;
}

Status all_hold(const Bench& bench, const std::vector<Kept>& all, std::string_view when) {
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].buffer)
      STRIA_RETURN_IF_ERROR(bench.holds(all[i].buffer, all[i].contents,
                                        fmt::format("buffer {} of {} with {} bytes, {}", i,
                                                    all.size(), all[i].contents.size(), when)));
  return Status();
}

// Adds a case that begins with 40 buffers of these sizes.
void add_crowd_case(CaseMaker& maker, std::string_view name,
                    std::function<Status(const Bench&, std::vector<Kept>&)> run) {
  add_bench_case(maker, 'M', fmt::format("lives.{}", name), Level::right, says::kAllocate,
                 [run = std::move(run)](const Bench& bench) -> Status {
                   constexpr uint64_t kSizes[] = {1, 64, 3, 4096, 65, 16, 1000, 63};
                   std::vector<Kept> all;
                   for (uint32_t i = 0; i < 40; ++i) {
                     STRIA_ASSIGN(Kept kept, make_kept(bench, kSizes[i % 8] + i / 8, 500 + i));
                     all.push_back(std::move(kept));
                   }
                   return run(bench, all);
                 });
}

void add_crowd_cases(CaseMaker& maker) {
  add_crowd_case(maker, "many", [](const Bench& bench, std::vector<Kept>& all) -> Status {
    return all_hold(bench, all, "after all were written");
  });
  add_crowd_case(maker, "every_second_goes",
                 [](const Bench& bench, std::vector<Kept>& all) -> Status {
                   for (size_t i = 0; i < all.size(); i += 2) all[i].buffer.reset();
                   return all_hold(bench, all, "after every second was released");
                 });
  add_crowd_case(
      maker, "new_ones_in_gaps", [](const Bench& bench, std::vector<Kept>& all) -> Status {
        for (size_t i = 0; i < all.size(); i += 2) all[i].buffer.reset();
        // Smaller, as large, and larger than what was there.
        for (size_t i = 0; i < all.size(); i += 2) {
          const uint64_t bytes = std::max<uint64_t>(1, all[i].contents.size() + i % 3 - 1);
          STRIA_ASSIGN(all[i], make_kept(bench, bytes, static_cast<uint32_t>(900 + i)));
        }
        return all_hold(bench, all, "after others took the place of every second");
      });
  add_crowd_case(maker, "last_in_first_out",
                 [](const Bench& bench, std::vector<Kept>& all) -> Status {
                   while (all.size() > 1) {
                     all.pop_back();
                     if (all.size() % 8 == 0)
                       STRIA_RETURN_IF_ERROR(all_hold(bench, all, "after later ones went"));
                   }
                   return all_hold(bench, all, "after all later ones went");
                 });
  add_crowd_case(maker, "first_in_first_out",
                 [](const Bench& bench, std::vector<Kept>& all) -> Status {
                   for (size_t i = 0; i + 1 < all.size(); ++i) {
                     all[i].buffer.reset();
                     if (i % 8 == 0)
                       STRIA_RETURN_IF_ERROR(all_hold(bench, all, "after earlier ones went"));
                   }
                   return all_hold(bench, all, "after all earlier ones went");
                 });
  // Whole buffers: what goes too far by one lands in somebody else's.
  add_crowd_case(maker, "whole_fills", [](const Bench& bench, std::vector<Kept>& all) -> Status {
    for (size_t i = 1; i < all.size(); i += 2) {
      all[i].contents.assign(all[i].contents.size(), static_cast<std::byte>(i));
      STRIA_RETURN_IF_ERROR(bench.finish(
          bench.fill(all[i].buffer, all[i].contents.size(), static_cast<unsigned>(i))));
    }
    return all_hold(bench, all, "after every second was filled");
  });
  add_crowd_case(maker, "whole_copies", [](const Bench& bench, std::vector<Kept>& all) -> Status {
    for (size_t i = 0; i + 8 < all.size(); ++i) {
      // Eight on there is one of a byte more.
      const Bytes& from = all[i].contents;
      STRIA_RETURN_IF_ERROR(
          bench.finish(bench.copy(all[i].buffer, 0, all[i + 8].buffer, 1, from.size())));
      std::copy(from.begin(), from.end(), all[i + 8].contents.begin() + 1);
    }
    return all_hold(bench, all, "after copies from one to another");
  });
  for (const MapMode mode : kMapModes)
    add_crowd_case(maker, fmt::format("mapped_at_once_{}", name_of(mode)),
                   [mode](const Bench& bench, std::vector<Kept>& all) -> Status {
                     std::vector<Mapped> mappings;
                     for (size_t i = 0; i < all.size(); ++i) {
                       STRIA_ASSIGN(Mapped mapped,
                                    map_now(bench, mode, all[i].buffer, 0, all[i].contents.size()));
                       mappings.push_back(std::move(mapped));
                     }
                     for (size_t i = 0; i < all.size(); ++i) {
                       if (mode != MapMode::discard)
                         STRIA_RETURN_IF_ERROR(mappings[i].holds(
                             all[i].contents, fmt::format("mapping {} of 40 at once", i)));
                       if (mode == MapMode::read) continue;
                       all[i].contents =
                           pattern(all[i].contents.size(), static_cast<uint32_t>(700 + i));
                       mappings[i].write(all[i].contents);
                     }
                     for (Mapped& mapped : mappings) STRIA_RETURN_IF_ERROR(mapped.end());
                     return all_hold(bench, all, "after all were mapped at once");
                   });
}

// ---- what comes and goes often

// More than what a driver keeps for the next time.
constexpr uint64_t kGrowth = uint64_t{64} << 20;

// Does `once`, which takes and gives back `bytes`, often enough that a leak of it would be seen.
void add_cycle_case(CaseMaker& maker, std::string_view name, std::string_view sentence,
                    uint64_t bytes, std::function<Status(const Bench&)> once) {
  add_bench_case(
      maker, 'M', fmt::format("lives.cycle_{}", name), Level::robust, sentence,
      [bytes, once = std::move(once)](const Bench& bench) -> Status {
        for (int i = 0; i < 20; ++i) STRIA_RETURN_IF_ERROR(once(bench));
        const uint64_t before = written_bytes();
        for (uint64_t left = 3 * kGrowth; left >= bytes; left -= bytes)
          STRIA_RETURN_IF_ERROR(once(bench));
        const uint64_t after = written_bytes();
        if (after > before + kGrowth)
          return broken("the process has {} MiB more after {} rounds that gave back what they took",
                        (after - before) >> 20, 3 * kGrowth / bytes);
        return Status();
      })
      .limit = std::chrono::seconds(60);
}

void add_cycle_cases(CaseMaker& maker) {
  constexpr uint64_t kBytes = uint64_t{1} << 20;
  add_cycle_case(maker, "buffers", says::kAllocate, kBytes, [](const Bench& bench) -> Status {
    STRIA_ASSIGN(const Buffer buffer, bench.subject().allocate(kBytes));
    return bench.finish(bench.fill(buffer, kBytes, 1));
  });
  for (const MapMode mode : kMapModes)
    add_cycle_case(maker, fmt::format("map_{}", name_of(mode)), sentence_of(mode), kBytes,
                   [mode](const Bench& bench) -> Status {
                     STRIA_ASSIGN(const Buffer buffer, bench.subject().allocate(kBytes));
                     STRIA_RETURN_IF_ERROR(bench.finish(bench.fill(buffer, kBytes, 1)));
                     STRIA_ASSIGN(Mapped mapped, map_now(bench, mode, buffer, 0, kBytes));
                     if (mode != MapMode::read) mapped.write(Bytes(kBytes));
                     return mapped.end();
                   });
}

// ---- random ways, one after the other

class RandomLife {
 public:
  RandomLife(const Bench& bench, uint32_t seed) : bench_(bench), random_(seed) {}

  Status run(int steps) {
    for (int step = 0; step < steps; ++step)
      STRIA_RETURN_IF_ERROR(this->step().with_context(fmt::format("step {}", step)));
    return all_hold(bench_, all_, "at the end");
  }

 private:
  uint64_t below(uint64_t limit) { return random_() % limit; }
  struct Part {
    uint64_t offset, bytes;
  };
  Part part_of(const Kept& kept) {
    const uint64_t offset = below(kept.contents.size() + 1);
    return {offset, below(kept.contents.size() - offset + 1)};
  }
  static auto at(Bytes& bytes, uint64_t offset) {
    return bytes.begin() + static_cast<ptrdiff_t>(offset);
  }
  Bytes fresh(uint64_t bytes) { return pattern(bytes, static_cast<uint32_t>(random_())); }

  Status step() {
    if (all_.size() < 2 || (all_.size() < 12 && below(6) == 0)) {
      const uint64_t bytes = below(4) == 0 ? below(20'000) : below(300);
      STRIA_ASSIGN(Kept kept, make_kept(bench_, bytes, static_cast<uint32_t>(random_())));
      all_.push_back(std::move(kept));
      return Status();
    }
    Kept& kept = all_[below(all_.size())];
    switch (below(6)) {
      case 0: return copy_from(kept);
      case 1: return fill(kept);
      case 2: return map(kept, MapMode::current);
      case 3: return map(kept, MapMode::discard);
      case 4:
        return bench_.holds(kept.buffer, kept.contents,
                            fmt::format("a buffer of {} bytes", kept.contents.size()));
      default:
        std::swap(kept, all_.back());
        all_.pop_back();
        return Status();
    }
  }
  Status copy_from(Kept& source) {
    Kept& target = all_[below(all_.size())];
    if (&source == &target) return Status();
    const Part from = part_of(source), to = part_of(target);
    const uint64_t bytes = std::min(from.bytes, to.bytes);
    std::copy_n(at(source.contents, from.offset), bytes, at(target.contents, to.offset));
    return bench_.finish(bench_.copy(source.buffer, from.offset, target.buffer, to.offset, bytes));
  }
  Status fill(Kept& kept) {
    const Bytes repeated = fresh(uint64_t{1} << below(5));
    const Part part = part_of(kept);
    const uint64_t bytes = part.bytes / repeated.size() * repeated.size();
    for (uint64_t i = 0; i < bytes; ++i)
      kept.contents[part.offset + i] = repeated[i % repeated.size()];
    return bench_.finish(bench_.fill(kept.buffer, part.offset, bytes, repeated));
  }
  Status map(Kept& kept, MapMode mode) {
    const Part part = part_of(kept);
    STRIA_ASSIGN(Mapped mapped, map_now(bench_, mode, kept.buffer, part.offset, part.bytes));
    if (mode == MapMode::current)
      STRIA_RETURN_IF_ERROR(mapped.holds(std::span(kept.contents).subspan(part.offset, part.bytes),
                                         "a mapping's memory"));
    const Bytes written = fresh(part.bytes);
    mapped.write(written);
    std::copy(written.begin(), written.end(), at(kept.contents, part.offset));
    return mapped.end();
  }

  const Bench& bench_;
  std::mt19937 random_;
  std::vector<Kept> all_;
};

void add_random_cases(CaseMaker& maker) {
  for (uint32_t seed = 1; seed <= 16; ++seed)
    add_bench_case(
        maker, 'M', fmt::format("lives.random_{}", seed), Level::right, says::kAllocate,
        [seed](const Bench& bench) -> Status { return RandomLife(bench, seed).run(120); });
}

}  // namespace

void add_memory_life_cases(CaseMaker& maker) {
  add_crowd_cases(maker);
  add_cycle_cases(maker);
  add_random_cases(maker);
}

}  // namespace stria::conformance
