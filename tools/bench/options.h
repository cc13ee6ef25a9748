// SPDX-License-Identifier: Apache-2.0
// What benches that run rows of cases on devices take from the command line, and how they end.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "must.h"
#include "stria/base/file.h"

namespace stria::bench {

// Where each option's value goes, by its name, "--rounds".
struct OptionTable {
  std::map<std::string_view, std::string*> texts;
  std::map<std::string_view, int*> numbers;
};

// Every argument is an option and its value. False, and stderr says why, if one is unknown, has no
// value, or has a text where a number belongs.
inline bool read_options(int argc, char** argv, const OptionTable& table) {
  for (int n = 1; n < argc; n += 2) {
    const std::string_view name = argv[n];
    const auto text = table.texts.find(name);
    const auto number = table.numbers.find(name);
    if (text == table.texts.end() && number == table.numbers.end()) {
      std::fprintf(stderr, "'%s': no such option\n", argv[n]);
      return false;
    }
    if (n + 1 == argc) {
      std::fprintf(stderr, "'%s': has no value\n", argv[n]);
      return false;
    }
    const char* const value = argv[n + 1];
    if (text != table.texts.end()) {
      *text->second = value;
      continue;
    }
    const char* const end = value + std::strlen(value);
    const auto [stop, error] = std::from_chars(value, end, *number->second);
    if (error != std::errc() || stop != end) {
      std::fprintf(stderr, "%s '%s': not a number\n", argv[n], value);
      return false;
    }
  }
  return true;
}

// Writes the report to the file, unless that is "". The exit status of a bench that has measured so
// many rows: 1, and stderr says so, if there is none.
inline int end_report(const nlohmann::json& report, const std::string& file, size_t rows) {
  if (!file.empty()) must(write_file(file, report.dump(1) + "\n"));
  if (rows == 0) std::fprintf(stderr, "no row has that name\n");
  return rows == 0 ? 1 : 0;
}

}  // namespace stria::bench
