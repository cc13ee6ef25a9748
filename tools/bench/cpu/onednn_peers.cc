// SPDX-License-Identifier: Apache-2.0
// oneDNN as a peer: a module of its own, since two versions of it may be measured beside each
// other. Data tensors are channels last as ours are and, as another row, in the layout that it
// likes best; weights are reordered before any timing.
#include <omp.h>

#include <cstring>
#include <dnnl.hpp>
#include <unordered_map>

#include "peer.h"

namespace stria::bench {
namespace {

using dnnl::memory;
using tag = memory::format_tag;
using Arguments = std::unordered_map<int, memory>;

const auto f32 = memory::data_type::f32;

std::string version() {
  const dnnl_version_t* v = dnnl_version();
  return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
         std::to_string(v->patch);
}

struct Context {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

// Makes the description of a primitive whatever the version's spelling of that.
#if DNNL_VERSION_MAJOR == 2
template <typename Primitive, typename... What>
typename Primitive::primitive_desc describe(const dnnl::engine& engine,
                                            const dnnl::primitive_attr& attributes, What... what) {
  return {typename Primitive::desc(what...), attributes, engine};
}
template <typename Primitive, typename Hint, typename... What>
typename Primitive::primitive_desc describe_backward(const dnnl::engine& engine, const Hint& hint,
                                                     What... what) {
  return {typename Primitive::desc(what...), engine, hint};
}
#else
template <typename Primitive, typename... What>
typename Primitive::primitive_desc describe(const dnnl::engine& engine,
                                            const dnnl::primitive_attr& attributes, What... what) {
  return {engine, what..., attributes};
}
template <typename Primitive, typename Hint, typename... What>
typename Primitive::primitive_desc describe_backward(const dnnl::engine& engine, const Hint& hint,
                                                     What... what) {
  return {engine, what..., hint};
}
#endif

class OneDnnPeer final : public Peer {
 public:
  explicit OneDnnPeer(std::string what) : what_(std::move(what)) {}

  std::string name() const override { return version() + " " + what_; }
  void run() override {
    for (const auto& [primitive, arguments] : steps_) primitive.execute(context_.stream, arguments);
    context_.stream.wait();
  }
  std::vector<float> result() override {
    if (!result_) return {};
    memory plain(plain_result_, context_.engine);
    memory from = result_;
    dnnl::reorder(from, plain).execute(context_.stream, from, plain);
    context_.stream.wait();
    const auto* data = static_cast<const float*>(plain.get_data_handle());
    return {data, data + plain_result_.get_size() / sizeof(float)};
  }

  const dnnl::engine& engine() const { return context_.engine; }
  void call(const std::string& implementation) { what_ += " " + implementation; }
  void add(const dnnl::primitive& primitive, Arguments arguments) {
    steps_.emplace_back(primitive, std::move(arguments));
  }
  // Memory in the layout `wanted` with what lies at `data` in the layout `given`.
  memory with(const float* data, const memory::desc& given, const memory::desc& wanted) {
    memory from(given, engine(), const_cast<float*>(data)), to(wanted, engine());
    dnnl::reorder(from, to).execute(context_.stream, from, to);
    context_.stream.wait();
    return to;
  }
  memory empty(const memory::desc& desc) {
    memory out(desc, engine());
    std::memset(out.get_data_handle(), 0, desc.get_size());
    return out;
  }
  void gives(const memory& result, const memory::desc& plain) {
    result_ = result;
    plain_result_ = plain;
  }

 private:
  Context context_;
  std::string what_;
  std::vector<std::pair<dnnl::primitive, Arguments>> steps_;
  memory result_;
  memory::desc plain_result_;
};

using Peers = std::vector<std::unique_ptr<Peer>>;

std::unique_ptr<Peer> product(const Gemm& g, const Inputs& in, bool any) {
  auto peer = std::make_unique<OneDnnPeer>(any ? "matmul, B reordered" : "matmul");
  const memory::desc a({g.m, g.k}, f32, tag::ab), c({g.m, g.n}, f32, tag::ab),
      b({g.k, g.n}, f32, g.transposed ? tag::ba : tag::ab);
  const auto desc = describe<dnnl::matmul>(peer->engine(), dnnl::primitive_attr(), a,
                                           any ? memory::desc({g.k, g.n}, f32, tag::any) : b, c);
  peer->call(desc.impl_info_str());
  memory to = peer->empty(c);
  peer->add(dnnl::matmul(desc), {{DNNL_ARG_SRC, peer->with(in.at("A"), a, a)},
                                 {DNNL_ARG_WEIGHTS, peer->with(in.at("B"), b, desc.weights_desc())},
                                 {DNNL_ARG_DST, to}});
  peer->gives(to, c);
  return peer;
}

std::unique_ptr<Peer> inner_product(const Gemm& g, const Inputs& in) {
  auto peer = std::make_unique<OneDnnPeer>("inner_product, B reordered");
  const memory::desc a({g.m, g.k}, f32, tag::ab), c({g.m, g.n}, f32, tag::ab),
      b({g.n, g.k}, f32, g.transposed ? tag::ab : tag::ba), any({g.n, g.k}, f32, tag::any);
  const auto desc = describe<dnnl::inner_product_forward>(
      peer->engine(), dnnl::primitive_attr(), dnnl::prop_kind::forward_inference, a, any, c);
  peer->call(desc.impl_info_str());
  memory to = peer->empty(c);
  peer->add(dnnl::inner_product_forward(desc),
            {{DNNL_ARG_SRC, peer->with(in.at("A"), a, a)},
             {DNNL_ARG_WEIGHTS, peer->with(in.at("B"), b, desc.weights_desc())},
             {DNNL_ARG_DST, to}});
  peer->gives(to, c);
  return peer;
}

struct ConvDescs {
  explicit ConvDescs(const Conv& c)
      : source({1, c.in, c.size, c.size}, f32, tag::nhwc),
        target({1, c.out, c.out_size(), c.out_size()}, f32, tag::nhwc),
        bias({c.out}, f32, tag::a),
        strides{c.stride, c.stride},
        left{c.pad(), c.pad()} {
    // Ours is [i, j, c, k]; of depthwise ones each channel is a group.
    const memory::dims dims = c.depthwise ? memory::dims{c.in, 1, 1, c.kernel, c.kernel}
                                          : memory::dims{c.out, c.in, c.kernel, c.kernel};
    weights =
        memory::desc(dims, f32,
                     c.depthwise ? memory::dims{1, 1, 1, c.kernel * c.in, c.in}
                                 : memory::dims{1, c.out, c.kernel * c.in * c.out, c.in * c.out});
    any_weights = memory::desc(dims, f32, tag::any);
    const int64_t right_pad = (c.out_size() - 1) * c.stride + c.kernel - c.size - c.pad();
    right = {right_pad, right_pad};
  }
  static memory::desc any_of(const memory::desc& desc) {
#if DNNL_VERSION_MAJOR == 2
    return memory::desc(desc.dims(), f32, tag::any);
#else
    return memory::desc(desc.get_dims(), f32, tag::any);
#endif
  }
  memory::desc source, target, weights, any_weights, bias;
  memory::dims strides, left, right;
};

enum class Residual { none, sum, binary };

std::unique_ptr<Peer> convolution(const Conv& c, const Inputs& in, bool any, Residual residual,
                                  dnnl::algorithm algorithm) {
  const ConvDescs d(c);
  std::string what = any ? "convolution, its own layouts" : "convolution, channels last";
  if (residual == Residual::sum) what += ", bias + 0.5 of what was there + ReLU";
  if (residual == Residual::binary) what += ", bias + residual + ReLU";
  if (algorithm == dnnl::algorithm::convolution_winograd) what += ", Winograd";
  auto peer = std::make_unique<OneDnnPeer>(what);
  const memory::desc source = any ? ConvDescs::any_of(d.source) : d.source,
                     target = any ? ConvDescs::any_of(d.target) : d.target;
  dnnl::primitive_attr attributes;
  dnnl::post_ops ops;
  // In place, what is added grows from run to run: half of it stays within bounds.
  if (residual == Residual::sum) ops.append_sum(0.5f);
  if (residual == Residual::binary) ops.append_binary(dnnl::algorithm::binary_add, target);
  if (residual != Residual::none) {
#if DNNL_VERSION_MAJOR == 2
    ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
#else
    ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
#endif
    attributes.set_post_ops(ops);
  }
  const auto inference = dnnl::prop_kind::forward_inference;
  const auto desc = residual == Residual::none
                        ? describe<dnnl::convolution_forward>(peer->engine(), attributes, inference,
                                                              algorithm, source, d.any_weights,
                                                              target, d.strides, d.left, d.right)
                        : describe<dnnl::convolution_forward>(
                              peer->engine(), attributes, inference, algorithm, source,
                              d.any_weights, d.bias, target, d.strides, d.left, d.right);
  peer->call(desc.impl_info_str());
  memory to = peer->empty(desc.dst_desc());
  Arguments arguments = {{DNNL_ARG_SRC, peer->with(in.at("I"), d.source, desc.src_desc())},
                         {DNNL_ARG_WEIGHTS, peer->with(in.at("F"), d.weights, desc.weights_desc())},
                         {DNNL_ARG_DST, to}};
  if (residual != Residual::none) arguments[DNNL_ARG_BIAS] = peer->with(in.at("B"), d.bias, d.bias);
  if (residual == Residual::binary)
    arguments[DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1] =
        peer->with(in.at("R"), d.target, desc.dst_desc());
  peer->add(dnnl::convolution_forward(desc), std::move(arguments));
  if (residual != Residual::sum) peer->gives(to, d.target);
  return peer;
}

// The result and both derivatives.
std::unique_ptr<Peer> step(const Conv& c, const Inputs& in, bool any) {
  const ConvDescs d(c);
  auto peer = std::make_unique<OneDnnPeer>(any ? "convolution step, its own layouts"
                                               : "convolution step, channels last");
  const memory::desc source = any ? ConvDescs::any_of(d.source) : d.source,
                     target = any ? ConvDescs::any_of(d.target) : d.target;
  const auto direct = dnnl::algorithm::convolution_direct;
  const auto forward = describe<dnnl::convolution_forward>(
      peer->engine(), dnnl::primitive_attr(), dnnl::prop_kind::forward_training, direct, source,
      d.any_weights, target, d.strides, d.left, d.right);
  const auto by_data = describe_backward<dnnl::convolution_backward_data>(
      peer->engine(), forward, direct, forward.src_desc(), d.any_weights, forward.dst_desc(),
      d.strides, d.left, d.right);
  const auto by_weights = describe_backward<dnnl::convolution_backward_weights>(
      peer->engine(), forward, direct, forward.src_desc(), d.any_weights, forward.dst_desc(),
      d.strides, d.left, d.right);
  peer->call(forward.impl_info_str());
  peer->call(by_data.impl_info_str());
  peer->call(by_weights.impl_info_str());
  memory data = peer->with(in.at("I"), d.source, forward.src_desc()),
         derivative = peer->with(in.at("DO"), d.target, forward.dst_desc());
  peer->add(dnnl::convolution_forward(forward),
            {{DNNL_ARG_SRC, data},
             {DNNL_ARG_WEIGHTS, peer->with(in.at("F"), d.weights, forward.weights_desc())},
             {DNNL_ARG_DST, peer->empty(forward.dst_desc())}});
  peer->add(dnnl::convolution_backward_data(by_data),
            {{DNNL_ARG_DIFF_DST, derivative},
             {DNNL_ARG_WEIGHTS, peer->with(in.at("F"), d.weights, by_data.weights_desc())},
             {DNNL_ARG_DIFF_SRC, peer->empty(by_data.diff_src_desc())}});
  peer->add(dnnl::convolution_backward_weights(by_weights),
            {{DNNL_ARG_SRC, data},
             {DNNL_ARG_DIFF_DST, derivative},
             {DNNL_ARG_DIFF_WEIGHTS, peer->empty(by_weights.diff_weights_desc())}});
  return peer;
}

class OneDnn final : public PeerLibrary {
 public:
  OneDnn() { omp_set_num_threads(1); }
  std::string name() const override {
    const char* isa = "?";
    switch (dnnl::get_effective_cpu_isa()) {
      case dnnl::cpu_isa::sse41: isa = "SSE4.1"; break;
      case dnnl::cpu_isa::avx: isa = "AVX"; break;
      case dnnl::cpu_isa::avx2: isa = "AVX2"; break;
      case dnnl::cpu_isa::avx512_core: isa = "AVX-512"; break;
      default: isa = "beyond AVX-512 core or AVX2"; break;
    }
    return version() + ", " + isa;
  }
  Peers peers_of(const Case& what, const Inputs& inputs, bool backward) override {
    Peers out;
    // What it does not have for a case it says by throwing.
    const auto try_one = [&](auto make) {
      try {
        out.push_back(make());
      } catch (const dnnl::error&) {
      }
    };
    if (what.gemm) {
      try_one([&] { return product(*what.gemm, inputs, false); });
      if (what.gemm->constant) {
        try_one([&] { return product(*what.gemm, inputs, true); });
        try_one([&] { return inner_product(*what.gemm, inputs); });
      }
    }
    if (what.conv && what.conv->batch == 1 && !what.conv->relu)
      for (bool any : {false, true}) {
        if (backward) {
          try_one([&] { return step(*what.conv, inputs, any); });
          continue;
        }
        const auto direct = dnnl::algorithm::convolution_direct;
        const auto winograd = dnnl::algorithm::convolution_winograd;
        if (what.conv->fewer_products && !what.conv->fused)
          try_one([&] { return convolution(*what.conv, inputs, any, Residual::none, winograd); });
        if (!what.conv->fused)
          try_one([&] { return convolution(*what.conv, inputs, any, Residual::none, direct); });
        else
          for (Residual residual : {Residual::sum, Residual::binary})
            try_one([&] { return convolution(*what.conv, inputs, any, residual, direct); });
      }
    return out;
  }
};

}  // namespace
}  // namespace stria::bench

extern "C" __attribute__((visibility("default"))) stria::bench::PeerLibrary* stria_bench_peers() {
  return new stria::bench::OneDnn;
}
