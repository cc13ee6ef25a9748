// SPDX-License-Identifier: Apache-2.0
#include "host_rates.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "emit/compiled_kernels.h"
#include "stria/base/diagnostic.h"
#include "stria/stripe/text/parser.h"
#include "stria/type/data_type.h"

namespace stria::llvm_cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kRows = 6;          // of the tile of multiply-adds, as in passes/cpu.json
constexpr int64_t kDepth = 64;        // its reduction: both operands stay in the first cache
constexpr int64_t kPasses = 16;       // over it, so that clearing and storing do not count
constexpr int64_t kSumVectors = 8;    // running sums of the loop that only reads
constexpr int64_t kChunk = 16 << 10;  // bytes that it reads
constexpr int64_t kSlice = 8 << 20;   // bytes read from memory for each type
constexpr int64_t kMaxBuffer = 256 << 20;
constexpr const char* kTypes[] = {"fp32", "fp64", "fp16", "bf16", "i32", "i8", "i16"};
constexpr int64_t kTypeCount = std::size(kTypes);

// The shortest time that `run` takes, in seconds: of ten tries of about 0.2 ms, or longer if it
// takes so long.
template <typename Run>
double best_seconds(const Run& run) {
  auto seconds_of = [&](int64_t count) {
    const Clock::time_point begin = Clock::now();
    for (int64_t i = 0; i < count; ++i) run();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  int64_t count = 1;
  double best = seconds_of(1);
  while (best * static_cast<double>(count) < 2e-4 && count < (1 << 20)) {
    count *= 2;
    best = std::min(best, seconds_of(count) / static_cast<double>(count));
  }
  for (int i = 0; i < 10; ++i)
    best = std::min(best, seconds_of(count) / static_cast<double>(count));
  return best;
}

// Additions that each need the one before take a cycle each on every processor that this runs on.
double clock_hertz() {
  constexpr int kAdditions = 64;
  const double seconds = best_seconds([] {
    uint64_t sum = 1, step = 3;  // in registers: memory would take longer
    for (int i = 0; i < 256; ++i)
#pragma GCC unroll 64
      for (int j = 0; j < kAdditions; ++j) {
        sum += step;
        asm volatile("" : "+r"(sum), "+r"(step));
      }
  });
  return 256 * kAdditions / seconds;
}

struct Shape {
  std::string type, sum_type;
  int64_t bytes = 0;    // of an element
  int64_t lanes = 0;    // of a vector of sums
  int64_t vectors = 0;  // of a row of the tile
  int64_t row() const { return lanes * vectors; }
  int64_t steps() const { return kChunk / (bytes * lanes * kSumVectors); }
};

// Two kernels in device Stripe. The first is what the passes make of a matrix product whose
// operands are at hand: a tile of sums in registers. The second adds up what it reads, in vectors.
std::string program_text(const Shape& s) {
  const bool is_float = s.sum_type[0] == 'f';
  const std::string zero = fmt::format("({}){}", s.sum_type, is_float ? "0.0" : "0");
  return fmt::format(
      R"(stripe 1.0
0: #program block [] (
    none new@0x0 A[0, 0] {T}({K}:{R}, {R}:1)
    none new@0x0 B[0, 0] {T}({K}:{W}, {W}:1)
    none new@0x0 O[0, 0] {S}({R}:{W}, {W}:1)
    none new@0x0 X[0] {T}({X}:1)
    none new@0x0 Y[0] {S}({Y}:1)
) {{
  0: #main block [] (
      in A[0, 0] {T}({K}:{R}, {R}:1)
      in B[0, 0] {T}({K}:{W}, {W}:1)
      out O[0, 0] {S}({R}:{W}, {W}:1)
      in X[0] {T}({X}:1)
      out Y[0] {S}({Y}:1)
  ) {{
    0: #contraction #kernel block<CORE[x]> [x:1] ( // multiply_add
        in A[0, 0] {T}(1:{R}, 1:1)
        in B[0, 0] {T}(1:{W}, 1:1)
        out O[0, 0] {S}(1:{W}, 1:1)
    ) {{
      0: block [x:1 = x] (
          in A[0, 0] {T}(1:{R}, 1:1)
          in B[0, 0] {T}(1:{W}, 1:1)
          out O[0, 0] {S}(1:{W}, 1:1)
          none new@0x0<REG> sums[0, 0, 0] {S}({R}:{W}, {V}:{L}, {L}:1)
      ) {{
        0: #unroll block [r:{R}, v:{V}] (
            out sums[r, v, 0] {S}(1:{W}, 1:{L}, 1:1)
        ) {{
          0: #vector block [l:{L}] (
              out sums[0, 0, l] {S}(1:{W}, 1:{L}, 1:1)
          ) {{
            0: $z = {zero}
            1: sums = store($z)
          }}
        }}
        1: block [p:{P}, k:{K}] (
            in A[k, 0] {T}(1:{R}, 1:1)
            in B[k, 0] {T}(1:{W}, 1:1)
            inout sums[0, 0, 0]:add.{S} {S}(1:{W}, 1:{L}, 1:1)
        ) {{
          0: #unroll block [r:{R}, v:{V}] (
              in A[0, r] {T}(1:{R}, 1:1)
              in B[0, {L}*v] {T}(1:{W}, 1:1)
              inout sums[r, v, 0]:add.{S} {S}(1:{W}, 1:{L}, 1:1)
          ) {{
            0: #vector block [l:{L}] (
                in A[0, 0] {T}(1:{R}, 1:1)
                in B[0, l] {T}(1:{W}, 1:1)
                inout sums[0, 0, l]:add.{S} {S}(1:{W}, 1:{L}, 1:1)
            ) {{
              0: $a = load(A)
              1: $b = load(B)
              2: $m = mul.{S}($a, $b)
              3: sums = store($m)
            }}
          }}
        }}
        2: #unroll block [r:{R}, v:{V}] (
            in sums[r, v, 0] {S}(1:{W}, 1:{L}, 1:1)
            out O[r, {L}*v] {S}(1:{W}, 1:1)
        ) {{
          0: #vector block [l:{L}] (
              in sums[0, 0, l] {S}(1:{W}, 1:{L}, 1:1)
              out O[0, l] {S}(1:{W}, 1:1)
          ) {{
            0: $s = load(sums)
            1: O = store($s)
          }}
        }}
      }}
    }}
    1: #kernel block<CORE[x]> [x:1] ( // read
        in X[0] {T}(1:1)
        out Y[0] {S}(1:1)
    ) {{
      0: block [x:1 = x] (
          in X[0] {T}(1:1)
          out Y[0] {S}(1:1)
          none new@0x0<REG> sums[0, 0] {S}({M}:{L}, {L}:1)
      ) {{
        0: #unroll block [m:{M}] (
            out sums[m, 0] {S}(1:{L}, 1:1)
        ) {{
          0: #vector block [l:{L}] (
              out sums[0, l] {S}(1:{L}, 1:1)
          ) {{
            0: $z = {zero}
            1: sums = store($z)
          }}
        }}
        1: block [i:{N}] (
            in X[{Y}*i] {T}(1:1)
            inout sums[0, 0]:add.{S} {S}(1:{L}, 1:1)
        ) {{
          0: #unroll block [m:{M}] (
              in X[{L}*m] {T}(1:1)
              inout sums[m, 0]:add.{S} {S}(1:{L}, 1:1)
          ) {{
            0: #vector block [l:{L}] (
                in X[l] {T}(1:1)
                inout sums[0, l]:add.{S} {S}(1:{L}, 1:1)
            ) {{
              0: $x = load(X)
              1: $s = ident.{S}($x)
              2: sums = store($s)
            }}
          }}
        }}
        2: #unroll block [m:{M}] (
            in sums[m, 0] {S}(1:{L}, 1:1)
            out Y[{L}*m] {S}(1:1)
        ) {{
          0: #vector block [l:{L}] (
              in sums[0, l] {S}(1:{L}, 1:1)
              out Y[l] {S}(1:1)
          ) {{
            0: $s = load(sums)
            1: Y = store($s)
          }}
        }}
      }}
    }}
  }}
}}
)",
      fmt::arg("T", s.type), fmt::arg("S", s.sum_type), fmt::arg("R", kRows),
      fmt::arg("V", s.vectors), fmt::arg("L", s.lanes), fmt::arg("W", s.row()),
      fmt::arg("K", kDepth), fmt::arg("P", kPasses), fmt::arg("M", kSumVectors),
      fmt::arg("N", s.steps()), fmt::arg("X", kChunk / s.bytes),
      fmt::arg("Y", kSumVectors * s.lanes), fmt::arg("zero", zero));
}

// Memory that has been written, aligned to a page; null if there is not so much.
class Buffer {
 public:
  explicit Buffer(int64_t bytes)
      : bytes_(new(std::align_val_t(4096), std::nothrow) std::byte[static_cast<size_t>(bytes)]) {
    if (bytes_) std::memset(bytes_.get(), 0, static_cast<size_t>(bytes));
  }
  std::byte* at(int64_t offset) const { return bytes_.get() + offset; }
  explicit operator bool() const { return bytes_ != nullptr; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t(4096)); }
  };
  std::unique_ptr<std::byte[], Free> bytes_;
};

class Measurement {
 public:
  Measurement(const Processor& processor, std::chrono::milliseconds limit)
      : processor_(processor), end_(Clock::now() + limit) {}

  HostRates run() {
    HostRates out;
    best_seconds([&] { clock_hertz(); });  // the clock rises when there is work
    hertz_ = clock_hertz();
    out.clock_mhz = hertz_ / 1e6;
    // What was written first is read, when the last cache holds what was written after it.
    const int64_t last_cache = std::max(processor_.l3_KiB, processor_.l2_KiB) << 10;
    const int64_t behind = std::min(2 * last_cache, kMaxBuffer - kTypeCount * kSlice);
    const bool memory = last_cache > 0 && behind >= last_cache && in_time();
    const Buffer large(memory ? kTypeCount * kSlice + behind : 1);
    for (int64_t n = 0; n < kTypeCount && in_time(); ++n) {
      auto rates = of_type(kTypes[n], memory && large ? large.at(n * kSlice) : nullptr);
      if (!rates.ok()) continue;
      out.types[kTypes[n]] = *rates;
    }
    out.complete = in_time() && !out.types.empty();
    return out;
  }

 private:
  bool in_time() const { return Clock::now() < end_; }

  Result<HostRates::OfType> of_type(const std::string& name, std::byte* slice) const {
    const DataType type = *parse_data_type(name), sum = accumulation_type(type);
    Shape shape;
    shape.type = name;
    shape.sum_type = name_of(sum);
    shape.bytes = byte_size(type);
    shape.lanes = processor_.vector_bytes / byte_size(sum);
    shape.vectors = processor_.vector_registers >= 32 ? 4 : 2;
    STRIA_ASSIGN(stripe::Program program,
                 stripe::parse({"kernels that measure", program_text(shape)}));
    STRIA_ASSIGN(std::unique_ptr<CompiledKernels> code, compile_kernels(program));
    if (code->kernels().size() != 2 || !in_time())
      return make_error(StatusCode::deadline_exceeded, "no time left");

    const Buffer small(std::max<int64_t>(256 << 10, processor_.l2_KiB << 9));
    if (!small) return make_error(StatusCode::out_of_memory, "no memory to measure with");
    HostRates::OfType out;
    const double bytes_per_cycle = static_cast<double>(kChunk) / hertz_;
    // Arguments: what is written, then what is read; operands in caches of their own.
    const KernelEntry multiply_add = code->kernels()[0].entry, read = code->kernels()[1].entry;
    void* product[] = {small.at(64 << 10), small.at(0), small.at(8 << 10)};
    const double operations = 2.0 * kPasses * kDepth * kRows * static_cast<double>(shape.row());
    out.ops_per_cycle = operations / hertz_ / best_seconds([&] { multiply_add(product, 0, 1); });
    std::byte sums[4096];
    auto read_at = [&](std::byte* from) {
      void* arguments[] = {sums, from};
      read(arguments, 0, 1);
    };
    out.l1_bytes = bytes_per_cycle / best_seconds([&] { read_at(small.at(0)); });
    // Half of the second cache, over and over.
    const int64_t chunks = (processor_.l2_KiB << 9) / kChunk;
    if (processor_.l2_KiB >= 4 * processor_.l1_KiB && chunks > 0)
      out.l2_bytes = static_cast<double>(chunks) * bytes_per_cycle / best_seconds([&] {
                       for (int64_t i = 0; i < chunks; ++i) read_at(small.at(i * kChunk));
                     });
    if (!slice) return out;
    out.dram_bytes = bytes_per_cycle / cold_seconds(slice, read_at);
    // What has just come, again: more than the second cache holds, and half of the third at most.
    const int64_t again = std::min(kSlice, processor_.l3_KiB << 9) / kChunk;
    if (processor_.l3_KiB >= 8 * processor_.l2_KiB && 2 * chunks < again)
      out.l3_bytes = static_cast<double>(again) * bytes_per_cycle / best_seconds([&] {
                       for (int64_t i = 0; i < again; ++i) read_at(slice + i * kChunk);
                     });
    return out;
  }

  // Of one chunk, when each is read for the first time: the best quarter of the slice.
  template <typename ReadAt>
  static double cold_seconds(std::byte* slice, const ReadAt& read_at) {
    double best = std::numeric_limits<double>::max();
    for (int64_t part = 0; part < 4; ++part) {
      const Clock::time_point begin = Clock::now();
      for (int64_t at = 0; at < kSlice / 4; at += kChunk) read_at(slice + part * (kSlice / 4) + at);
      best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
    }
    return best / (kSlice / 4 / kChunk);
  }

  const Processor& processor_;
  const Clock::time_point end_;
  double hertz_ = 0;
};

}  // namespace

HostRates measure_host_rates(const Processor& processor, std::chrono::milliseconds limit) {
  return Measurement(processor, limit).run();
}

}  // namespace stria::llvm_cpu
