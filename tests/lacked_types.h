// SPDX-License-Identifier: Apache-2.0
// What the device under test lacks: STRIA_TEST_LACKS="fp64 i64" names element types, with blanks
// between. A program that needs one of them may be refused when it is compiled, by a message that
// names the type, the feature of the driver and the device; any other failure is one. Suites count
// both what ran and what was refused: a device that refuses everything shows nothing.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <string>

namespace stria {

class LackedTypes {
 public:
  LackedTypes() {
    const char* text = std::getenv("STRIA_TEST_LACKS");
    std::istringstream words(text ? text : "");
    for (std::string type; words >> type;) types_ += (types_.empty() ? "" : "|") + type;
  }

  bool any() const { return !types_.empty(); }
  // Counts `status` of a compile on `device` as such a refusal, if it is one.
  template <typename Device, typename Status>
  bool refused(const Device& device, const Status& status) {
    using StatusCode = decltype(status.code());
    const std::string& name = device.info().name;
    return status.code() == StatusCode::unsupported &&
           status.message().find(name.substr(0, name.find(" ("))) != std::string::npos &&
           refused(status.message());
  }
  // The same of what a command says.
  bool refused(const std::string& text) {
    if (types_.empty()) return false;
    static const std::regex feature(R"(\b(shader\w+|storageBuffer\w+|workgroupMemory\w+)\b)");
    if (!std::regex_search(text, std::regex("\\b(" + types_ + ")\\b")) ||
        !std::regex_search(text, feature))
      return false;
    ++refused_;
    return true;
  }
  void ran() { ++ran_; }

  // At the end of a suite; fails if one of the two never happened.
  void expect_both() const {
    if (types_.empty()) return;
    std::printf("ran: %d, refused for a type that the device lacks: %d\n", ran_, refused_);
    EXPECT_GT(ran_, 0) << "nothing ran: every program was refused";
    EXPECT_GT(refused_, 0) << "STRIA_TEST_LACKS names types, and no program was refused";
  }

 private:
  std::string types_;  // "fp64|i64"
  int ran_ = 0, refused_ = 0;
};

}  // namespace stria
