// SPDX-License-Identifier: Apache-2.0
#include "guided_draw.h"

#include <algorithm>

#include "option_sets.h"

namespace stria::trust {
namespace {

using nlohmann::json;

// Percent of the steps of a pass that changed a program in a long run: where learning begins. Those
// that are not here did so less often.
double known_before(const std::string& pass) {
  static const std::map<std::string, int> percents = {{"agg_init", 45},
                                                      {"autotile", 50},
                                                      {"block_reduction", 65},
                                                      {"cache", 40},
                                                      {"common_subexpression", 50},
                                                      {"compute_deps", 85},
                                                      {"constant_fold", 70},
                                                      {"constraint_reduction", 50},
                                                      {"dead_code", 80},
                                                      {"group_memory", 1},
                                                      {"locate_block", 60},
                                                      {"locate_memory", 75},
                                                      {"matrix_groups", 1},
                                                      {"matrix_units", 1},
                                                      {"memory_placement", 80},
                                                      {"pack_panels", 55},
                                                      {"partition_compute", 50},
                                                      {"partition_memory", 30},
                                                      {"prune", 70},
                                                      {"rewrite_locations", 45},
                                                      {"schedule", 65},
                                                      {"tensorize", 50},
                                                      {"thread", 25},
                                                      {"thread_lanes", 25},
                                                      {"tile", 50},
                                                      {"unroll", 50}};
  const auto at = percents.find(pass);
  return at == percents.end() ? 0.15 : at->second / 100.0;
}

// No pass is drawn less often than this share of what an always successful one is.
constexpr double kFloor = 0.0022;
constexpr size_t kLook = 4;   // steps behind one that say whether it is a dead end
constexpr size_t kKept = 40;  // options that worked, for each pass

// Of a step drawn `of` times of which `hits` did something, with little known.
double share(double hits, double of, double otherwise, double trust) {
  return (hits + trust * otherwise) / (of + trust);
}

bool places(const std::string& pass) { return pass == "memory_placement" || pass == "schedule"; }

bool has_deps(const stripe::Program& program) {
  return std::any_of(
      program.entry.stmts.begin(), program.entry.stmts.end(),
      [](const stripe::Statement& stmt) { return stmt.block() && stmt.block()->tags.has("deps"); });
}

}  // namespace

void Tally::add(const Tally& other) {
  drawn += other.drawn;
  changed += other.changed;
  same += other.same;
  refused += other.refused;
  behind += other.behind;
  changed_behind += other.changed_behind;
}

GuidedDraw::GuidedDraw(const std::vector<PassInfo>& passes)
    : passes_(passes), by_pass_(passes.size()), in_vain_(passes.size(), 0), worked_(passes.size()) {
  for (const PassInfo& pass : passes) rows_.push_back(pass.options());
}

void GuidedDraw::begin_pipeline() {
  latest_.clear();
  recipe_.clear();
  std::fill(in_vain_.begin(), in_vain_.end(), 0);
}

std::string GuidedDraw::next_of_recipe(const std::vector<int64_t>& uses, bool placed, size_t behind,
                                       Dice& dice) {
  if (placed) recipe_.clear();
  if (recipe_.empty() && !placed && behind > 3 && dice.once_in(14)) {
    const size_t pass = dice.below(passes_.size());
    const std::string& name = passes_[pass].name;
    const std::vector<std::string> given = given_options(name);
    const std::string options = given.empty() ? "{}" : dice.one_of(given);
    const std::string before = step_before(name, options);
    if (before.empty() || uses[pass] > 0) return "";
    recipe_.push_back(json{{name, json::parse(options)}}.dump());
    const json steps = json::parse("[" + before + "]");
    for (size_t i = steps.size(); i-- > 0;) recipe_.push_back(steps[i].dump());
  }
  if (recipe_.empty()) return "";
  std::string next = recipe_.back();
  recipe_.pop_back();
  return next;
}

DrawnStep GuidedDraw::of_recipe(const std::string& step, const std::string& state,
                                const ProgramWords& words, const Machine& machine,
                                const std::vector<int64_t>& uses, Dice& dice) const {
  const json whole = json::parse(step);
  DrawnStep out;
  out.source = OptionSource::given;
  while (out.pass + 1 < passes_.size() && !whole.contains(passes_[out.pass].name)) ++out.pass;
  const std::string& name = passes_[out.pass].name;
  out.state = fmt::format("{}/{}", state, std::min<int64_t>(uses[out.pass], 3));
  const json options =
      OptionDrawer(words, machine.model, dice).changed(whole.at(name), rows_[out.pass]);
  out.options = options.dump();
  out.json = json{{name, options}}.dump();
  return out;
}

double GuidedDraw::rate(const std::string& state, size_t pass) const {
  const Tally& all = by_pass_[pass];
  const double known = share(static_cast<double>(all.changed), static_cast<double>(all.drawn),
                             known_before(passes_[pass].name), 20);
  const auto at = by_state_.find({state, pass});
  if (at == by_state_.end()) return known;
  return share(static_cast<double>(at->second.changed), static_cast<double>(at->second.drawn),
               known, 3);
}

double GuidedDraw::worth(const std::string& state, size_t pass, size_t behind) const {
  const double now = rate(state, pass);
  const Tally& all = by_pass_[pass];
  double later =
      share(static_cast<double>(all.changed_behind), static_cast<double>(all.behind), 0.5, 8);
  if (const auto at = by_state_.find({state, pass}); at != by_state_.end())
    later = share(static_cast<double>(at->second.changed_behind),
                  static_cast<double>(at->second.behind), later, 8);
  const auto steps = static_cast<double>(std::min(behind, kLook));
  return (now + steps * later) / (1 + steps) * now * 1.5;
}

size_t GuidedDraw::draw_pass(const std::string& state, const std::vector<int64_t>& uses,
                             size_t behind, Dice& dice) const {
  const bool placed = state.find("/placed") != std::string::npos;
  std::vector<double> weights;
  double sum = 0;
  for (size_t p = 0; p < passes_.size(); ++p) {
    const double known =
        worth(fmt::format("{}/{}", state, std::min<int64_t>(uses[p], 3)), p, behind);
    // What the pipeline has often comes less often, so that pipelines have many passes, and so does
    // what has just left the program alone.
    double weight =
        known * known * known * known / static_cast<double>(1 + uses[p] + 4 * in_vain_[p]);
    if (placed && passes_[p].needs == PassNeeds::before_placement) weight = 0;
    // Most passes run before these.
    if (!placed && places(passes_[p].name)) weight /= static_cast<double>(1 + behind * behind);
    if (passes_[p].name == "compute_deps") weight /= 1 + static_cast<double>(behind) / 4;
    weight += kFloor / (placed && passes_[p].needs == PassNeeds::before_placement ? 4 : 1);
    sum += weight;
    weights.push_back(weight);
  }
  double at = static_cast<double>(dice.next() >> 11) / 9007199254740992.0 * sum;
  for (size_t p = 0; p < weights.size(); ++p)
    if ((at -= weights[p]) < 0) return p;
  return weights.size() - 1;
}

DrawnStep GuidedDraw::draw(const stripe::Program& program, const DrawnProgram& from,
                           const Machine& machine, const std::vector<int64_t>& uses, size_t behind,
                           Dice& dice) {
  const std::string state =
      fmt::format("{}{}{}", from.kind, program.entry.tags.has("placed") ? "/placed" : "",
                  has_deps(program) ? "/deps" : "");
  const ProgramWords words(program);
  const std::string begun = next_of_recipe(uses, program.entry.tags.has("placed"), behind, dice);
  if (!begun.empty()) return of_recipe(begun, state, words, machine, uses, dice);
  DrawnStep out;
  out.pass = draw_pass(state, uses, behind, dice);
  out.state = fmt::format("{}/{}", state, std::min<int64_t>(uses[out.pass], 3));
  const PassInfo& pass = passes_[out.pass];
  const std::vector<OptionRow>& rows = rows_[out.pass];

  // What each source of options has to give.
  std::vector<std::vector<std::string>> sources(static_cast<size_t>(OptionSource::count));
  sources[static_cast<size_t>(OptionSource::given)] = given_options(pass.name);
  for (const PipelineStep& step : machine.shipped.steps)
    if (step.pass == pass.name)
      sources[static_cast<size_t>(OptionSource::shipped)].push_back(
          json::parse(step.json).at(step.pass).dump());
  sources[static_cast<size_t>(OptionSource::worked)] = worked_[out.pass];
  double sum = 0;
  std::vector<double> weights;
  for (size_t s = 0; s < sources.size(); ++s) {
    const auto source = static_cast<OptionSource>(s);
    double weight = 0;
    if (source == OptionSource::fresh || !sources[s].empty()) {
      const auto at = by_source_.find({out.pass, source});
      const Tally tally = at == by_source_.end() ? Tally() : at->second;
      const double known =
          share(static_cast<double>(tally.changed), static_cast<double>(tally.drawn), 0.5, 4);
      weight = 0.05 + known * known;
    }
    sum += weight;
    weights.push_back(weight);
  }
  double at = static_cast<double>(dice.next() >> 11) / 9007199254740992.0 * sum;
  size_t chosen = 0;
  while (chosen + 1 < weights.size() && (at -= weights[chosen]) >= 0) ++chosen;
  if (weights[chosen] == 0) chosen = 0;
  out.source = static_cast<OptionSource>(chosen);

  OptionDrawer drawer(words, machine.model, dice);
  json options;
  if (out.source == OptionSource::fresh)
    options = drawer.fresh(rows);
  else
    options = drawer.changed(json::parse(dice.one_of(sources[chosen])), rows);
  out.options = options.dump();
  out.json = json{{pass.name, options}}.dump();
  return out;
}

void GuidedDraw::learn(const DrawnStep& step, Result result) {
  Tally tally;
  tally.drawn = 1;
  tally.changed = result == Result::changed;
  tally.same = result == Result::same;
  tally.refused = result == Result::refused;
  by_pass_[step.pass].add(tally);
  by_state_[{step.state, step.pass}].add(tally);
  by_source_[{step.pass, step.source}].add(tally);
  const Tally follows{.behind = 1, .changed_behind = tally.changed};
  for (size_t back = 1; back <= std::min(kLook, latest_.size()); ++back) {
    const auto& before = latest_[latest_.size() - back];
    by_pass_[before.second].add(follows);
    by_state_[before].add(follows);
  }
  latest_.emplace_back(step.state, step.pass);
  if (result == Result::changed)
    std::fill(in_vain_.begin(), in_vain_.end(), 0);
  else
    ++in_vain_[step.pass];
  if (result != Result::changed) return;
  std::vector<std::string>& kept = worked_[step.pass];
  if (std::find(kept.begin(), kept.end(), step.options) != kept.end()) return;
  if (kept.size() == kKept) kept.erase(kept.begin());
  kept.push_back(step.options);
}

}  // namespace stria::trust
