// SPDX-License-Identifier: Apache-2.0
// Device Stripe line by line: what a line says, and a text with other statements in their place.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace third_chip {

// "fp32(6:5, 5:1)" of a refinement's line.
struct ViewType {
  std::string element;
  std::vector<int64_t> sizes;
};

// $result = operation.type(operands)
struct Operation {
  std::string result;
  std::string name;
  std::string type;
  std::vector<std::string> operands;
};

// What the lines above have said.
struct Known {
  std::string kernel_tags;                     // the line that began the kernel
  std::map<std::string, ViewType> views;       // by name, the innermost
  std::map<std::string, std::string> scalars;  // "$x" to its type
  std::string type_of(const std::string& scalar) const;
};

std::optional<Operation> read_operation(std::string_view statement);
std::vector<std::string> split_list(std::string_view text);
uint64_t bytes_of_type(const std::string& type);

// Both get text without the spaces in front. A statement comes without its number, and becomes
// several or itself; a line of a block's head becomes another.
using StatementChange =
    std::function<std::vector<std::string>(const std::string& statement, const Known& known)>;
using HeadChange = std::function<std::string(const std::string& line, const Known& known)>;

std::string change_stripe(std::string_view stripe, const StatementChange& statement,
                          const HeadChange& head);
// Bytes of an element of each view in the heads of the sections, by name.
std::map<std::string, uint64_t> element_sizes(std::string_view stripe);

}  // namespace third_chip
