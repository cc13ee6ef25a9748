// SPDX-License-Identifier: Apache-2.0
#include "peer_onednn.h"

#include <dnnl.hpp>

#include <cstring>
#include <unordered_map>
#include <vector>

namespace stria::bench {

struct OneDnnConvRelu::State {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::convolution_forward::primitive_desc description;
  dnnl::convolution_forward primitive;
  dnnl::memory source, weights, target;
};

OneDnnConvRelu::OneDnnConvRelu(int64_t size, int64_t channels_in, int64_t channels_out,
                               const float* d, const float* k)
    : state_(std::make_unique<State>()) {
  using dnnl::memory;
  const auto f32 = memory::data_type::f32;
  State& s = *state_;
  memory::desc source_desc({1, channels_in, size, size}, f32, memory::format_tag::nhwc);
  memory::desc target_desc({1, channels_out, size, size}, f32, memory::format_tag::nhwc);
  memory::desc any_weights({channels_out, channels_in, 3, 3}, f32, memory::format_tag::any);
  // k is [kh, kw, co, ci]; as (co, ci, kh, kw) its strides are (ci, 1, 3*co*ci, co*ci).
  memory::desc our_weights(
      {channels_out, channels_in, 3, 3}, f32,
      memory::dims{channels_in, 1, 3 * channels_out * channels_in, channels_out * channels_in});
  dnnl::post_ops ops;
  ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(ops);
  dnnl::convolution_forward::desc op(dnnl::prop_kind::forward_inference,
                                     dnnl::algorithm::convolution_direct, source_desc, any_weights,
                                     target_desc, {1, 1}, {1, 1}, {1, 1});
  s.description = dnnl::convolution_forward::primitive_desc(op, attributes, s.engine);
  s.primitive = dnnl::convolution_forward(s.description);
  s.source = memory(source_desc, s.engine);
  std::memcpy(s.source.get_data_handle(), d, source_desc.get_size());
  s.target = memory(target_desc, s.engine);
  s.weights = memory(s.description.weights_desc(), s.engine);
  memory given(our_weights, s.engine, const_cast<float*>(k));
  dnnl::reorder(given, s.weights).execute(s.stream, given, s.weights);
  s.stream.wait();
}

OneDnnConvRelu::~OneDnnConvRelu() = default;

void OneDnnConvRelu::run() {
  State& s = *state_;
  s.primitive.execute(
      s.stream,
      {{DNNL_ARG_SRC, s.source}, {DNNL_ARG_WEIGHTS, s.weights}, {DNNL_ARG_DST, s.target}});
  s.stream.wait();
}

const float* OneDnnConvRelu::result() const {
  return static_cast<const float*>(state_->target.get_data_handle());
}

std::string OneDnnConvRelu::kernel_name() const { return state_->description.impl_info_str(); }

struct OneDnnProduct::State {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::matmul::primitive_desc description;
  dnnl::matmul primitive;
  dnnl::memory a, b, c;
};

OneDnnProduct::OneDnnProduct(int64_t size, const float* a, const float* b)
    : state_(std::make_unique<State>()) {
  using dnnl::memory;
  State& s = *state_;
  const memory::desc matrix({size, size}, memory::data_type::f32, memory::format_tag::ab);
  s.description =
      dnnl::matmul::primitive_desc(dnnl::matmul::desc(matrix, matrix, matrix), s.engine);
  s.primitive = dnnl::matmul(s.description);
  s.a = memory(matrix, s.engine, const_cast<float*>(a));
  s.b = memory(matrix, s.engine, const_cast<float*>(b));
  s.c = memory(matrix, s.engine);
}

OneDnnProduct::~OneDnnProduct() = default;

void OneDnnProduct::run() {
  State& s = *state_;
  s.primitive.execute(s.stream,
                      {{DNNL_ARG_SRC, s.a}, {DNNL_ARG_WEIGHTS, s.b}, {DNNL_ARG_DST, s.c}});
  s.stream.wait();
}

const float* OneDnnProduct::result() const {
  return static_cast<const float*>(state_->c.get_data_handle());
}

std::string OneDnnProduct::kernel_name() const { return state_->description.impl_info_str(); }

}  // namespace stria::bench
