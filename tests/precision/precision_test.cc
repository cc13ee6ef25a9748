// SPDX-License-Identifier: Apache-2.0
// How exact every builtin is in every float type on every plugin, against functions of more digits
// (exact_function.h), held to the bound in its record. Each call runs as the device's own pipeline
// makes it and once more without lanes. A device whose model says that it takes subnormal numbers
// for zero may do so (flushed_result.h); such results are counted. STRIA_PRECISION_SAMPLES=N tries
// N operands of each call (a fifth of them in fp64) in place of a few thousand, every call on
// drivers that compile slowly, and prints a table.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "../chosen_device.h"
#include "../lacked_types.h"
#include "../plugin_folder.h"
#include "exact_function.h"
#include "flushed_result.h"
#include "operands.h"
#include "stria/builtins/builtin.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/stria.h"

namespace stria::precision {
namespace {

// No multiple of any number of lanes: the last ones are masked.
constexpr int64_t kPiece = 65521;
constexpr int64_t kShortPiece = 8219;

uint64_t wanted_samples() {
  const char* text = std::getenv("STRIA_PRECISION_SAMPLES");
  return text ? std::strtoull(text, nullptr, 10) : 0;
}

// A builtin with operands of certain types.
struct Call {
  const Builtin* builtin = nullptr;
  std::string name;  // "exp.fp32", "as_int.fp32.i8"
  std::string expression;
  std::vector<DataType> operands;
  DataType cast = DataType::boolean;  // of casts: the result

  std::string tile() const {
    return fmt::format("function sweep({}) -> (R) {{ R = {}; }}",
                       operands.size() == 1   ? "A[N]"
                       : operands.size() == 2 ? "A[N], B[N]"
                                              : "A[N], B[N], C[N]",
                       expression);
  }
  Exact exact(const Exact* x) const {
    return builtin->types == TypeRule::cast ? exact_cast(cast, x[0])
                                            : exact_function(builtin->name)(x);
  }
  // In ULPs of a result of `type`. What 16 bits store was computed in fp32, with that error, and
  // rounded once; a cast rounds once.
  double bound(DataType type) const {
    const double own = ulp_bound(*builtin, type);
    if (byte_size(type) > 2 || own == 0 || builtin->types == TypeRule::cast) return own;
    const int finer = format_of(DataType::fp32).fraction - format_of(type).fraction;
    return own + std::ldexp(ulp_bound(*builtin, DataType::fp32), -finer);
  }
};

void add_casts(const Builtin& builtin, DataType from, std::vector<Call>& out) {
  const bool wide = builtin.arity == 2;
  for (int bits : wide ? std::vector<int>{8, 16, 32, 64} : std::vector<int>{0}) {
    Result<DataType> to = cast_type(builtin, bits);
    // Between integers nothing is rounded, and no number leaves the meaning of exact_cast.
    // tests/differential/packed_test.cc tries all numbers of packed types.
    if (!to.ok() || is_packed(*to) || (!is_float(from) && !is_float(*to))) continue;
    Call call{&builtin,
              fmt::format("{}.{}.{}", builtin.name, name_of(from), name_of(*to)),
              wide ? fmt::format("{}(A, {})", builtin.name, bits) : "as_bool(A)",
              {from},
              *to};
    out.push_back(std::move(call));
  }
}

std::vector<Call> calls_of(const Builtin& builtin) {
  std::vector<Call> out;
  for (int t = 0; t < kDataTypeCount; ++t) {
    const DataType type = static_cast<DataType>(t);
    if (builtin.types == TypeRule::cast) {
      add_casts(builtin, type, out);
    } else if (is_float(type) && builtin.types != TypeRule::bits) {
      const std::vector<std::string> names = {"A", "B", "C"};
      const std::vector<std::string> used(names.begin(), names.begin() + builtin.arity);
      out.push_back({&builtin, fmt::format("{}.{}", builtin.name, name_of(type)),
                     fmt::format("{}({})", builtin.name, fmt::join(used, ", ")),
                     std::vector<DataType>(used.size(), type)});
    }
  }
  return out;
}

struct Target {
  Device device;
  bool lanes = true;  // as the device's pipeline makes it
  std::string name() const { return device.info().plugin + (lanes ? "" : ", no lanes"); }
};

// In a short run a device whose driver compiles every call anew gets one of so many calls, and only
// as its pipeline makes them. The driver behind opencl takes a second for each.
uint64_t one_of(const Target& target) {
  if (LackedTypes().any()) return 1;  // few calls are left
  const std::string& plugin = target.device.info().plugin;
  return plugin == "opencl" ? 16 : 1;
}

LackedTypes& lacked() {
  static LackedTypes types;
  return types;
}

// The first available device of each plugin, with and without lanes.
const std::vector<Target>& targets() {
  static const std::vector<Target> open = [] {
    RuntimeOptions options;
    options.plugin_paths = {plugin_folder(STRIA_BINARY_DIR "/lib/stria/plugins")};
    options.only_plugin_paths = true;
    const Runtime runtime(options);
    std::vector<Target> out;
    for (const std::string& plugin : tested_plugins({STRIA_PLUGINS})) {
      Result<Device> device = runtime.open(chosen_device(plugin));
      if (!device.ok()) {
        std::printf("%s is not there: %s\n", plugin.c_str(), device.status().message().c_str());
        continue;
      }
      out.push_back({*device, true});
      if (device->info().plugin != "reference") out.push_back({*device, false});
    }
    return out;
  }();
  return open;
}

// A result.
struct Wanted {
  Exact exact = 0;
  long double near = 0;   // exact, rounded
  long double units = 0;  // of its last place that make 1
};

// One call on one target, compiled for pieces of one size.
class Sweep {
 public:
  Sweep(const Target& target, const Call& call, int64_t count)
      : target_(target),
        call_(call),
        flushed_types_(Inside::model(target.device).flushed_subnormals) {
    status_ = prepare(count);
  }
  const Status& status() const { return status_; }

  DataType type() const { return output_.type(); }

  // `wanted` belongs to `operands`.
  void run(const std::vector<std::string>& operands, const std::vector<Wanted>& wanted) {
    for (size_t i = 0; i < operands.size() && status_.ok(); ++i)
      status_ = inputs_[i].write(operands[i]);
    if (status_.ok()) status_ = run_once();
    if (!status_.ok()) return;
    Result<HostTensor> result = output_.read();
    if (!result.ok()) {
      status_ = result.status();
      return;
    }
    const double bound = call_.bound(type());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const long double got = load(type(), result->data(), static_cast<int64_t>(i));
      // Rounded to a long double the exact number is off by less than 2^-11 ULP: most results are
      // seen to be neither the worst nor beyond the bound without the slow arithmetic.
      const long double about = std::fabs(got - wanted[i].near) * wanted[i].units;
      if (about < std::min(worst_, bound) - 0x1p-10L) continue;
      const double apart = is_float(type())         ? ulps_apart(type(), got, wanted[i].exact)
                           : got == wanted[i].exact ? 0
                                                    : std::numeric_limits<double>::infinity();
      if (apart > bound && is_right_flushed(operands, static_cast<int64_t>(i), got)) {
        ++flushed_;
        continue;
      }
      if (apart > bound) ++beyond_;
      if (apart <= worst_) continue;
      worst_ = apart;
      at_.clear();
      for (size_t k = 0; k < operands.size(); ++k)
        at_ += (k ? ", " : "") +
               shown(load(call_.operands[k], operands[k].data(), static_cast<int64_t>(i)));
      got_ = got;
      exact_ = wanted[i].exact;
    }
    total_ += wanted.size();
  }

  // "" or what was beyond the bound.
  std::string failure() const {
    if (!status_.ok())
      return fmt::format("{} on {}: {}", call_.name, target_.name(), status_.to_string());
    if (beyond_ == 0) return "";
    return fmt::format(
        "{} on {}: {} of {} results beyond {} ULP, the worst {} ULP: at {} got {}, not {}",
        call_.name, target_.name(), beyond_, total_, call_.bound(type()), worst_, at_, shown(got_),
        shown(exact_));
  }
  std::string row() const {
    return fmt::format("{:18} {:20} {:10} {:10.4f} {:8.4f}  {}{}", call_.name, target_.name(),
                       total_, worst_, call_.bound(type()), at_,
                       flushed_ > 0 ? fmt::format("  {} flushed", flushed_) : "");
  }

 private:
  bool is_right_flushed(const std::vector<std::string>& operands, int64_t i,
                        long double got) const {
    if (!flushed_types_.any()) return false;
    Exact x[3] = {};
    for (size_t k = 0; k < operands.size(); ++k)
      x[k] = load(call_.operands[k], operands[k].data(), i);
    return is_right_if_flushed({[this](const Exact* of) { return call_.exact(of); }, call_.operands,
                                type(), call_.bound(type())},
                               flushed_types_, x, got);
  }
  Status prepare(int64_t count) {
    STRIA_ASSIGN(const Program program, Program::from_tile({call_.name, call_.tile()}));
    InputTypes types;
    const char* const names[] = {"A", "B", "C"};
    for (size_t i = 0; i < call_.operands.size(); ++i)
      types[names[i]] = {call_.operands[i], {count}};
    CompileOptions options;
    // The simulator asks of each tensor where it is.
    if (!target_.lanes)
      options.pipeline = {"without lanes", target_.device.info().plugin == "sim"
                                               ? R"([{"agg_init": {}},
                    {"locate_memory": {"reqs": ["program"], "loc": {"name": "DRAM"}}},
                    {"locate_memory": {"reqs": ["main"], "loc": {"name": "DRAM"}}}])"
                                               : R"([{"name": "agg_init", "agg_init": {}}])"};
    STRIA_ASSIGN(executable_, target_.device.compile(program, types, options));
    for (DataType type : call_.operands) {
      STRIA_ASSIGN(Tensor tensor, target_.device.create_tensor(type, {count}));
      inputs_.push_back(tensor);
    }
    STRIA_ASSIGN(output_, target_.device.create_tensor(executable_.outputs()[0]));
    return {};
  }
  Status run_once() {
    STRIA_ASSIGN(const Event done, executable_.run(inputs_, std::span(&output_, 1)));
    return done.wait();
  }

  const Target& target_;
  const Call& call_;
  const FlushedTypes flushed_types_;
  Status status_;
  Executable executable_;
  std::vector<Tensor> inputs_;
  Tensor output_;
  uint64_t total_ = 0, beyond_ = 0, flushed_ = 0;
  double worst_ = 0;
  std::string at_;
  Exact got_ = 0, exact_ = 0;
};

class Precision : public testing::TestWithParam<const Builtin*> {
 public:
  static void TearDownTestSuite() { lacked().expect_both(); }
};

TEST_P(Precision, StaysWithinTheBoundOfTheRecord) {
  ASSERT_GE(targets().size(), std::getenv("STRIA_TEST_PLUGINS") ? 1u : 3u);
  static uint64_t number = 0;
  for (const Call& call : calls_of(*GetParam())) {
    ++number;
    Operands operands(call.operands);
    const bool exhaustive = call.operands.size() == 1 && bit_width(call.operands[0]) <= 16;
    uint64_t samples = wanted_samples();
    if (call.operands[0] == DataType::fp64) samples /= 5;
    const int64_t piece = exhaustive || samples > 0 ? kPiece : kShortPiece;
    if (exhaustive) samples = 0;
    samples = std::max(samples, operands.listed());
    std::vector<Sweep> sweeps;
    for (const Target& target : targets()) {
      const uint64_t part = wanted_samples() > 0 ? 1 : one_of(target);
      if (part > 1 && (!target.lanes || number % part != 0)) continue;
      sweeps.emplace_back(target, call, piece);
      if (lacked().refused(target.device, sweeps.back().status()))
        sweeps.pop_back();
      else if (sweeps.back().status().ok())
        lacked().ran();
    }
    if (sweeps.empty()) continue;
    for (uint64_t done = 0; done < samples; done += static_cast<uint64_t>(piece)) {
      const std::vector<std::string> elements = operands.next(piece);
      std::vector<Wanted> wanted;
      for (int64_t i = 0; i < piece; ++i) {
        Exact x[3] = {};
        for (size_t k = 0; k < elements.size(); ++k)
          x[k] = load(call.operands[k], elements[k].data(), i);
        const Exact exact = call.exact(x);
        wanted.push_back({exact, static_cast<long double>(exact), units(sweeps[0].type(), exact)});
      }
      for (Sweep& sweep : sweeps) sweep.run(elements, wanted);
    }
    for (const Sweep& sweep : sweeps) {
      EXPECT_EQ(sweep.failure(), "");
      if (wanted_samples() > 0) std::printf("%s\n", sweep.row().c_str());
    }
  }
}

std::vector<const Builtin*> builtins_of_floats() {
  std::vector<const Builtin*> out;
  for (const Builtin* builtin : all_builtins())
    if (!calls_of(*builtin).empty()) out.push_back(builtin);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Builtins, Precision, testing::ValuesIn(builtins_of_floats()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(ExactFunctions, EveryBuiltinOfFloatsHasOne) {
  for (const Builtin* builtin : builtins_of_floats())
    EXPECT_TRUE(builtin->types == TypeRule::cast || exact_function(builtin->name) != nullptr)
        << builtin->name;
  EXPECT_GE(builtins_of_floats().size(), 45u);
}

// Rule M23.
TEST(FlushedResults, MayBeZeroWhereSubnormalNumbersAre) {
  FlushedTypes flushed;
  flushed.add(DataType::fp32);
  const Exact least = 0x1p-126L, tiny = 0x1p-130L;
  const auto right = [&](const char* name, std::vector<Exact> x, Exact got, double bound = 0) {
    return is_right_if_flushed(
        {exact_function(name), std::vector<DataType>(x.size(), DataType::fp32), DataType::fp32,
         bound},
        flushed, x.data(), got);
  };
  EXPECT_TRUE(right("add", {tiny, tiny}, 2 * tiny));
  EXPECT_TRUE(right("add", {tiny, tiny}, 0));
  EXPECT_TRUE(right("add", {tiny, 1}, 1, 0.5));
  EXPECT_FALSE(right("add", {tiny, least}, 0)) << "a normal number is lost";
  EXPECT_FALSE(right("add", {1, 1}, 2 + 0x1p-20L, 0.5));
  EXPECT_FALSE(right("sub", {1, 1}, tiny)) << "a zero of normal operands is one";
  EXPECT_TRUE(right("mul", {0x1p-100L, 0x1p-100L}, 0, 0.5));
  EXPECT_TRUE(right("log", {tiny}, -std::numeric_limits<long double>::infinity()));
  EXPECT_FALSE(right("log", {tiny}, -104.665L, 3)) << "neither that of 2^-130 nor that of 0";
  EXPECT_TRUE(right("max", {tiny, -tiny}, -tiny));
  EXPECT_FALSE(right("max", {tiny, least}, tiny));
  EXPECT_FALSE(right("neg", {least}, 0));
  const Exact x = tiny;
  EXPECT_FALSE(is_right_if_flushed({exact_function("neg"), {DataType::fp32}}, {}, &x, 0));
}

}  // namespace
}  // namespace stria::precision
