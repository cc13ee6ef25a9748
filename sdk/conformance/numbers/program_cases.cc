// SPDX-License-Identifier: Apache-2.0
#include "numbers/program_cases.h"

#include <chrono>
#include <optional>

namespace stria::conformance {
namespace {

// A driver that compiles a dozen kernels on a busy machine.
constexpr std::chrono::seconds kLimit{60};

struct Shared {
  std::string key;
  TestProgram program;
  ProgramRun run;
};

// The program that ran last in this process: cases that share one follow each other.
const Shared& shared_run(const Subject& subject, const std::string& key, const MakeProgram& make) {
  static auto* last = new std::optional<Shared>;
  if (!*last || (*last)->key != key) {
    last->reset();
    TestProgram program = make();
    program.name = "conform";
    ProgramRun run = run_program(subject, program);
    last->emplace(Shared{key, std::move(program), std::move(run)});
  }
  return **last;
}

// Work that never ends, or a device that is gone, is not tried again.
bool is_final(const Status& status) {
  return status.code() == StatusCode::deadline_exceeded ||
         status.code() == StatusCode::device_lost || status.code() == StatusCode::internal;
}

Finding judged(const OutputRun& run, bool random) {
  if (!run.status.ok()) return run.status;
  if (!random && run.undecided * 2 > run.elements)
    return internal_error("the suite's inputs leave {} of {} elements undecided", run.undecided,
                          run.elements);
  return {};
}

Finding look_at(const ProgramRun& run, const TestProgram& program, const std::string& output) {
  if (!run.status.ok()) return finding_of(run.status);
  for (const OutputRun& one : run.outputs)
    if (one.name == output) return judged(one, program.random);
  return internal_error("the program has no output '{}'", output);
}

Finding run_shared(const Subject& subject, const std::string& key, const std::string& output,
                   const MakeProgram& make) {
  const Shared& shared = shared_run(subject, key, make);
  if (shared.run.status.ok() || shared.program.outputs.size() == 1 || is_final(shared.run.status))
    return look_at(shared.run, shared.program, output);
  // Which of its outputs is it about?
  return look_at(run_program(subject, shared.program.only(output)), shared.program, output);
}

Case& add_case(CaseMaker& maker, const ProgramRule& rule, Level level, const std::string& name,
               std::function<Finding(Subject&)> run) {
  Case& c = maker.add('K', name, level, rule.sentence, std::move(run));
  c.source = rule.source;
  c.limit = kLimit;
  return c;
}

}  // namespace

void add_program_cases(CaseMaker& maker, const ProgramRule& rule, Level level,
                       const std::string& key, const std::vector<ProgramCase>& cases,
                       const MakeProgram& make) {
  for (const ProgramCase& one : cases)
    add_case(maker, rule, level, one.name,
             [key, make, output = one.output](Subject& subject) -> Finding {
               return run_shared(subject, key, output, make);
             });
}

void add_program_case(CaseMaker& maker, const ProgramRule& rule, Level level,
                      const std::string& name, const MakeProgram& make) {
  add_case(maker, rule, level, name, [name, make](Subject& subject) -> Finding {
    const Shared& shared = shared_run(subject, name, make);
    if (!shared.run.status.ok()) return finding_of(shared.run.status);
    for (const OutputRun& one : shared.run.outputs)
      if (Finding finding = judged(one, shared.program.random); finding.ending() != Ending::pass) {
        if (shared.run.outputs.size() == 1) return finding;
        return broken("{}: {}", one.name, finding.text());
      }
    return {};
  });
}

std::vector<DataType> all_types() {
  std::vector<DataType> out;
  for (int t = 0; t < kDataTypeCount; ++t) out.push_back(static_cast<DataType>(t));
  return out;
}

}  // namespace stria::conformance
