// SPDX-License-Identifier: Apache-2.0
#include "bad_folder.h"

#include <gtest/gtest.h>

#include "stria/base/file.h"

namespace stria::bad_plugins {

std::string ManifestText::text() const {
  return R"({"schema": 1, "id": ")" + id + R"(", "version": ")" + version + R"(", "library": ")" +
         library + R"(", "abi": {"major": 0, "minor": )" + abi +
         R"(}, "stripe": {"major": 1, "minor": )" + stripe + R"(}, "devices": {")" + kind +
         R"(": {"hw": "hw/reference.json", "pipeline": "passes/reference.json"}})" + more + "}\n";
}

void put(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  ASSERT_TRUE(write_file(path, bytes).ok()) << path;
  fs::permissions(path, fs::perms(0644));
  fs::permissions(path.parent_path(), fs::perms(0755));
}

fs::path built_object(const std::string& name) {
  return fs::path(STRIA_BINARY_DIR) / "tests/bad_plugins" / ("lib" + name + ".so");
}

fs::path make_bad(const fs::path& folder, const std::string& name, const std::string& misdeed) {
  fs::path made = make_bad(folder, name, ManifestText());
  put(made / "misdeed", misdeed + "\n");
  return made;
}

fs::path make_bad(const fs::path& folder, const std::string& name, ManifestText manifest) {
  manifest.id = name;
  const fs::path made = folder / name;
  put(made / "plugin.json", manifest.text());
  for (const char* data : {"hw", "passes"}) {
    fs::copy(hal::built_plugin("reference") / data, made / data, fs::copy_options::recursive);
    fs::permissions(made / data, fs::perms(0755));
  }
  fs::copy_file(built_object("bad"), made / "libbad.so");
  fs::permissions(made / "libbad.so", fs::perms(0755));
  return made;
}

}  // namespace stria::bad_plugins
