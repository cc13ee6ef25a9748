// SPDX-License-Identifier: Apache-2.0
// llvm_cpu's code beside hand-written libraries and what memory gives, on one core.
//   stria_cpu_bench [--set NAME,…] [--only TEXT] [--rounds N] [--json FILE] [--pipeline FILE]
//                   [--parameter NAME=VALUE]… [--dump FOLDER] [--sets FOLDER] [--list]
// --set: sets whose name begins so. --only: rows whose name contains it. --pipeline: a pass
// pipeline in place of the plugin's. --parameter: a parameter of the pipeline, WINOGRAD=4. --dump:
// device Stripe of each row. --sets: where the sets lie.
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "copy_limit.h"
#include "ours.h"
#include "peer.h"
#include "rows.h"
#include "stria/base/file.h"
#include "stria/runtime/runtime.h"

namespace stria::bench {
namespace {

std::filesystem::path folder_of_executable() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

int run(const Asked& asked, const std::string& json, bool list, const std::string& once) {
  const std::vector<CaseSet> all = must(read_sets(asked.sets));
  if (list) {
    for (const CaseSet& set : all)
      std::printf("%-16s %3zu rows: %s\n", set.name.c_str(), set.cases.size(), set.what.c_str());
    return 0;
  }
  if (!once.empty()) {
    for (const CaseSet& set : all)
      if (set.name == once) return compile_once(set);
    return 1;
  }
  const std::vector<std::unique_ptr<PeerLibrary>> peers =
      load_peers(folder_of_executable().string());
  Bench bench(asked, peers);
  nlohmann::json report = bench.header();
  size_t rows = 0;
  for (const CaseSet& set : all) {
    if (!begins_with_one_of(set.name, asked.set)) continue;
    nlohmann::json of_set = bench.run(set);
    rows += of_set["rows"].size();
    if (!of_set["rows"].empty()) report["sets"].push_back(std::move(of_set));
  }
  if (!json.empty()) {
    const Status written = write_file(json, report.dump(1) + "\n");
    STRIA_CHECK(written.ok(), "{}", written.to_string());
  }
  if (rows == 0) std::fprintf(stderr, "no row has that name\n");
  return rows == 0 ? 1 : 0;
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  stria::bench::Asked asked;
  std::string json, once;
  asked.sets = stria::bench::sets_folder(STRIA_SOURCE_DIR).string();
  bool list = false;
  const std::map<std::string, std::string*> texts = {
      {"--set", &asked.set},           {"--only", &asked.only}, {"--json", &json},
      {"--pipeline", &asked.pipeline}, {"--dump", &asked.dump}, {"--sets", &asked.sets},
      {"--compile-once", &once}};
  for (int n = 1; n < argc; ++n) {
    const bool more = n + 1 < argc;
    auto text = texts.find(argv[n]);
    if (std::strcmp(argv[n], "--rounds") == 0 && more && std::atoi(argv[n + 1]) > 0) {
      asked.rounds = std::atoi(argv[++n]);
    } else if (std::strcmp(argv[n], "--list") == 0) {
      list = true;
    } else if (std::strcmp(argv[n], "--parameter") == 0 && more) {
      asked.parameters.emplace_back(argv[++n]);
    } else if (text != texts.end() && more) {
      *text->second = argv[++n];
    } else {
      std::fprintf(
          stderr,
          "usage: stria_cpu_bench [--set NAME,...] [--only TEXT] [--rounds N] "
          "[--json FILE]\n                       [--pipeline FILE] [--parameter NAME=VALUE]... "
          "[--dump FOLDER]\n                       [--sets FOLDER] [--list]\n");
      return 2;
    }
  }
  return stria::bench::run(asked, json, list, once);
}
