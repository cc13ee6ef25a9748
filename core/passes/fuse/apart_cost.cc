// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/fuse/apart_cost.h"

#include "stria/base/text.h"
#include "stria/cost/search/tile_search.h"
#include "stria/stripe/tags.h"

namespace stria::passes {

using stripe::Block;

namespace {

// One of two costs that differ by more is clearly the lower one, though both are rough.
constexpr double kClear = 0.8;
// Apart has to gain so much: what follows would have to be fused with the second one, and a cost
// takes temporaries to stay where they are.
constexpr double kGain = 0.95;

cost::TiledBlock without_names(cost::TiledBlock block) {
  block.name.clear();
  for (cost::TiledView& view : block.views) view.name.clear();
  return block;
}

}  // namespace

// A kernel in a program of its own: a cost looks at the tensors around it.
class ApartCost::Asked {
 public:
  Asked(const Block& section, const Block& kernel, const cost::CostChoice& choice,
        const std::string& memory, const HardwareModel& model)
      : program_(alone(section, kernel)),
        tiled_(cost::tiled_block(block())),
        memory_(memory),
        answer_(choice.cost().on({program_, block(), tiled_, model, memory_, 1})) {}

  const cost::TiledBlock& tiled() const { return tiled_; }
  // Null: it cannot tell.
  cost::BlockCost* cost() const { return answer_.cost.get(); }
  // False: it refuses.
  bool start() const {
    if (!started_ && cost()) started_ = !cost()->start();
    return started_;
  }

 private:
  static stripe::Program alone(const Block& section, const Block& kernel) {
    stripe::Program out;
    out.entry.tags.set(stripe::tag::kProgram);
    Block main;
    main.tags = section.tags;
    main.refs = section.refs;
    main.stmts.emplace_back(kernel);
    out.entry.stmts.emplace_back(std::move(main));
    return out;
  }
  const Block& block() const { return *program_.main()->stmts[0].block(); }

  const stripe::Program program_;
  const cost::TiledBlock tiled_;
  const std::string memory_;
  const cost::TileCost::Answer answer_;
  mutable bool started_ = false;
};

ApartCost::Known& ApartCost::look_at(const Asked& asked) {
  Known next{without_names(asked.tiled()), asked.cost() ? asked.cost()->key() : nullptr};
  for (Known& known : known_)
    if (known.block == next.block && !known.key == !next.key &&
        (!next.key || next.key->equals(*known.key)))
      return known;
  Known& known = known_.emplace_back(std::move(next));
  if (!asked.start()) return known;
  const Result<cost::TileSpace> space = asked.cost()->space();
  if (!space.ok()) return known;
  known.tells = true;
  cost::Tile smallest, largest;
  for (const std::vector<int64_t>& sizes : *space) {
    smallest.push_back(sizes.front());
    largest.push_back(sizes.back());
  }
  known.has_tile = !asked.cost()->hopeless(smallest);
  known.least = asked.cost()->bound(smallest, largest);
  return known;
}

// Of the best tile that is found; infinite: none is.
double ApartCost::search(const Asked& asked, double enough, bool rough) {
  Known& known = look_at(asked);
  if (!known.has_tile || !asked.start()) return cost::kDoesNotFit;
  double& best = rough ? known.rough : known.best;
  if (best > 0) return best;
  cost::BlockCost& of = *asked.cost();
  cost::SearchCost search;
  search.of = [&](const cost::Tile& tile) { return of.of(tile); };
  search.bound = [&](const cost::Tile& low, const cost::Tile& high) { return of.bound(low, high); };
  search.hopeless = [&](const cost::Tile& tile) { return of.hopeless(tile); };
  search.enough = enough;
  search.rough = rough;
  const cost::Ranking found = cost::quick(*of.space(), search);
  const double cost = found.best.empty() ? cost::kDoesNotFit : found.best.front().score;
  // A tile that is good enough for one pair is not the best one for another.
  if (cost > enough) best = cost;
  return cost;
}

Refusal ApartCost::against(const Block& section, const Block& a, const Block& b,
                           const Block& fused) {
  const auto asked = [&](const Block& kernel) {
    return Asked(section, kernel, choice_, memory_, model_);
  };
  const Asked first = asked(a), second = asked(b), both = asked(fused);
  // Mostly the bounds say that nothing is gained.
  const Known &of_a = look_at(first), &of_b = look_at(second);
  if (!of_a.tells || !of_b.tells || !look_at(both).tells) return Refusal::none();
  const double least = of_a.least + of_b.least;
  double together = search(both, least / kGain, true);
  if (kGain * together <= least) return Refusal::none();
  // Steps make the first one hard to search.
  const double of_first = search(first, 0, false);
  double of_second = search(second, 0, true);
  // A rough search may miss so much that the answer would be another one.
  const double ratio = (of_first + of_second) / together;
  if (ratio > kClear && ratio < 1) {
    together = search(both, least / kGain, false);
    of_second = search(second, 0, false);
  }
  if (!(of_first + of_second < kGain * together)) return Refusal::none();
  if (together == cost::kDoesNotFit)
    return fmt::format("apart they cost {:.0f} and {:.0f}, and no tile of both fused fits",
                       of_first, of_second);
  return fmt::format("apart they cost {:.0f} and {:.0f}, fused {:.0f}", of_first, of_second,
                     together);
}

}  // namespace stria::passes
