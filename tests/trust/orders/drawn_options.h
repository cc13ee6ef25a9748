// SPDX-License-Identifier: Apache-2.0
// Options for a pass, drawn from its field table for the program and the machine at hand: tags and
// indices that the program has, units of the model, numbers near their limits, and now and then
// nonsense.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dice.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/pass/pipeline.h"
#include "stria/stripe/block.h"

namespace stria::trust {

// What a program offers to options.
struct ProgramWords {
  std::vector<std::vector<std::string>> of_blocks;  // the tags of each block that has some
  std::vector<std::string> of_refinements;          // tags
  std::vector<std::string> indices, index_tags;
  std::vector<std::string> functions;  // intrinsics
  explicit ProgramWords(const stripe::Program& program);
};

class OptionDrawer {
 public:
  OptionDrawer(const ProgramWords& words, const HardwareModel& model, Dice& dice)
      : words_(words), model_(model), dice_(dice) {}

  // All fields by chance.
  nlohmann::json fresh(const std::vector<OptionRow>& rows);
  // `options`, with some of its fields, and tags that no block has, drawn again.
  nlohmann::json changed(const nlohmann::json& options, const std::vector<OptionRow>& rows);

 private:
  // The fields from `at` on of groups of this depth; `at` moves behind them.
  nlohmann::json object(const std::vector<OptionRow>& rows, size_t& at, int depth, size_t one_in);
  nlohmann::json value(const OptionRow& row);
  nlohmann::json number(const OptionRow& row);
  nlohmann::json tags(const OptionRow& row);
  nlohmann::json location(const OptionRow& row);
  std::string unit(const OptionRow& row);
  // Is it a unit or a location that the model lacks?
  bool lacks(const OptionRow& row, const nlohmann::json& given) const;
  std::string index();
  std::string new_tag();
  nlohmann::json nonsense();

  const ProgramWords& words_;
  const HardwareModel& model_;
  Dice& dice_;
};

}  // namespace stria::trust
