// SPDX-License-Identifier: Apache-2.0
#include "row_run.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "reports/report.h"
#include "row_folder.h"
#include "suite/all_cases.h"
#include "suite/runner.h"

namespace stria::wrong {
namespace {

namespace fs = std::filesystem;
using namespace conformance;

constexpr size_t kTextBytes = 2000;

// What the processes share: memory that nobody writes to by accident, as a plugin may to any pipe.
struct SharedResult {
  std::atomic<bool> written;
  bool as_expected;
  double seconds;
  char text[kTextBytes];
};
struct Shared {
  std::atomic<size_t> next;  // the first row that nobody has taken
};

bool is_one_of(const std::vector<Ending>& endings, Ending ending) {
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

// A wrong plugin: whether one case says the right thing. A right one: whether all cases are good.
void judge(const Row& row, const std::vector<Case>& all, const std::vector<CaseResult>& results,
           RowResult& out) {
  bool all_good = true, caught = false;
  for (const CaseResult& result : results) {
    const std::string said = result.text + result.output;
    all_good &= is_good(result.ending);
    // The plugin does not know its mistake: that is a mistake of the row.
    const bool is_unknown = said.find("no mistake is called") != std::string::npos;
    caught |= is_one_of(row.endings, result.ending) && !is_unknown &&
              said.find(row.says) != std::string::npos;
    if (!row.endings.empty() || !is_good(result.ending)) {
      out.text += fmt::format("  {} {} {}\n", name_of(result.ending), all[result.index].name,
                              result.text.substr(0, 400));
      if (is_good(result.ending)) continue;
      for (const Quoted& rule : rules_of(all[result.index], result))
        out.text += fmt::format("    breaks \"{}\"\n", rule.sentence);
    }
  }
  out.as_expected = row.endings.empty() ? all_good && !results.empty() : caught;
}

// The results of the cases that the row names; the others are what their processes needed.
Result<std::vector<CaseResult>> results_of(const Row& row, std::vector<Case>& all,
                                           const fs::path& directory, const fs::path& scratch,
                                           int jobs) {
  if (row.limit)
    for (Case& c : all) c.limit = std::min(c.limit, *row.limit);
  STRIA_ASSIGN(const std::vector<size_t> which, selected(all, row.level, row.cases));
  if (which.empty())
    return make_error(StatusCode::invalid_argument, "no case of level {} is called so",
                      static_cast<int>(row.level));
  RunOptions options;
  options.subject.directory = directory;
  options.subject.scratch = scratch;
  options.jobs = jobs;
  STRIA_ASSIGN(RunResult run, run_cases(all, which, options));
  std::vector<CaseResult> out;
  for (CaseResult& result : run.cases)
    if (std::find(which.begin(), which.end(), result.index) != which.end())
      out.push_back(std::move(result));
  return out;
}

void run_shared(const std::vector<Row>& rows, const fs::path& scratch, Shared& shared,
                SharedResult* results) {
  for (size_t i; (i = shared.next++) < rows.size();) {
    const RowResult result = run_row(rows[i], scratch);
    SharedResult& out = results[i];
    out.as_expected = result.as_expected;
    out.seconds = result.seconds;
    std::strncpy(out.text, result.text.c_str(), kTextBytes - 1);
    out.written = true;
  }
}

}  // namespace

RowResult run_row(const Row& row, const fs::path& scratch) {
  const auto begin = std::chrono::steady_clock::now();
  RowResult out;
  const auto run = [&]() -> Status {
    STRIA_ASSIGN(const RowFolder folder, RowFolder::make(scratch, row));
    std::vector<Case> all = all_cases(folder.path());
    STRIA_ASSIGN(const std::vector<CaseResult> results,
                 results_of(row, all, folder.path(), scratch, 1));
    judge(row, all, results, out);
    return Status();
  };
  if (const Status status = run(); !status.ok()) out.text = "  " + status.to_string() + "\n";
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

Result<std::vector<RowResult>> run_rows(const std::vector<Row>& rows, const fs::path& scratch,
                                        int processes) {
  const size_t bytes = sizeof(Shared) + rows.size() * sizeof(SharedResult);
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return make_error(StatusCode::out_of_memory, "no memory for the results: {}",
                      std::strerror(errno));
  auto* const shared = static_cast<Shared*>(memory);
  auto* const results = reinterpret_cast<SharedResult*>(shared + 1);
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      run_shared(rows, scratch, *shared, results);
      ::_exit(0);
    }
    if (child > 0) children.push_back(child);
  }
  for (const pid_t child : children)
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  std::vector<RowResult> out;
  for (size_t i = 0; i < rows.size(); ++i) {
    const SharedResult& from = results[i];
    if (from.written)
      out.push_back({from.as_expected, from.text, from.seconds});
    else
      out.push_back({false, "  the process that ran it is gone\n", 0});
  }
  ::munmap(memory, bytes);
  return out;
}

}  // namespace stria::wrong
