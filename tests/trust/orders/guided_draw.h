// SPDX-License-Identifier: Apache-2.0
// Chooses the next step of a pipeline by what applied so far: passes and sources of options that
// changed programs like this one come more often, and every pass keeps coming. One draw is one
// step; nothing is drawn again because it did not apply.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "dice.h"
#include "drawn_options.h"
#include "drawn_program.h"
#include "stria/pass/pipeline.h"

namespace stria::trust {

// How often something was drawn, and how often it applied and changed the program.
struct Tally {
  int64_t drawn = 0, changed = 0, same = 0, refused = 0;
  int64_t behind = 0, changed_behind = 0;  // of the few steps after it: is it a dead end?
  void add(const Tally& other);
};

// Where the options of a step come from.
enum class OptionSource { fresh, given, shipped, worked, count };

struct DrawnStep {
  size_t pass = 0;  // of the registry
  OptionSource source = OptionSource::fresh;
  std::string json;     // {"autotile": {…}}
  std::string options;  // {…}
  std::string state;    // what was known of the program: the key of what is learned
};

class GuidedDraw {
 public:
  explicit GuidedDraw(const std::vector<PassInfo>& passes);

  // `uses`: how often the pipeline has each pass already; `behind`: how many steps are to follow.
  DrawnStep draw(const stripe::Program& program, const DrawnProgram& from, const Machine& machine,
                 const std::vector<int64_t>& uses, size_t behind, Dice& dice);
  void begin_pipeline();
  enum class Result { changed, same, refused };
  void learn(const DrawnStep& step, Result result);

 private:
  double rate(const std::string& state, size_t pass) const;
  // What a step in this state is worth: whether it applies, and whether those after it do.
  double worth(const std::string& state, size_t pass, size_t behind) const;
  size_t draw_pass(const std::string& state, const std::vector<int64_t>& uses, size_t behind,
                   Dice& dice) const;

  // The next step of what was begun for a pass that works on what others make; none: "".
  std::string next_of_recipe(const std::vector<int64_t>& uses, bool placed, size_t behind,
                             Dice& dice);
  DrawnStep of_recipe(const std::string& step, const std::string& state, const ProgramWords& words,
                      const Machine& machine, const std::vector<int64_t>& uses, Dice& dice) const;

  const std::vector<PassInfo>& passes_;
  std::vector<std::vector<OptionRow>> rows_;  // by pass
  std::vector<Tally> by_pass_;
  std::map<std::pair<std::string, size_t>, Tally> by_state_;
  std::map<std::pair<size_t, OptionSource>, Tally> by_source_;
  std::vector<std::string> recipe_;                     // steps to come, the next one last
  std::vector<int64_t> in_vain_;                        // by pass: tries since the program changed
  std::vector<std::pair<std::string, size_t>> latest_;  // state and pass of this pipeline's steps
  std::vector<std::vector<std::string>> worked_;        // options by pass, the latest
};

}  // namespace stria::trust
