// SPDX-License-Identifier: Apache-2.0
#include "memory/allocation_cases.h"

#include <cctype>

#include "memory/bench.h"
#include "memory/mapped.h"
#include "memory/sentences.h"
#include "model/kind_files.h"

namespace stria::conformance {
namespace {

// ---- every size

void add_size_cases(CaseMaker& maker) {
  for (const uint64_t bytes :
       {1,   2,   3,   4,   7,    8,    15,   16,   17,     31,     63,        64,       65,
        127, 255, 256, 257, 1000, 4095, 4096, 4097, 65'535, 65'537, 1'048'575, 1'048'577})
    add_bench_case(maker, 'M', fmt::format("size.{}", bytes), Level::right, says::kAllocate,
                   [bytes](const Bench& bench) -> Status {
                     const Bytes contents = pattern(bytes, static_cast<uint32_t>(bytes));
                     STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
                     return bench.holds(buffer, contents, "what was written and read back");
                   });
}

// ---- no bytes

// Adds a case that gets a buffer of 0 bytes and one of 64.
void add_zero_case(
    CaseMaker& maker, std::string_view name,
    std::function<Status(const Bench&, const Buffer& none, const Buffer& some)> run) {
  // Of a buffer or of work.
  const bool of_buffer = name == "allocate" || name == "many";
  add_bench_case(maker, 'M', fmt::format("zero.{}", name), Level::right,
                 of_buffer ? says::kZeroIsLegal : says::kNoBytes,
                 [run = std::move(run)](const Bench& bench) -> Status {
                   const Bytes contents = pattern(64, 3);
                   STRIA_ASSIGN(const Buffer none, bench.subject().allocate(0));
                   STRIA_ASSIGN(const Buffer some, bench.buffer(contents));
                   STRIA_RETURN_IF_ERROR(run(bench, none, some));
                   return bench.holds(some, contents, "a buffer beside that of 0 bytes");
                 });
}

void add_zero_cases(CaseMaker& maker) {
  add_zero_case(maker, "allocate",
                [](const Bench&, const Buffer&, const Buffer&) -> Status { return Status(); });
  add_zero_case(maker, "many", [](const Bench& bench, const Buffer&, const Buffer&) -> Status {
    std::vector<Buffer> all;
    for (int i = 0; i < 100; ++i) {
      STRIA_ASSIGN(Buffer buffer, bench.subject().allocate(0));
      all.push_back(std::move(buffer));
    }
    // Every second first: none may be another one's handle.
    for (size_t i = 0; i < all.size(); i += 2) all[i].reset();
    for (size_t i = 1; i < all.size(); i += 2)
      STRIA_RETURN_IF_ERROR(bench.holds(all[i], {}, "a buffer of 0 bytes"));
    return Status();
  });
  for (const MapMode mode : kMapModes) {
    add_zero_case(maker, fmt::format("map_{}", name_of(mode)),
                  [mode](const Bench& bench, const Buffer& none, const Buffer&) -> Status {
                    STRIA_ASSIGN(Mapped mapped, map_now(bench, mode, none, 0, 0));
                    return mapped.end();
                  });
    // Twice at once: ranges without bytes do not overlap.
    add_zero_case(maker, fmt::format("map_{}_twice", name_of(mode)),
                  [mode](const Bench& bench, const Buffer& none, const Buffer& some) -> Status {
                    STRIA_ASSIGN(Mapped first, map_now(bench, mode, none, 0, 0));
                    STRIA_ASSIGN(Mapped second, map_now(bench, mode, none, 0, 0));
                    STRIA_ASSIGN(Mapped at_end, map_now(bench, mode, some, 64, 0));
                    STRIA_ASSIGN(Mapped at_begin, map_now(bench, mode, some, 0, 0));
                    STRIA_RETURN_IF_ERROR(first.end());
                    STRIA_RETURN_IF_ERROR(second.end());
                    STRIA_RETURN_IF_ERROR(at_end.end());
                    return at_begin.end();
                  });
    add_zero_case(maker, fmt::format("map_{}_waits", name_of(mode)),
                  [mode](const Bench& bench, const Buffer& none, const Buffer&) -> Status {
                    STRIA_ASSIGN(const Event gate, bench.subject().host_event());
                    STRIA_ASSIGN(Mapped mapped,
                                 Mapped::make(bench, mode, none, 0, 0, list_of(gate)));
                    STRIA_RETURN_IF_ERROR(
                        bench.stays_open(mapped.ready(), "the event that it waits for is open"));
                    STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
                    STRIA_RETURN_IF_ERROR(bench.finish(mapped.ready()));
                    return mapped.end();
                  });
  }
  add_zero_case(maker, "copy",
                [](const Bench& bench, const Buffer& none, const Buffer& some) -> Status {
                  STRIA_RETURN_IF_ERROR(bench.finish(bench.copy(none, 0, some, 0, 0)));
                  STRIA_RETURN_IF_ERROR(bench.finish(bench.copy(some, 0, none, 0, 0)));
                  STRIA_RETURN_IF_ERROR(bench.finish(bench.copy(some, 64, none, 0, 0)));
                  return bench.finish(bench.copy(none, 0, some, 64, 0));
                });
  add_zero_case(maker, "fill",
                [](const Bench& bench, const Buffer& none, const Buffer& some) -> Status {
                  for (const uint64_t size : {1, 2, 4, 8, 16}) {
                    const Bytes repeated = pattern(size, 9);
                    STRIA_RETURN_IF_ERROR(bench.finish(bench.fill(none, 0, 0, repeated)));
                    STRIA_RETURN_IF_ERROR(bench.finish(bench.fill(some, 0, 0, repeated)));
                    STRIA_RETURN_IF_ERROR(bench.finish(bench.fill(some, 64, 0, repeated)));
                  }
                  return Status();
                });
  add_zero_case(
      maker, "copy_waits",
      [](const Bench& bench, const Buffer& none, const Buffer& some) -> Status {
        STRIA_ASSIGN(const Event gate, bench.subject().host_event());
        STRIA_ASSIGN(const Event done, bench.copy(some, 3, none, 0, 0, list_of(gate)));
        STRIA_RETURN_IF_ERROR(bench.stays_open(done, "the event that its copy waits for is open"));
        STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
        return bench.finish(done);
      });
  add_zero_case(
      maker, "fill_waits", [](const Bench& bench, const Buffer& none, const Buffer&) -> Status {
        STRIA_ASSIGN(const Event gate, bench.subject().host_event());
        STRIA_ASSIGN(const Event done, bench.fill(none, 0, 0, bytes_of(1, 7), list_of(gate)));
        STRIA_RETURN_IF_ERROR(bench.stays_open(done, "the event that its fill waits for is open"));
        STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
        return bench.finish(done);
      });
}

// ---- more than there is

// The numbers in a text; "1,000" and "1'000" are one each.
std::vector<std::string> numbers_in(const std::string& text) {
  std::vector<std::string> out;
  bool open = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](size_t at) {
      return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));
    };
    if (digit(i)) {
      if (!open) out.emplace_back();
      out.back() += text[i];
      open = true;
    } else if (!((text[i] == ',' || text[i] == '\'' || text[i] == '_') && open && digit(i + 1))) {
      open = false;
    }
  }
  return out;
}

// What a device says that is asked for more than any has.
Status refusal_of(const Bench& bench, uint64_t bytes, Status& refused) {
  stria_buffer_params params{};
  params.size = sizeof params;
  params.bytes = bytes;
  auto* const untouched = reinterpret_cast<stria_buffer*>(uintptr_t{0x51});
  stria_buffer* buffer = untouched;
  const Subject& subject = bench.subject();
  refused = Subject::failure(Slot::device_allocate,
                             subject.tables().device.allocate(subject.device(), &params, &buffer));
  if (refused.ok()) {
    if (buffer && buffer != untouched) subject.tables().buffer.release(buffer);
    return broken("device.allocate says that it has {} bytes", bytes);
  }
  if (buffer != untouched) return broken("device.allocate failed and wrote its output");
  return Status();
}

struct Huge {
  std::string_view name;
  uint64_t bytes;
};
constexpr Huge kHuge[] = {{"max", UINT64_MAX},
                          {"max_less_1", UINT64_MAX - 1},
                          {"max_less_15", UINT64_MAX - 15},
                          {"max_less_63", UINT64_MAX - 63},
                          {"max_less_255", UINT64_MAX - 255},
                          {"max_less_4095", UINT64_MAX - 4095},
                          {"2_to_63", uint64_t{1} << 63},
                          {"2_to_63_less_1", (uint64_t{1} << 63) - 1},
                          {"2_to_62", uint64_t{1} << 62},
                          {"2_to_60", uint64_t{1} << 60}};

void add_huge_cases(CaseMaker& maker) {
  for (const Huge& huge : kHuge)
    add_bench_case(maker, 'M', fmt::format("huge.{}", huge.name), Level::right, says::kAllocate,
                   [bytes = huge.bytes](const Bench& bench) -> Status {
                     Status refused;
                     STRIA_RETURN_IF_ERROR(refusal_of(bench, bytes, refused));
                     if (refused.code() != StatusCode::out_of_memory)
                       return broken("{} bytes are refused as {}, not as out of memory", bytes,
                                     refused.to_string());
                     const std::string asked = std::to_string(bytes);
                     for (const std::string& number : numbers_in(refused.message()))
                       if (number == asked) return Status();
                     return broken("the message does not say that {} bytes were asked for: {}",
                                   asked, refused.message());
                   });
  maker.add('M', "huge.says_what_is_free", Level::right, says::kAllocate,
            [](Subject& subject) -> Finding {
              if (subject.device_info().memory_bytes == 0)
                return Finding::skip("the device does not say how much memory it has");
              STRIA_ASSIGN(const Bench bench, Bench::make(subject));
              Status refused;
              STRIA_RETURN_IF_ERROR(refusal_of(bench, uint64_t{1} << 62, refused));
              const std::string asked = std::to_string(uint64_t{1} << 62);
              for (const std::string& number : numbers_in(refused.message()))
                if (number != asked) return {};
              return broken("the message says no number of bytes that there are: {}",
                            refused.message());
            });
  add_bench_case(maker, 'M', "huge.writes_no_output", Level::right, says::kNothingWritten,
                 [](const Bench& bench) -> Status {
                   Status refused;
                   return refusal_of(bench, uint64_t{1} << 61, refused);
                 });
  add_bench_case(maker, 'M', "huge.keeps_others", Level::right, says::kAllocate,
                 [](const Bench& bench) -> Status {
                   const Bytes contents = pattern(5000, 8);
                   STRIA_ASSIGN(const Buffer before, bench.buffer(contents));
                   for (const Huge& huge : kHuge) {
                     Status refused;
                     STRIA_RETURN_IF_ERROR(refusal_of(bench, huge.bytes, refused));
                   }
                   STRIA_ASSIGN(const Buffer after, bench.buffer(contents));
                   STRIA_RETURN_IF_ERROR(bench.finish(bench.fill(after, 5000, 1)));
                   return bench.holds(before, contents, "a buffer from before the refusals");
                 });
  // What a refusal takes and does not give back runs out in the end.
  add_bench_case(maker, 'M', "huge.often", Level::right, says::kAllocate,
                 [](const Bench& bench) -> Status {
                   Status refused;
                   for (int i = 0; i < 300; ++i)
                     STRIA_RETURN_IF_ERROR(refusal_of(bench, kHuge[0].bytes, refused));
                   const Bytes contents = pattern(100'000, 8);
                   STRIA_ASSIGN(const Buffer after, bench.buffer(contents));
                   return bench.holds(after, contents, "a buffer from after the refusals");
                 });
}

// ---- memories by name

constexpr std::string_view kMemory =
    "memory unit of the hardware model; empty: the device's main memory";

// Memory that the device gives keeps what is written there. Not every memory of a device can hold
// buffers: false, and why, where it gives none.
Result<bool> try_memory(const Bench& bench, std::string_view name, std::string& refused) {
  const Bytes contents = pattern(64, 77);
  const Result<Buffer> buffer = bench.subject().allocate(contents.size(), name);
  if (!buffer.ok()) {
    refused = buffer.status().message();
    return false;
  }
  STRIA_RETURN_IF_ERROR(bench.subject().write(*buffer, 0, contents));
  STRIA_RETURN_IF_ERROR(bench.holds(*buffer, contents, fmt::format("memory '{}'", name)));
  return true;
}

Status try_main(const Bench& bench, std::string_view name) {
  std::string refused;
  STRIA_ASSIGN(const bool given, try_memory(bench, name, refused));
  return given ? Status() : broken("{}", refused);
}

void add_name_cases(CaseMaker& maker) {
  add_bench_case(maker, 'M', "memory.main", Level::right, kMemory,
                 [](const Bench& bench) -> Status { return try_main(bench, ""); });
  // The text's size counts: what lies behind it is no part of the name.
  add_bench_case(maker, 'M', "memory.main_without_end", Level::right, kMemory,
                 [](const Bench& bench) -> Status {
                   return try_main(bench, std::string_view("nothing", 7).substr(0, 0));
                 });
  maker.add('M', "memory.units_of_the_model", Level::right, kMemory,
            [](Subject& subject) -> Finding {
              STRIA_ASSIGN(const Bench bench, Bench::make(subject));
              STRIA_ASSIGN(const auto model, reported_model(subject, subject.device_info().kind));
              if (!model) return broken("the open device is of no kind of the manifest's");
              std::string refused = "the model has no memory unit";
              bool given = false;
              for (const MemoryUnit& unit : model->memories) {
                STRIA_ASSIGN(const bool has, try_memory(bench, unit.name, refused));
                given |= has;
              }
              if (!given)
                return Finding::unsupported(
                    fmt::format("no memory is given by its name; of the last: {}", refused));
              return {};
            });
}

// What a device gives whose other users leave it half of what it has.
void add_capacity_case(CaseMaker& maker) {
  Case& c = maker.add(
      'M', "capacity.half_of_what_it_says", Level::honest,
      "of the memory that `allocate` uses; 0 if not known", [](Subject& subject) -> Finding {
        constexpr uint64_t kPieces = 32;
        const uint64_t has = subject.device_info().memory_bytes;
        if (has == 0) return Finding::skip("the device does not say how much memory it has");
        std::vector<Buffer> buffers;
        for (uint64_t piece = 0; piece < kPieces / 2; ++piece) {
          Result<Buffer> made = subject.allocate(has / kPieces);
          if (!made.ok() && made.status().code() == StatusCode::out_of_memory)
            return broken("it says that it has {} bytes, and after {} of them gives no {} more: {}",
                          has, piece * (has / kPieces), has / kPieces, made.status().message());
          STRIA_RETURN_IF_ERROR(made.status());
          buffers.push_back(*std::move(made));
        }
        return {};
      });
  c.limit = std::chrono::seconds(60);
  // Twice as much as there is, one after the other.
  maker.add('M', "capacity.comes_back", Level::robust, says::kAllocate,
            [](Subject& subject) -> Finding {
              constexpr uint64_t kPieces = 32;
              const uint64_t has = subject.device_info().memory_bytes;
              if (has == 0) return Finding::skip("the device does not say how much memory it has");
              for (uint64_t piece = 0; piece < 2 * kPieces; ++piece) {
                Result<Buffer> made = subject.allocate(has / kPieces);
                if (made.ok()) continue;
                return broken("of buffers of {} bytes, each given back, number {} is refused: {}",
                              has / kPieces, piece, made.status().message());
              }
              return {};
            });
}

}  // namespace

void add_memory_allocation_cases(CaseMaker& maker) {
  add_size_cases(maker);
  add_zero_cases(maker);
  add_huge_cases(maker);
  add_name_cases(maker);
  add_capacity_case(maker);
}

}  // namespace stria::conformance
