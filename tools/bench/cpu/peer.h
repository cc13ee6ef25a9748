// SPDX-License-Identifier: Apache-2.0
// What others offer for a case. Libraries that cannot share a process's symbols (two versions of
// one) are modules of their own, which export stria_bench_peers().
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cases.h"

namespace stria::bench {

// Borrowed while the peer lives.
using Inputs = std::map<std::string, const float*>;

class Peer {
 public:
  virtual ~Peer() = default;
  // "oneDNN 2.6.3 matmul brg:avx512_core": what runs, as the library itself says.
  virtual std::string name() const = 0;
  // One synchronous run on one thread.
  virtual void run() = 0;
  // The result as our program lays it out, or nothing where the peer's run does not leave one.
  virtual std::vector<float> result() = 0;
};

class PeerLibrary {
 public:
  virtual ~PeerLibrary() = default;
  virtual std::string name() const = 0;  // with version and what was forced
  // Every way that this library has for the case, none if it has none. With `backward`, of a
  // convolution: its result and both derivatives in one run.
  virtual std::vector<std::unique_ptr<Peer>> peers_of(const Case& what, const Inputs& inputs,
                                                      bool backward) = 0;
};

// The modules beside the executable that can be loaded, and the BLAS libraries that are found in
// `folder`, or by the loader. To be called before any other thread runs: what is forced is said by
// environment variables. Why one is missing goes to stderr.
std::vector<std::unique_ptr<PeerLibrary>> load_peers(const std::string& folder);

using MakePeerLibrary = PeerLibrary* (*)();
constexpr const char* kMakePeerLibrary = "stria_bench_peers";

}  // namespace stria::bench
