// SPDX-License-Identifier: Apache-2.0
#include "rows.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "copy_limit.h"
#include "fma_peak.h"
#include "measure.h"
#include "stria/base/file.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/inside.h"
#include "stria/template/template_text.h"

namespace stria::bench {
namespace {

constexpr double kSampleSeconds = 2e-3;  // a sample repeats what is shorter
// A round counts if the core reached so much of the best that it has shown so far.
constexpr double kAtSpeed = 0.95;
constexpr size_t kLeastRounds = 5;
// Of one and two threads: a sample, and the share of it in which a thread that only computes had a
// core where no other program wanted it.
constexpr double kThreadsSeconds = 25e-3;
constexpr double kHadCore = 0.98;
// By how much two probes of a steady machine differ.
constexpr double kSteady = 0.05;
// So many rounds are tried for each that was asked for: other programs may want the cores often.
constexpr int kTries = 10;

RuntimeOptions one_thread(unsigned threads = 1) {
  RuntimeOptions how;
  how.threads = threads;
  how.only_plugins = {"llvm_cpu"};
  return how;
}

void use_cores(const cpu_set_t& set) {
  STRIA_CHECK(sched_setaffinity(0, sizeof set, &set) == 0, "cores cannot be chosen");
}

// All threads started meanwhile share one core.
class OnOneCore {
 public:
  OnOneCore() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    use_cores(one);
  }
  ~OnOneCore() { use_cores(before_); }

 private:
  cpu_set_t before_;
};

// Of the calling thread, which does all the work itself.
double seconds_here(const std::function<void()>& work, int64_t count) {
  const double begin = thread_seconds();
  for (int64_t i = 0; i < count; ++i) work();
  return (thread_seconds() - begin) / static_cast<double>(count);
}

double seconds_of_many(const std::function<void()>& work, int64_t count) {
  return seconds_of([&] {
           for (int64_t i = 0; i < count; ++i) work();
         }) /
         static_cast<double>(count);
}

// What a second thread gains on nothing but multiply-adds.
struct ProbeGain {
  double gain = 0;
  bool undisturbed = false;  // each thread had a core all the time
};
ProbeGain probe_gain() {
  const int milliseconds = static_cast<int>(kThreadsSeconds * 1e3);
  const FmaPeak one = fma_peak(1, milliseconds), two = fma_peak(2, milliseconds);
  return {two.gflops / one.gflops, std::min(one.share, two.share) >= kHadCore};
}

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The largest difference over the largest value.
double difference(const float* ours, const std::vector<float>& theirs) {
  double worst = 0, largest = 0;
  for (size_t i = 0; i < theirs.size(); ++i) {
    const double off = std::fabs(static_cast<double>(ours[i]) - theirs[i]);
    worst = std::isnan(off) ? INFINITY : std::max(worst, off);
    largest = std::max(largest, std::fabs(static_cast<double>(theirs[i])));
  }
  return largest > 0 ? worst / largest : worst;
}

}  // namespace

Bench::Bench(const Asked& asked, const std::vector<std::unique_ptr<PeerLibrary>>& peers)
    : asked_(asked),
      peers_(peers),
      runtime_(one_thread()),
      device_(must(runtime_.open("llvm_cpu"))) {
  if (!asked.pipeline.empty())
    pipeline_ = SourceText{asked.pipeline, must(read_file(asked.pipeline))};
}

CompileOptions Bench::options_of(const Case& what) const {
  CompileOptions out;
  out.constants = what.constants;
  out.pipeline = pipeline_;
  for (const std::string& text : asked_.parameters) {
    const Status read = add_setting(text, out.parameters);
    STRIA_CHECK(read.ok(), "{}", read.to_string());
  }
  return out;
}

nlohmann::json Bench::header() const {
  nlohmann::json out = {{"machine", machine_text()},        {"fma_gflops", fma_peak_gflops(1, 200)},
                        {"fma_vectors", fma_vector_name()}, {"rounds", asked_.rounds},
                        {"peers", nlohmann::json::array()}, {"sets", nlohmann::json::array()}};
  std::printf(
      "%s; one core, FMA %s %.1f GFLOP/s; fp32, normally distributed, median of %d rounds\n",
      machine_text().c_str(), fma_vector_name(), out["fma_gflops"].get<double>(), asked_.rounds);
  for (const auto& peer : peers_) {
    out["peers"].push_back(peer->name());
    std::printf("peer: %s\n", peer->name().c_str());
  }
  return out;
}

Samples Bench::measure(const Works& works, bool alike) {
  std::vector<int64_t> repeats;
  for (const auto& work : works) {
    work();
    const double once = std::max(seconds_here(work, 1), 1e-8);
    repeats.push_back(std::clamp<int64_t>(std::llround(kSampleSeconds / once), 1, 1 << 20));
  }
  if (alike) std::fill(repeats.begin(), repeats.end(), std::ranges::max(repeats));
  struct Round {
    std::vector<double> seconds;
    double speed = 0;  // the lowest that was seen in it
  };
  std::vector<Round> rounds;
  for (int n = 0; n < asked_.rounds; ++n) {
    Round round;
    round.speed = fma_probe_gflops();
    for (size_t i = 0; i < works.size(); ++i) {
      round.seconds.push_back(seconds_here(works[i], repeats[i]));
      const double after = fma_probe_gflops();
      round.speed = std::min(round.speed, after);
      top_speed_ = std::max(top_speed_, after);
    }
    rounds.push_back(std::move(round));
  }
  std::sort(rounds.begin(), rounds.end(),
            [](const Round& a, const Round& b) { return a.speed > b.speed; });
  Samples out;
  for (const Round& round : rounds) out.kept += round.speed >= kAtSpeed * top_speed_ ? 1 : 0;
  rounds.resize(std::max(out.kept, std::min(rounds.size(), kLeastRounds)));
  for (size_t i = 0; i < works.size(); ++i) {
    std::vector<double> seconds;
    for (const Round& round : rounds) seconds.push_back(round.seconds[i]);
    out.median.push_back(middle(seconds));
    out.best.push_back(*std::min_element(seconds.begin(), seconds.end()));
  }
  return out;
}

Result<std::unique_ptr<OurProgram>> Bench::compile(const Device& device, const Case& what,
                                                   const std::string& name) const {
  STRIA_ASSIGN(const Program program, Program::from_tile({what.name, what.text}));
  STRIA_ASSIGN(std::unique_ptr<OurProgram> ours,
               OurProgram::make(device, program, what.inputs, options_of(what)));
  if (!asked_.dump.empty()) {
    std::string file = name + ".stripe";
    std::replace_if(file.begin(), file.end(), [](char c) { return c == ' ' || c == '/'; }, '_');
    std::filesystem::create_directories(asked_.dump);
    STRIA_RETURN_IF_ERROR(
        write_file(std::filesystem::path(asked_.dump) / file, ours->device_stripe()));
  }
  unsigned seed = 1;
  for (const auto& [input, type] : what.inputs)
    if (float* to = ours->input(input)) fill_normal(to, ours->elements(input), seed++);
  ours->prepare();
  ours->run();
  return ours;
}

Result<Bench::Row> Bench::against_peers(const Case& what, const std::string& name) {
  const OnOneCore one;
  STRIA_ASSIGN(const std::unique_ptr<OurProgram> ours, compile(device_, what, name));
  Inputs inputs;
  for (const auto& [input, type] : what.inputs) inputs[input] = ours->input(input);
  std::vector<std::unique_ptr<Peer>> peers;
  for (const auto& library : peers_)
    for (auto& peer : library->peers_of(what, inputs, false)) peers.push_back(std::move(peer));
  Works works = {[&] { ours->run(); }};
  for (const auto& peer : peers) works.push_back([&peer] { peer->run(); });
  const Samples samples = measure(works);

  Row row;
  row.ours_s = samples.median[0];
  row.json["ours_gflops"] = what.operations / samples.median[0] * 1e-9;
  row.json["ours_best_gflops"] = what.operations / samples.best[0] * 1e-9;
  size_t best = 0;
  double off = 0;
  for (size_t i = 0; i < peers.size(); ++i) {
    const std::vector<float> theirs = peers[i]->result();
    if (static_cast<int64_t>(theirs.size()) == ours->output_elements())
      off = std::max(off, difference(ours->output(), theirs));
    row.json["peers"].push_back({{"name", peers[i]->name()},
                                 {"gflops", what.operations / samples.median[i + 1] * 1e-9},
                                 {"best_gflops", what.operations / samples.best[i + 1] * 1e-9}});
    if (samples.median[i + 1] < samples.median[best + 1]) best = i;
  }
  std::string peer_text = "no peer";
  if (!peers.empty()) {
    row.best_s = samples.median[best + 1];
    row.ratio = row.best_s / row.ours_s;
    row.ratio_of_best =
        *std::min_element(samples.best.begin() + 1, samples.best.end()) / samples.best[0];
    peer_text = fmt::format("{:.1f} {}", what.operations / row.best_s * 1e-9, peers[best]->name());
  }
  row.json["ratio"] = row.ratio;
  row.json["difference"] = off;
  row.json["code_ms"] = ours->code_ms();
  std::printf("  %-28s %8.1f GFLOP/s  %6.3f  (%.3f by best)  %2zu/%d  %s%s\n", what.name.c_str(),
              what.operations / row.ours_s * 1e-9, row.ratio, row.ratio_of_best, samples.kept,
              asked_.rounds, peer_text.c_str(), off > 1e-4 ? "  RESULTS DIFFER" : "");
  return row;
}

Result<Bench::Row> Bench::against_memory(const Case& what, const std::string& name) {
  const OnOneCore one;
  STRIA_ASSIGN(const std::unique_ptr<OurProgram> ours, compile(device_, what, name));
  const auto bytes = static_cast<uint64_t>(what.bytes);
  if (streams_bytes_ < bytes) {
    streams_ = memory_of(bytes);
    fill_normal(reinterpret_cast<float*>(streams_.get()), static_cast<int64_t>(bytes / 4), 7);
    streams_bytes_ = bytes;
  }
  const std::vector<CopyWay> ways = copy_ways(*what.mix, streams_.get(), bytes);
  Works works = {[&] { ours->run(); }};
  for (const CopyWay& way : ways) works.push_back(way.run);
  const Samples samples = measure(works);
  Row row;
  row.ours_s = samples.median[0];
  row.json["ours_gbytes"] = what.bytes / samples.median[0] * 1e-9;
  size_t best = 0;
  for (size_t i = 0; i < ways.size(); ++i) {
    row.json["limits"].push_back(
        {{"name", ways[i].name}, {"gbytes", what.bytes / samples.median[i + 1] * 1e-9}});
    if (samples.median[i + 1] < samples.median[best + 1]) best = i;
  }
  row.best_s = samples.median[best + 1];
  row.ratio = row.best_s / row.ours_s;
  row.ratio_of_best =
      *std::min_element(samples.best.begin() + 1, samples.best.end()) / samples.best[0];
  row.json["ratio"] = row.ratio;
  std::printf("  %-28s %8.2f GB/s     %6.3f  (%.3f by best)  %2zu/%d  %.2f %s\n", what.name.c_str(),
              what.bytes / row.ours_s * 1e-9, row.ratio, row.ratio_of_best, samples.kept,
              asked_.rounds, what.bytes / row.best_s * 1e-9, ways[best].name.c_str());
  return row;
}

Result<Bench::Row> Bench::step(const Case& what, const std::string& name) {
  const OnOneCore one;
  STRIA_ASSIGN(const Program program, Program::from_tile({what.name, what.text}));
  GradientOptions gradient;
  gradient.keep_results = true;
  STRIA_ASSIGN(const Program derived, program.gradient(gradient));
  Case whole = what;
  whole.text = derived.text();
  const int64_t size = what.conv->out_size();
  whole.inputs["DO"] = {DataType::fp32, {1, size, size, what.conv->out}};
  STRIA_ASSIGN(const std::unique_ptr<OurProgram> forward, compile(device_, what, name));
  STRIA_ASSIGN(const std::unique_ptr<OurProgram> both, compile(device_, whole, name + "_step"));
  Inputs inputs;
  for (const auto& [input, type] : whole.inputs) inputs[input] = both->input(input);
  std::vector<std::unique_ptr<Peer>> peers;
  for (const auto& library : peers_)
    for (auto& peer : library->peers_of(what, inputs, true)) peers.push_back(std::move(peer));
  Works works = {[&] { forward->run(); }, [&] { both->run(); }};
  for (const auto& peer : peers) works.push_back([&peer] { peer->run(); });
  // What one work leaves in the caches is of no use to the next: each begins as cold, and is as
  // warm after as many runs.
  const Samples samples = measure(works, true);
  Row row;
  row.ours_s = samples.median[1];
  row.ratio = samples.median[1] / samples.median[0];
  row.ratio_of_best = samples.best[1] / samples.best[0];
  row.json = {
      {"forward_s", samples.median[0]}, {"step_s", samples.median[1]}, {"ratio", row.ratio}};
  size_t best = 0;
  for (size_t i = 0; i < peers.size(); ++i) {
    row.json["peers"].push_back({{"name", peers[i]->name()}, {"step_s", samples.median[i + 2]}});
    if (samples.median[i + 2] < samples.median[best + 2]) best = i;
  }
  std::printf("  %-28s %8.3f ms       %6.3f  (%.3f by best)  %2zu/%d  %s\n", what.name.c_str(),
              row.ours_s * 1e3, row.ratio, row.ratio_of_best, samples.kept, asked_.rounds,
              peers.empty()
                  ? "no peer"
                  : fmt::format("{:.3f} ms {}", samples.median[best + 2] * 1e3, peers[best]->name())
                        .c_str());
  return row;
}

Result<Bench::Row> Bench::two_threads(const Case& what) const {
  std::vector<Runtime> runtimes = {Runtime(one_thread(1)), Runtime(one_thread(2))};
  std::vector<std::function<void()>> works;
  const CompileOptions options = options_of(what);
  for (const Runtime& runtime : runtimes) {
    STRIA_ASSIGN(const Device device, runtime.open("llvm_cpu"));
    STRIA_ASSIGN(const Program program, Program::from_tile({what.name, what.text}));
    STRIA_ASSIGN(const Executable executable, device.compile(program, what.inputs, options));
    std::vector<Tensor> inputs, outputs;
    unsigned seed = 1;
    for (const TensorInfo& info : executable.inputs()) {
      STRIA_ASSIGN(Tensor tensor, device.create_tensor(info));
      std::vector<float> values(static_cast<size_t>(tensor.element_count()));
      fill_normal(values.data(), tensor.element_count(), seed++);
      STRIA_RETURN_IF_ERROR(tensor.write_values(values));
      inputs.push_back(std::move(tensor));
    }
    for (const TensorInfo& info : executable.outputs()) {
      STRIA_ASSIGN(Tensor tensor, device.create_tensor(info));
      outputs.push_back(std::move(tensor));
    }
    works.push_back([=] { STRIA_CHECK(must(executable.run(inputs, outputs)).wait().ok(), "run"); });
    works.back()();
  }
  std::vector<int64_t> repeats;
  for (const auto& work : works)
    repeats.push_back(std::max<int64_t>(1, std::llround(kThreadsSeconds / seconds_of(work))));
  // A sample begins when all threads are awake and at it.
  const auto sample = [&](size_t which) {
    works[which]();
    return seconds_of_many(works[which], repeats[which]);
  };
  std::vector<double> ones, twos, gains, probes, relative;
  // Only the probes say whether a round counts: what the threads of a pool do to each other is what
  // is measured.
  int rounds = 0;
  ProbeGain before = probe_gain();
  while (gains.size() < static_cast<size_t>(asked_.rounds) && rounds < kTries * asked_.rounds) {
    ++rounds;
    const double one = sample(0), two = sample(1);
    const ProbeGain after = probe_gain();
    const double probe = (before.gain + after.gain) / 2;
    const bool counts = before.undisturbed && after.undisturbed &&
                        std::fabs(before.gain - after.gain) <= kSteady * probe;
    before = after;
    if (!counts) continue;
    ones.push_back(one);
    twos.push_back(two);
    gains.push_back(one / two);
    probes.push_back(probe);
    relative.push_back(gains.back() / probe);
  }
  if (relative.empty())
    return make_error(StatusCode::unavailable,
                      "there was no round of {} in which two cores were free all the time", rounds);
  Row row;
  row.ratio = middle(relative);
  row.ratio_of_best = *std::min_element(ones.begin(), ones.end()) /
                      *std::min_element(twos.begin(), twos.end()) / middle(probes);
  row.json = {{"gain", middle(gains)}, {"probe_gain", middle(probes)},
              {"ratio", row.ratio},    {"one_s", middle(ones)},
              {"two_s", middle(twos)}, {"kept", relative.size()},
              {"rounds", rounds},      {"ratio_of_best", row.ratio_of_best}};
  std::printf("  %-28s %8.3f x        %6.3f  (%.3f by best)  %2zu/%d  FMA probe %.3f x\n",
              what.name.c_str(), middle(gains), row.ratio, row.ratio_of_best, relative.size(),
              rounds, middle(probes));
  return row;
}

nlohmann::json Bench::compile_time(const CaseSet& set) const {
  // Every process compiles once; the first leaves the rates of the machine in the cache, which are
  // measured once in its life.
  char name[] = "/tmp/stria_cpu_bench_XXXXXX";
  STRIA_CHECK(mkdtemp(name) != nullptr, "no folder for a cache");
  const std::filesystem::path folder = name;
  setenv("XDG_CACHE_HOME", name, 1);
  const OnOneCore one;
  const std::vector<std::string> command = {"/proc/self/exe", "--compile-once", set.name, "--sets",
                                            asked_.sets};
  (void)output_of_process(command);
  std::vector<double> passes, cold, kept;
  for (int n = 0; n < asked_.rounds; ++n) {
    std::filesystem::remove_all(folder / "stria" / "plugins");
    for (std::vector<double>* to : {&cold, &kept}) {
      std::istringstream out(output_of_process(command));
      double passes_ms = 0, all_ms = 0;
      STRIA_CHECK(out >> passes_ms >> all_ms, "a process that compiles '{}' failed", set.name);
      passes.push_back(passes_ms);
      to->push_back(all_ms);
    }
  }
  std::filesystem::remove_all(folder);
  const auto verdict = [](double value, double goal) {
    return fmt::format("{:.1f} ms <= {:.0f} {}", value, goal, value <= goal ? "met" : "MISSED");
  };
  std::printf(
      "%s: %s\n  %zu kernels: without the cache %s, with it %s; passes %.1f ms of either\n\n",
      set.name.c_str(), set.what.c_str(), set.cases.size(),
      verdict(middle(cold), set.at_most).c_str(), verdict(middle(kept), set.kept_at_most).c_str(),
      middle(passes));
  return {
      {"name", set.name},
      {"rows",
       {{{"cold_ms", middle(cold)}, {"kept_ms", middle(kept)}, {"passes_ms", middle(passes)}}}}};
}

int compile_once(const CaseSet& set) {
  const Runtime runtime(one_thread());
  const Device device = must(runtime.open("llvm_cpu"));
  // Functions of one program, called side by side.
  std::string functions, parameters, results, calls;
  InputTypes inputs;
  for (size_t n = 0; n < set.cases.size(); ++n) {
    const Case& what = set.cases[n];
    std::string arguments;
    // In the order of the parameters, which is that of the text.
    const size_t from = what.text.find('(') + 1;
    for (size_t at = from; what.text[at - 1] != ')';) {
      const size_t bracket = what.text.find('[', at), close = what.text.find(']', at);
      const std::string input = what.text.substr(at, bracket - at);
      const std::string own = fmt::format("{}{}", input, n);
      std::string dims;
      for (size_t d = 0; d < what.inputs.at(input).sizes.size(); ++d)
        dims += fmt::format("{}{}D{}", d ? ", " : "", own, d);
      parameters += fmt::format("{}{}[{}]", parameters.empty() ? "" : ", ", own, dims);
      arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", own);
      inputs[own] = what.inputs.at(input);
      at = what.text[close + 1] == ',' ? close + 3 : close + 2;
    }
    functions += fmt::format("function f{}{}\n", n, what.text.substr(what.text.find('(')));
    results += fmt::format("{}R{}", n ? ", " : "", n);
    calls += fmt::format("  R{} = f{}({});\n", n, n, arguments);
  }
  const std::string text =
      fmt::format("{}function all({}) -> ({}) {{\n{}}}\n", functions, parameters, results, calls);
  // The whole way first: it is what a new process sees. All threads are on one core, so that their
  // processor time is what it takes where nothing else runs.
  const auto ms_of = [](const auto& work) {
    const double begin = process_seconds();
    work();
    return 1e3 * (process_seconds() - begin);
  };
  const double whole =
      ms_of([&] { must(device.compile(must(Program::from_tile({"all.tile", text})), inputs)); });
  const double passes = ms_of([&] {
    const Program program = must(Program::from_tile({"all.tile", text}));
    must(CompileDriver::specialize(device, must(lower_program(program, inputs))));
  });
  std::printf("%.4f %.4f\n", passes, whole);
  return 0;
}

nlohmann::json Bench::run(const CaseSet& set) {
  if (set.kind == SetKind::compile) return compile_time(set);
  nlohmann::json out = {{"name", set.name}, {"what", set.what}, {"rows", nlohmann::json::array()}};
  std::vector<Row> rows;
  size_t failed = 0;
  bool first = true;
  for (Case what : set.cases) {
    if (what.name.find(asked_.only) == std::string::npos) continue;
    if (what.conv) {
      const nlohmann::json given = settings_as_json(options_of(what).parameters);
      what.conv->fewer_products = given.value("WINOGRAD", nlohmann::json(0)) != 0;
    }
    if (std::exchange(first, false)) std::printf("%s: %s\n", set.name.c_str(), set.what.c_str());
    const std::string name = set.name + " " + what.name;
    Result<Row> row = set.kind == SetKind::memory    ? against_memory(what, name)
                      : set.kind == SetKind::step    ? step(what, name)
                      : set.kind == SetKind::threads ? two_threads(what)
                                                     : against_peers(what, name);
    if (!row.ok()) {
      ++failed;
      std::printf("  %-28s FAILED: %s\n", what.name.c_str(), row.status().to_string().c_str());
      out["rows"].push_back({{"name", what.name}, {"failed", row.status().to_string()}});
      continue;
    }
    std::fflush(stdout);
    row->name = what.name;
    row->times = what.times;
    row->json["name"] = what.name;
    out["rows"].push_back(row->json);
    rows.push_back(std::move(*row));
  }
  summarize(set, rows, failed, out);
  return out;
}

void Bench::summarize(const CaseSet& set, const std::vector<Row>& rows, size_t failed,
                      nlohmann::json& out) const {
  if (rows.empty() || rows[0].ratio == 0) return;
  double logs = 0, logs_best = 0, ours = 0, theirs = 0;
  size_t wins = 0;
  const bool smaller = set.kind == SetKind::step;
  const Row* worst = &rows[0];
  for (const Row& row : rows) {
    logs += std::log(row.ratio);
    logs_best += std::log(row.ratio_of_best);
    wins += row.ratio >= 1 ? 1 : 0;
    ours += row.times * row.ours_s;
    theirs += row.times * row.best_s;
    if (smaller ? row.ratio > worst->ratio : row.ratio < worst->ratio) worst = &row;
  }
  const auto count = static_cast<double>(rows.size());
  const double geomean = std::exp(logs / count);
  const auto verdict = [](bool met) { return met ? "met" : "MISSED"; };
  std::printf("%s: geomean %.3f (%.3f by best)", set.name.c_str(), geomean,
              std::exp(logs_best / count));
  if (set.geomean > 0) std::printf(" >= %.2f %s", set.geomean, verdict(geomean >= set.geomean));
  std::printf("; worst %.3f (%s)", worst->ratio, worst->name.c_str());
  if (set.worst > 0) std::printf(" >= %.2f %s", set.worst, verdict(worst->ratio >= set.worst));
  if (set.at_most > 0)
    std::printf(" <= %.2f %s", set.at_most, verdict(worst->ratio <= set.at_most));
  if (set.kind == SetKind::gemm || set.kind == SetKind::conv)
    std::printf(
        "; wins %zu of %zu; as often as the networks run them: %.3f ms ours, %.3f ms best peers",
        wins, rows.size(), ours * 1e3, theirs * 1e3);
  if (failed > 0) std::printf("; FAILED: %zu", failed);
  std::printf("\n\n");
  out["geomean"] = geomean;
  out["worst"] = worst->ratio;
  out["wins"] = wins;
  out["failed"] = failed;
}

}  // namespace stria::bench
