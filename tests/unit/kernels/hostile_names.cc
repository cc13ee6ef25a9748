// SPDX-License-Identifier: Apache-2.0
#include "hostile_names.h"

#include <filesystem>
#include <set>
#include <sstream>

#include "stria/base/file.h"
#include "stria/base/status.h"
#include "stria/base/text.h"

namespace stria::kernels {

const std::vector<std::string>& hostile_names() {
  static const std::vector<std::string> kAll = [] {
    const std::filesystem::path path = STRIA_SOURCE_DIR "/tests/unit/kernels/hostile_names.txt";
    const Result<std::string> text = read_file(path);
    STRIA_CHECK(text.ok(), "{}", text.status().message());
    std::vector<std::string> names;
    std::set<std::string> seen;
    int number = 0;
    for (const std::string& line : split(*text, '\n')) {
      ++number;
      if (line.starts_with("#")) continue;
      std::istringstream words(line);
      for (std::string word; words >> word; names.push_back(word))
        STRIA_CHECK(seen.insert(word).second, "{}:{}: '{}' is there twice", path.string(), number,
                    word);
    }
    // Longer than any compiler has to tell apart, and different at the end alone.
    for (const char* end : {"a", "b", "_1", "__"}) names.push_back(std::string(500, 'n') + end);
    return names;
  }();
  return kAll;
}

}  // namespace stria::kernels
