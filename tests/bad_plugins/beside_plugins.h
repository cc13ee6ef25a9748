// SPDX-License-Identifier: Apache-2.0
// The command in a folder of its own, beside plugins that a test makes.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "bad_folder.h"
#include "command.h"

namespace stria::bad_plugins {

class BesidePlugins : public ::testing::Test {
 protected:
  void SetUp() override {
    files_.write("plus_one.tile", "function plus_one(A[N]) -> (B) { B = A + 1; }\n");
    fs::permissions(files_.path("."), fs::perms(0700));
    files_.set_plugin_path(plugins().string());
  }
  fs::path plugins() const { return files_.path("plugins"); }
  end_to_end::Ended run(const std::string& command) {
    return files_.stria(end_to_end::words(command));
  }
  end_to_end::Folder files_;
};

}  // namespace stria::bad_plugins
