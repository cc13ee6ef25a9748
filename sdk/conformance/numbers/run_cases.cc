// SPDX-License-Identifier: Apache-2.0
#include "numbers/run_cases.h"

#include <thread>

#include "suite/program_run.h"

namespace stria::conformance {
namespace {

constexpr int64_t kRows = 5, kColumns = 33;

using Numbers = std::vector<int32_t>;

Numbers numbers(size_t count, int32_t seed) {
  Numbers out(count);
  for (size_t i = 0; i < count; ++i)
    out[i] = static_cast<int32_t>((i * 37 + static_cast<size_t>(seed) * 101) % 1009) - 500;
  return out;
}
Numbers input(int32_t seed) { return numbers(kColumns, seed); }
Numbers weights(int32_t seed) { return numbers(kRows * kColumns, seed); }

// R = 3 * A + the sums of the columns of W, which may be a constant.
Numbers expected(const Numbers& a, const Numbers& w) {
  Numbers out(a.size());
  for (size_t j = 0; j < a.size(); ++j) {
    out[j] = 3 * a[j];
    for (size_t i = 0; i < kRows; ++i) out[j] += w[i * kColumns + j];
  }
  return out;
}

Status check(const ::stria::Tensor& result, const Numbers& wanted) {
  STRIA_ASSIGN(const Numbers got, result.read_values<int32_t>());
  for (size_t i = 0; i < wanted.size(); ++i)
    if (got[i] != wanted[i])
      return broken_rule(Rule::equal, "element {} of the result is {}, not {}", i, got[i],
                         wanted[i]);
  return Status();
}

// The program, loaded on the device under test.
class Loaded {
 public:
  static Result<Loaded> make(const Subject& subject, bool constant = true,
                             CompileOptions options = {}) {
    Loaded out;
    STRIA_ASSIGN(out.device, product_device(subject));
    STRIA_ASSIGN(const Program program,
                 Program::from_tile({"conform.tile",
                                     "function (A[N], W[M, N]) -> (R) {\n"
                                     "  S[j : N] = +(W[i, j]);\n  R = A * 3 + S;\n}\n"}));
    if (constant) options.constants = {"W"};
    STRIA_ASSIGN(out.executable, out.device.compile(program,
                                                    {{"A", {DataType::i32, {kColumns}}},
                                                     {"W", {DataType::i32, {kRows, kColumns}}}},
                                                    options));
    return out;
  }
  Result<::stria::Tensor> a(int32_t seed) const {
    return device.create_tensor({kColumns}, input(seed));
  }
  Result<::stria::Tensor> w(int32_t seed) const {
    return device.create_tensor({kRows, kColumns}, weights(seed));
  }
  Result<::stria::Tensor> result() const { return device.create_tensor(DataType::i32, {kColumns}); }

  ::stria::Device device;
  Executable executable;
};

Finding other_inputs(Subject& subject) {
  STRIA_ASSIGN(const Loaded loaded, Loaded::make(subject));
  STRIA_ASSIGN(const ::stria::Tensor a, loaded.a(0));
  STRIA_ASSIGN(const ::stria::Tensor w, loaded.w(0));
  STRIA_ASSIGN(const ::stria::Tensor r, loaded.result());
  for (int32_t seed = 1; seed < 5; ++seed) {
    STRIA_RETURN_IF_ERROR(a.write_values(input(seed)));
    STRIA_ASSIGN(const ::stria::Event done, loaded.executable.run({a, w}, {r}));
    STRIA_RETURN_IF_ERROR(done.wait());
    STRIA_RETURN_IF_ERROR(check(r, expected(input(seed), weights(0))));
  }
  return {};
}

// Inputs as small as what drivers keep with a launch: each run has numbers of its own.
Finding other_small_inputs(Subject& subject) {
  STRIA_ASSIGN(const ::stria::Device device, product_device(subject));
  for (const int64_t elements : {1, 2, 4, 16, 32, 64}) {
    STRIA_ASSIGN(const Program program, Program::from_tile({"conform.tile",
                                                            "function (A, B, S) -> (R) {\n"
                                                            "  R = A * S + B;\n}\n"}));
    STRIA_ASSIGN(const Executable executable,
                 device.compile(program, {{"A", {DataType::i32, {kColumns, 1}}},
                                          {"B", {DataType::i32, {elements}}},
                                          {"S", {DataType::i32, {}}}}));
    const auto count = static_cast<size_t>(elements);
    for (int32_t seed = 1; seed < 4; ++seed) {
      const Numbers of_a = input(seed), of_b = numbers(count, seed + 7), of_s = {seed * 3};
      STRIA_ASSIGN(const ::stria::Tensor a, device.create_tensor({kColumns, 1}, of_a));
      STRIA_ASSIGN(const ::stria::Tensor b, device.create_tensor({elements}, of_b));
      STRIA_ASSIGN(const ::stria::Tensor s, device.create_tensor({}, of_s));
      STRIA_ASSIGN(const ::stria::Tensor r,
                   device.create_tensor(DataType::i32, {kColumns, elements}));
      STRIA_ASSIGN(const ::stria::Event done, executable.run({a, b, s}, {r}));
      STRIA_RETURN_IF_ERROR(done.wait());
      Numbers wanted;
      for (const int32_t of_row : of_a)
        for (const int32_t of_column : of_b) wanted.push_back(of_row * of_s[0] + of_column);
      STRIA_RETURN_IF_ERROR(check(r, wanted));
    }
  }
  return {};
}

Finding other_constants(Subject& subject) {
  STRIA_ASSIGN(const Loaded loaded, Loaded::make(subject));
  STRIA_ASSIGN(const ::stria::Tensor a, loaded.a(0));
  STRIA_ASSIGN(const ::stria::Tensor w, loaded.w(0));
  STRIA_ASSIGN(const ::stria::Tensor r, loaded.result());
  for (int32_t seed = 1; seed < 4; ++seed) {
    STRIA_RETURN_IF_ERROR(w.write_values(weights(seed)));
    STRIA_ASSIGN(const ::stria::Event done, loaded.executable.run({a, w}, {r}));
    STRIA_RETURN_IF_ERROR(done.wait());
    STRIA_RETURN_IF_ERROR(check(r, expected(input(0), weights(seed))));
  }
  return {};
}

Finding constants_in_turn(Subject& subject) {
  STRIA_ASSIGN(const Loaded loaded, Loaded::make(subject));
  STRIA_ASSIGN(const ::stria::Tensor a, loaded.a(0));
  STRIA_ASSIGN(const ::stria::Tensor first, loaded.w(1));
  STRIA_ASSIGN(const ::stria::Tensor second, loaded.w(2));
  std::vector<::stria::Tensor> results;
  // None is waited for: the prologue of one binding runs beside main of another.
  for (int i = 0; i < 6; ++i) {
    STRIA_ASSIGN(const ::stria::Tensor r, loaded.result());
    STRIA_RETURN_IF_ERROR(loaded.executable.run({a, i % 2 == 0 ? first : second}, {r}).status());
    results.push_back(r);
  }
  for (int i = 0; i < 6; ++i)
    STRIA_RETURN_IF_ERROR(
        check(results[static_cast<size_t>(i)], expected(input(0), weights(i % 2 == 0 ? 1 : 2))));
  return {};
}

Finding in_a_row(Subject& subject) {
  STRIA_ASSIGN(const Loaded loaded, Loaded::make(subject));
  STRIA_ASSIGN(const ::stria::Tensor a, loaded.a(3));
  STRIA_ASSIGN(const ::stria::Tensor w, loaded.w(4));
  STRIA_ASSIGN(const ::stria::Tensor r, loaded.result());
  const ::stria::Tensor inputs[] = {a, w}, outputs[] = {r};
  // More than a plugin may have slots for in a ring.
  STRIA_ASSIGN(const ::stria::Event done, loaded.executable.run_in_a_row(40, inputs, outputs));
  STRIA_RETURN_IF_ERROR(done.wait());
  return check(r, expected(input(3), weights(4)));
}

Finding many_in_flight(Subject& subject) {
  STRIA_ASSIGN(const Loaded loaded, Loaded::make(subject, false));
  std::vector<::stria::Tensor> results;
  for (int32_t i = 0; i < 24; ++i) {
    STRIA_ASSIGN(const ::stria::Tensor a, loaded.a(i));
    STRIA_ASSIGN(const ::stria::Tensor w, loaded.w(2 * i));
    STRIA_ASSIGN(const ::stria::Tensor r, loaded.result());
    STRIA_RETURN_IF_ERROR(loaded.executable.run({a, w}, {r}).status());
    results.push_back(r);
  }
  for (int32_t i = 0; i < 24; ++i)
    STRIA_RETURN_IF_ERROR(
        check(results[static_cast<size_t>(i)], expected(input(i), weights(2 * i))));
  return {};
}

Finding chain(Subject& subject) {
  STRIA_ASSIGN(const Loaded loaded, Loaded::make(subject));
  STRIA_ASSIGN(::stria::Tensor from, loaded.a(1));
  STRIA_ASSIGN(::stria::Tensor to, loaded.result());
  STRIA_ASSIGN(const ::stria::Tensor w, loaded.w(1));
  Numbers wanted = input(1);
  for (int i = 0; i < 9; ++i) {
    STRIA_RETURN_IF_ERROR(loaded.executable.run({from, w}, {to}).status());
    wanted = expected(wanted, weights(1));
    std::swap(from, to);
  }
  return check(from, wanted);
}

Finding waits(Subject& subject) {
  STRIA_ASSIGN(const Loaded loaded, Loaded::make(subject));
  STRIA_ASSIGN(const ::stria::Tensor a, loaded.a(1));
  STRIA_ASSIGN(const ::stria::Tensor w, loaded.w(1));
  STRIA_ASSIGN(const ::stria::Tensor r, loaded.result());
  STRIA_ASSIGN(const ::stria::Event open, loaded.device.create_event());
  const ::stria::Event before[] = {open};
  STRIA_ASSIGN(const ::stria::Event done, loaded.executable.run({a, w}, {r}, before));
  // What begins too early has a moment to end.
  constexpr uint64_t kMomentNs = 4'000'000;
  if (done.wait(kMomentNs).ok())
    return broken("a run is done while the event that it waits for is open");
  STRIA_RETURN_IF_ERROR(open.signal());
  STRIA_RETURN_IF_ERROR(done.wait());
  return check(r, expected(input(1), weights(1)));
}

Finding failed_wait(Subject& subject) {
  STRIA_ASSIGN(const Loaded loaded, Loaded::make(subject));
  STRIA_ASSIGN(const ::stria::Tensor a, loaded.a(1));
  STRIA_ASSIGN(const ::stria::Tensor w, loaded.w(1));
  STRIA_ASSIGN(const ::stria::Tensor r, loaded.result());
  STRIA_ASSIGN(const ::stria::Event open, loaded.device.create_event());
  const ::stria::Event before[] = {open};
  STRIA_ASSIGN(const ::stria::Event failed, loaded.executable.run({a, w}, {r}, before));
  STRIA_RETURN_IF_ERROR(open.signal(Status(StatusCode::data_loss, "the conform suite's failure")));
  const Status status = failed.wait();
  if (status.code() != StatusCode::data_loss)
    return broken("a run that waits for an event which fails as data_loss ends as '{}'",
                  status.to_string());
  STRIA_ASSIGN(const ::stria::Event done, loaded.executable.run({a, w}, {r}));
  STRIA_RETURN_IF_ERROR(done.wait());
  return check(r, expected(input(1), weights(1)));
}

Finding dropped_in_flight(Subject& subject) {
  std::optional<::stria::Tensor> r;
  ::stria::Event open;
  {
    STRIA_ASSIGN(const Loaded loaded, Loaded::make(subject));
    STRIA_ASSIGN(const ::stria::Tensor a, loaded.a(6));
    STRIA_ASSIGN(const ::stria::Tensor w, loaded.w(6));
    STRIA_ASSIGN(r, loaded.result());
    STRIA_ASSIGN(open, loaded.device.create_event());
    const ::stria::Event before[] = {open};
    STRIA_RETURN_IF_ERROR(loaded.executable.run({a, w}, {*r}, before).status());
  }
  STRIA_RETURN_IF_ERROR(open.signal());
  return check(*r, expected(input(6), weights(6)));
}

Finding mapped(Subject& subject) {
  STRIA_ASSIGN(const Loaded loaded, Loaded::make(subject));
  STRIA_ASSIGN(const ::stria::Tensor a, loaded.result());
  STRIA_ASSIGN(const ::stria::Tensor w, loaded.w(8));
  STRIA_ASSIGN(const ::stria::Tensor r, loaded.result());
  for (int32_t seed = 1; seed < 4; ++seed) {
    STRIA_ASSIGN(MappedTensor mapping, a.map_discard());
    STRIA_ASSIGN(const std::span<int32_t> values, mapping.values<int32_t>());
    const Numbers wanted = input(seed);
    std::copy(wanted.begin(), wanted.end(), values.begin());
    STRIA_RETURN_IF_ERROR(mapping.unmap().status());
    STRIA_RETURN_IF_ERROR(loaded.executable.run({a, w}, {r}).status());
    STRIA_RETURN_IF_ERROR(check(r, expected(wanted, weights(8))));
  }
  return {};
}

Finding loaded_twice(Subject& subject) {
  STRIA_ASSIGN(const Loaded first, Loaded::make(subject));
  STRIA_ASSIGN(const Loaded second, Loaded::make(subject));
  STRIA_ASSIGN(const ::stria::Tensor a, first.a(1));
  STRIA_ASSIGN(const ::stria::Tensor w, first.w(1));
  STRIA_ASSIGN(const ::stria::Tensor middle, first.result());
  STRIA_ASSIGN(const ::stria::Tensor r, first.result());
  STRIA_RETURN_IF_ERROR(first.executable.run({a, w}, {middle}).status());
  STRIA_RETURN_IF_ERROR(second.executable.run({middle, w}, {r}).status());
  return check(r, expected(expected(input(1), weights(1)), weights(1)));
}

Finding loaded_from_stripe(Subject& subject) {
  STRIA_ASSIGN(const Loaded loaded, Loaded::make(subject, false));
  STRIA_ASSIGN(const Executable again,
               loaded.device.load_stripe({"device.stripe", loaded.executable.device_stripe()}));
  STRIA_ASSIGN(const ::stria::Tensor r, loaded.result());
  std::vector<::stria::Tensor> inputs;
  for (const TensorInfo& info : again.inputs()) {
    STRIA_ASSIGN(::stria::Tensor tensor, info.name == "A" ? loaded.a(2) : loaded.w(2));
    inputs.push_back(std::move(tensor));
  }
  const ::stria::Tensor outputs[] = {r};
  STRIA_RETURN_IF_ERROR(again.run(inputs, outputs).status());
  return check(r, expected(input(2), weights(2)));
}

Finding watched(Subject& subject) {
  CompileOptions options;
  options.watch_kernels = true;
  options.keep_stages = true;
  STRIA_ASSIGN(const Loaded loaded, Loaded::make(subject, true, options));
  STRIA_RETURN_IF_ERROR(loaded.executable.sources().status());
  STRIA_ASSIGN(const ::stria::Tensor a, loaded.a(5));
  STRIA_ASSIGN(const ::stria::Tensor w, loaded.w(5));
  STRIA_ASSIGN(const ::stria::Tensor r, loaded.result());
  STRIA_ASSIGN(const ::stria::Event done, loaded.executable.run({a, w}, {r}));
  STRIA_RETURN_IF_ERROR(done.wait());
  return check(r, expected(input(5), weights(5)));
}

// Each thread runs the one executable with tensors of its own.
Finding from_threads(Subject& subject) {
  STRIA_ASSIGN(const Loaded loaded, Loaded::make(subject));
  constexpr int kThreads = 4, kRuns = 12;
  std::vector<Status> outcomes(kThreads);
  const auto work = [&](int32_t number) -> Status {
    STRIA_ASSIGN(const ::stria::Tensor a, loaded.a(number));
    STRIA_ASSIGN(const ::stria::Tensor w, loaded.w(number));
    STRIA_ASSIGN(const ::stria::Tensor r, loaded.result());
    for (int32_t run = 0; run < kRuns; ++run) {
      STRIA_RETURN_IF_ERROR(a.write_values(input(number + run)));
      STRIA_RETURN_IF_ERROR(loaded.executable.run({a, w}, {r}).status());
      STRIA_RETURN_IF_ERROR(check(r, expected(input(number + run), weights(number))));
    }
    return Status();
  };
  std::vector<std::thread> threads;
  for (int32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] { outcomes[static_cast<size_t>(t)] = work(t); });
  for (std::thread& thread : threads) thread.join();
  for (const Status& outcome : outcomes) STRIA_RETURN_IF_ERROR(outcome);
  return {};
}

Finding many_loaded(Subject& subject) {
  std::vector<Loaded> all;
  for (int i = 0; i < 12; ++i) {
    STRIA_ASSIGN(Loaded loaded, Loaded::make(subject, i % 2 == 0));
    all.push_back(std::move(loaded));
  }
  STRIA_ASSIGN(const ::stria::Tensor w, all[0].w(1));
  STRIA_ASSIGN(::stria::Tensor from, all[0].a(1));
  STRIA_ASSIGN(::stria::Tensor to, all[0].result());
  Numbers wanted = input(1);
  for (const Loaded& loaded : all) {
    STRIA_RETURN_IF_ERROR(loaded.executable.run({from, w}, {to}).status());
    wanted = expected(wanted, weights(1));
    std::swap(from, to);
  }
  // The others go on without those that are dropped.
  all.erase(all.begin(), all.begin() + 6);
  for (const Loaded& loaded : all) {
    STRIA_RETURN_IF_ERROR(loaded.executable.run({from, w}, {to}).status());
    wanted = expected(wanted, weights(1));
    std::swap(from, to);
  }
  return check(from, wanted);
}

}  // namespace

void add_run_cases(CaseMaker& maker) {
  const auto add = [&](std::string_view name, Level level, std::string_view sentence,
                       Finding (*run)(Subject&)) {
    Case& c = maker.add('K', fmt::format("run.{}", name), level, sentence,
                        [run](Subject& subject) -> Finding {
                          if (const Status lacks = check_has(subject, DataType::i32); !lacks.ok())
                            return finding_of(lacks);
                          return run(subject);
                        });
    c.limit = std::chrono::seconds(60);
  };
  constexpr std::string_view kPrologue = "reads constants only; run once per binding";
  constexpr std::string_view kWaits = "The work starts when all of them are done.";
  constexpr std::string_view kFails =
      "If one failed, the work is not done and its event fails with the same error (that of the "
      "first failed one in list order), after all waits are over";
  constexpr std::string_view kReleased =
      "A handle stays usable by work in flight after its release: releasing never waits and never "
      "cancels.";
  constexpr std::string_view kBatch =
      "launches wait for `waits` and for those their `after` names, nothing else.";
  constexpr std::string_view kLaunch = "Launches the kernel on its executor.";
  constexpr std::string_view kBuilds =
      "A program that the plugin's pipeline has made becomes code, or fails with "
      "STRIA_UNSUPPORTED and what of it is not supported.";
  constexpr std::string_view kAnyThread =
      "may be called from any thread at any time, also at once on one handle";
  add("other_inputs", Level::right, kPrologue, other_inputs);
  add("other_constants", Level::right, kPrologue, other_constants);
  add("other_small_inputs", Level::right, kLaunch, other_small_inputs);
  add("constants_in_turn", Level::right, kPrologue, constants_in_turn);
  add("in_a_row", Level::right, kBatch, in_a_row);
  add("many_in_flight", Level::right, kLaunch, many_in_flight);
  add("chain", Level::right, kWaits, chain);
  add("waits", Level::right, kWaits, waits);
  add("failed_wait", Level::right, kFails, failed_wait);
  add("dropped_in_flight", Level::right, kReleased, dropped_in_flight);
  add("mapped", Level::right, "When `done` is, the device sees what was written.", mapped);
  add("loaded_twice", Level::right, kBuilds, loaded_twice);
  add("loaded_from_stripe", Level::right, kBuilds, loaded_from_stripe);
  add("watched", Level::right, kLaunch, watched);
  add("from_threads", Level::robust, kAnyThread, from_threads);
  add("many_loaded", Level::robust, kBuilds, many_loaded);
}

}  // namespace stria::conformance
