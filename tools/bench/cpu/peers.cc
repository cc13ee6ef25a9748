// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "peer.h"

namespace stria::bench {
namespace {

// The BLAS interface: column-major, so C' = B' A' is asked for.
using Sgemm = void (*)(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
                       const int* k, const float* alpha, const float* a, const int* lda,
                       const float* b, const int* ldb, const float* beta, float* c, const int* ldc);

class BlasPeer final : public Peer {
 public:
  BlasPeer(std::string name, Sgemm sgemm, const Gemm& gemm, const Inputs& inputs)
      : name_(std::move(name)),
        sgemm_(sgemm),
        m_(static_cast<int>(gemm.m)),
        n_(static_cast<int>(gemm.n)),
        k_(static_cast<int>(gemm.k)),
        transposed_(gemm.transposed),
        a_(inputs.at("A")),
        b_(inputs.at("B")),
        c_(static_cast<size_t>(gemm.m * gemm.n)) {}
  std::string name() const override { return name_; }
  void run() override {
    const float one = 1, zero = 0;
    const int ldb = transposed_ ? k_ : n_;
    sgemm_(transposed_ ? "T" : "N", "N", &n_, &m_, &k_, &one, b_, &ldb, a_, &k_, &zero, c_.data(),
           &n_);
  }
  std::vector<float> result() override { return c_; }

 private:
  const std::string name_;
  const Sgemm sgemm_;
  const int m_, n_, k_;
  const bool transposed_;
  const float *const a_, *const b_;
  std::vector<float> c_;
};

class Blas final : public PeerLibrary {
 public:
  Blas(std::string name, Sgemm sgemm) : name_(std::move(name)), sgemm_(sgemm) {}
  std::string name() const override { return name_; }
  std::vector<std::unique_ptr<Peer>> peers_of(const Case& what, const Inputs& inputs,
                                              bool) override {
    std::vector<std::unique_ptr<Peer>> out;
    if (what.gemm) out.push_back(std::make_unique<BlasPeer>(name_, sgemm_, *what.gemm, inputs));
    return out;
  }

 private:
  const std::string name_;
  const Sgemm sgemm_;
};

void* open_library(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) std::fprintf(stderr, "no peer: %s\n", dlerror());
  return library;
}

template <typename Function>
Function function_of(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

std::string in_folder(const std::string& folder, const std::string& file) {
  return std::filesystem::exists(std::filesystem::path(folder) / file) ? folder + "/" + file : file;
}

std::unique_ptr<PeerLibrary> open_blas(const std::string& folder) {
  const char* core = has_avx512() ? "SkylakeX" : "Haswell";
  setenv("OPENBLAS_CORETYPE", core, 0);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  void* library = open_library(in_folder(folder, "libopenblas.so.0"));
  if (!library) return nullptr;
  const auto sgemm = function_of<Sgemm>(library, "sgemm_");
  const auto corename = function_of<const char* (*)()>(library, "openblas_get_corename");
  if (!sgemm || !corename) return nullptr;
  return std::make_unique<Blas>(std::string("OpenBLAS ") + corename(), sgemm);
}

std::unique_ptr<PeerLibrary> open_blis(const std::string& folder) {
  // Elsewhere it knows the processors that it has kernels for.
  if (has_avx512()) setenv("BLIS_ARCH_TYPE", "0", 0);
  setenv("BLIS_NUM_THREADS", "1", 1);
  void* library = open_library(in_folder(folder, "libblis.so.4"));
  if (!library) return nullptr;
  const auto sgemm = function_of<Sgemm>(library, "sgemm_");
  const auto query = function_of<int (*)()>(library, "bli_arch_query_id");
  const auto text = function_of<const char* (*)(int)>(library, "bli_arch_string");
  const auto init = function_of<void (*)()>(library, "bli_init");
  if (!sgemm || !query || !text || !init) return nullptr;
  init();  // it asks whether it has the kernels that are forced
  return std::make_unique<Blas>(std::string("BLIS ") + text(query()), sgemm);
}

}  // namespace

std::vector<std::unique_ptr<PeerLibrary>> load_peers(const std::string& folder) {
  std::vector<std::unique_ptr<PeerLibrary>> out;
  setenv("OMP_NUM_THREADS", "1", 1);
  for (const char* module : {"libstria_peer_onednn2.so", "libstria_peer_onednn3.so"}) {
    const std::string file = folder + "/" + module;
    if (!std::filesystem::exists(file)) continue;
    void* library = open_library(file);
    if (!library) continue;
    if (const auto make = function_of<MakePeerLibrary>(library, kMakePeerLibrary))
      out.emplace_back(make());
  }
  for (auto& blas : {open_blas, open_blis})
    if (auto library = blas(folder)) out.push_back(std::move(library));
  return out;
}

}  // namespace stria::bench
