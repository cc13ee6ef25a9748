// SPDX-License-Identifier: Apache-2.0
#include "company/neighbours.h"

#include <algorithm>
#include <map>

#include "stria/hal/files/manifest.h"
#include "stria/hal/plugin_set.h"

namespace stria::conformance {
namespace {

namespace fs = std::filesystem;

// Beyond that the suite would take too long, and show nothing new.
constexpr size_t kMostNeighbours = 8;

std::string case_name(const fs::path& folder) {
  std::string out = folder.filename().string();
  for (char& c : out)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '_';
  return out.empty() ? "plugin" : out;
}

}  // namespace

std::vector<Neighbour> neighbours_of(const fs::path& directory) {
  std::error_code error;
  const fs::path own = fs::weakly_canonical(directory, error);
  std::vector<fs::path> folders;
  for (fs::directory_iterator it(own.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    if (fs::exists(it->path() / "plugin.json", ignored)) folders.push_back(it->path());
  }
  for (const hal::FoundPlugin& found : hal::find_plugins(hal::SearchOptions()))
    if (found.search.ok()) folders.push_back(found.directory);

  std::map<fs::path, std::string> kept;  // canonical
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    const fs::path canonical = fs::weakly_canonical(folder, ignored);
    // One that is no plugin at all is nobody's company.
    if (canonical == own || kept.size() == kMostNeighbours || !hal::read_manifest(canonical).ok())
      continue;
    kept.emplace(canonical, case_name(canonical));
  }
  std::vector<Neighbour> out;
  std::map<std::string, int> times;
  for (const auto& [folder, name] : kept) {
    const int time = ++times[name];
    out.push_back({time == 1 ? name : fmt::format("{}_{}", name, time), folder});
  }
  std::sort(out.begin(), out.end(),
            [](const Neighbour& a, const Neighbour& b) { return a.name < b.name; });
  return out;
}

}  // namespace stria::conformance
