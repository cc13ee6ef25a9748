// SPDX-License-Identifier: Apache-2.0
#include "guided_draw.h"

#include <algorithm>

#include "drawn_options.h"
#include "option_sets.h"

namespace stria::trust {
namespace {

using nlohmann::json;

// No pass is drawn less often than this share of what an always successful one is.
constexpr double kFloor = 0.004;
constexpr size_t kKept = 40;  // options that worked, for each pass

// Of a step drawn `of` times of which `hits` did something, with little known.
double share(double hits, double of, double otherwise, double trust) {
  return (hits + trust * otherwise) / (of + trust);
}

bool has_deps(const stripe::Program& program) {
  return std::any_of(program.entry.stmts.begin(), program.entry.stmts.end(),
                     [](const stripe::Statement& stmt) {
                       return stmt.block() && stmt.block()->tags.has("deps");
                     });
}

}  // namespace

void Tally::add(const Tally& other) {
  drawn += other.drawn;
  changed += other.changed;
  same += other.same;
  refused += other.refused;
}

GuidedDraw::GuidedDraw(const std::vector<PassInfo>& passes)
    : passes_(passes), by_pass_(passes.size()), worked_(passes.size()) {
  for (const PassInfo& pass : passes) rows_.push_back(pass.options());
}

double GuidedDraw::rate(const std::string& state, size_t pass) const {
  const Tally& all = by_pass_[pass];
  const double known = share(static_cast<double>(all.changed), static_cast<double>(all.drawn), 0.5, 2);
  const auto at = by_state_.find({state, pass});
  if (at == by_state_.end()) return known;
  return share(static_cast<double>(at->second.changed), static_cast<double>(at->second.drawn),
               known, 3);
}

size_t GuidedDraw::draw_pass(const std::string& state, const std::vector<int64_t>& uses,
                             Dice& dice) const {
  std::vector<double> weights;
  double sum = 0;
  for (size_t p = 0; p < passes_.size(); ++p) {
    const double known = rate(fmt::format("{}/{}", state, std::min<int64_t>(uses[p], 3)), p);
    // What the pipeline has often comes less often, so that pipelines have many passes.
    const double weight = kFloor + known * known * known / static_cast<double>(1 + uses[p]);
    sum += weight;
    weights.push_back(weight);
  }
  double at = static_cast<double>(dice.next() >> 11) / 9007199254740992.0 * sum;
  for (size_t p = 0; p < weights.size(); ++p)
    if ((at -= weights[p]) < 0) return p;
  return weights.size() - 1;
}

DrawnStep GuidedDraw::draw(const stripe::Program& program, const DrawnProgram& from,
                           const Machine& machine, const std::vector<int64_t>& uses,
                           Dice& dice) const {
  const std::string state = fmt::format("{}{}{}", from.kind,
                                        program.entry.tags.has("placed") ? "/placed" : "",
                                        has_deps(program) ? "/deps" : "");
  DrawnStep out;
  out.pass = draw_pass(state, uses, dice);
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

  const ProgramWords words(program);
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
  if (result != Result::changed) return;
  std::vector<std::string>& kept = worked_[step.pass];
  if (std::find(kept.begin(), kept.end(), step.options) != kept.end()) return;
  if (kept.size() == kKept) kept.erase(kept.begin());
  kept.push_back(step.options);
}

}  // namespace stria::trust
