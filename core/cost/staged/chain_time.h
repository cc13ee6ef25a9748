// SPDX-License-Identifier: Apache-2.0
// How long a machine takes for a chain of kernels that run over common tiles: each point of a loop
// runs all of them on one tile. What goes from one to the next stays in the scratchpad, and several
// points are under way, so that units of several kinds and the transfer unit work at once.
//
//   for h:  bring K[h], V[h]                  outer indices: what moves with them alone comes once
//     for i:  bring Q[h, i];  S = Q K;  P = softmax(S);  O = P V;  take O away
//
// Terms, in cycles of the model's clock, with what staged_time says of one operation:
//
//   one      of a point: bring + all operations, one after the other + take away
//   period   of points: the longest of what each unit is busy, or its port is with what others move
//            at the same bank; what moves of one tensor, which lies in one bank; bring, take away
//            (their sum if they take turns), slowed while operands move at the same only port; and
//            one over the points under way. If a sum is added up in steps, a norm of these: more
//            than the longest, since steps of several points stand in queues
//   all      whole tensors, and one and a period for each further point; likewise of the loop
//            around, whose points do not overlap but for what they bring: the loop inside drains
//
// The last kernel may sum over common indices, as the second product of two does over the hidden
// layer. The part of the result stays in the scratchpad while a loop adds to it: the loop inside,
// or the only one, which moves nothing of the result; else all of the result is there. A period is
// not shorter than that kernel takes, since one point after the other adds to the part.
//
//   for h:  bring W[h], U[h];  S = X W;  T = f(S);  Z += T U           take Z away
//
// If there is one loop, the first kernel may add up its longest sum in steps, each of which brings
// what it reads; the others follow when the sum is whole.
//
//   for b, h:  { for i:  bring X[b, i], W[i, h];  S += X W }  T = f(S);  take T away
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stria/cost/search/tile_search.h"
#include "stria/cost/staged/staged_rates.h"
#include "stria/cost/staged/staged_time.h"
#include "stria/stripe/block.h"

namespace stria::cost {

// A way to run a kernel: on which unit, and whether a tile is spread over its instances.
struct ChainWay {
  StagedRates rates;
  bool other_unit = false;  // not the unit that is meant for such kernels
};

struct ChainKernel {
  const stripe::Block* block = nullptr;  // borrowed, as the ways are
  const std::vector<ChainWay>* ways = nullptr;
  std::vector<std::string> common;  // its own name of each common index
};

// What goes through a chain, by name.
struct ChainTensor {
  int64_t bytes = 0;
  bool temporary = false;  // between kernels
  bool inside = false;     // only these kernels use it
};
using ChainTensors = std::map<std::string, ChainTensor>;

struct ChainChoice {
  std::vector<int64_t> tile;          // of each common index
  std::vector<bool> outer;            // those whose loop is around that of the others
  int64_t under_way = 1;              // points of the outer loop; of the only one
  int64_t steps_under_way = 1;        // of the loop inside, if there are two; of a sum's steps
  std::string sum;                    // the first kernel adds it up in steps
  int64_t step = 0;                   // points of it in each of them; 0: it stays whole
  std::vector<const ChainWay*> ways;  // by kernel
  // Tensors that come, or go, with each point: a kernel, and its view of it without allocations.
  std::vector<std::pair<size_t, size_t>> tile_by_tile;
  // A point of the outer loop, in cycles: of the busiest unit, of the transfer unit, and if no
  // other point is under way.
  struct Point {
    double busy = 0, moving = 0, alone = 0;
  };
  Point point;
  double cycles = 0;
};

// The best tiles of a chain that takes fewer cycles than `below`, or nullopt: no tile of several
// points does or fits, or a unit has no rate. `ranges`: of the common indices.
std::optional<ChainChoice> best_chain(const std::vector<ChainKernel>& kernels,
                                      const std::vector<int64_t>& ranges,
                                      const ChainTensors& tensors, double below);

// The costs of a kernel by itself, over the tiles that `autotile` looks at; infinite: none fits.
// Each is found once. Borrows the ways.
class AloneCost {
 public:
  AloneCost(const stripe::Block& kernel, const std::vector<ChainWay>& ways,
            const ChainTensors& tensors);
  // No tile costs less.
  double least();
  // Of the best tile that is found; `rough`: by a short search.
  double best(bool rough);

 private:
  std::vector<const ChainWay*> way_of_;
  std::vector<StagedKernel> kernels_;
  AskedTiles asked_;
  std::optional<double> least_, rough_, best_;
};

// "[h:1, i:128]…" without names: the terms in one line.
std::string to_string(const ChainChoice& choice);

}  // namespace stria::cost
