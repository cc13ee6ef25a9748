// SPDX-License-Identifier: Apache-2.0
// Layers of neural networks.
#include "program_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::end_to_end {

using enum DataType;

namespace {

void softmax(Case& c) {
  c.ulps = 32;
  Grid &X = c.in("X", {4, 7}), &O = c.out("O", {4, 7});
  each({4, 7}, [&](int i, int j) {
    double sum = 0;
    for (int k = 0; k < 7; ++k) sum += std::exp(X(i, k) - X(i, j));
    O(i, j) = 1 / sum;
  });
}

void softmax_family(Case& c) {
  c.ulps = 256;
  Grid &X = c.in("X", {4, 5}, -2, 2), &T = c.in("T", {4, 5}, 0, 1);
  Grid &S = c.out("S", {4, 5}), &L = c.out("L", {4, 5}), &C = c.out("C", {4, 5});
  each({4, 5}, [&](int i, int j) {
    double sum = 0;
    for (int k = 0; k < 5; ++k) sum += std::exp(X(i, k) - X(i, j));
    S(i, j) = 1 / sum;
    L(i, j) = -std::log(sum);
    C(i, j) = -2 * (T(i, j) * std::log(S(i, j)) + (1 - T(i, j)) * std::log(1 - S(i, j)));
  });
}

void softmax_of_integers(Case& c) {
  c.ulps = 256;
  Grid& X = c.in("X", {4, 5}, -4, 4);
  Grid &S = c.out_of("S", fp32, {4, 5}), &L = c.out_of("L", fp32, {4, 5});
  each({4, 5}, [&](int i, int j) {
    double sum = 0;
    for (int k = 0; k < 5; ++k) sum += std::exp(X(i, k) - X(i, j));
    S(i, j) = 1 / sum;
    L(i, j) = -std::log(sum);
  });
}

void layer_norm(Case& c) {
  c.ulps = 64;
  Grid &X = c.in("X", {3, 8}), &G = c.in("G", {8}, 1, 3), &B = c.in("B", {8}, 5, 9),
       &O = c.out("O", {3, 8});
  each({3}, [&](int i) {
    double mean = 0, variance = 0;
    for (int j = 0; j < 8; ++j) mean += X(i, j) / 8;
    for (int j = 0; j < 8; ++j) variance += (X(i, j) - mean) * (X(i, j) - mean) / 8;
    for (int j = 0; j < 8; ++j)
      O(i, j) = (X(i, j) - mean) / std::sqrt(variance + 1e-5) * G(j) + B(j);
  });
}

void rms_norm(Case& c) {
  c.ulps = 16;
  Grid &X = c.in("X", {3, 6}), &O = c.out("O", {3, 6});
  each({3, 6}, [&](int i, int j) {
    double q = 0;
    for (int k = 0; k < 6; ++k) q += X(i, k) * X(i, k) / 6;
    O(i, j) = X(i, j) / std::sqrt(q + 1e-6);
  });
}

void batch_norm(Case& c) {
  c.ulps = 64;
  Grid &X = c.in("X", {2, 2, 3, 4}), &Mean = c.in("Mean", {4}), &Var = c.in("Var", {4}, 1, 4);
  Grid &G = c.in("G", {4}, 1, 2), &B = c.in("B", {4}, 20, 30), &O = c.out("O", {2, 2, 3, 4});
  each({2, 2, 3, 4}, [&](int n, int h, int w, int k) {
    O(n, h, w, k) = (X(n, h, w, k) - Mean(k)) / std::sqrt(Var(k) + 0.001) * G(k) + B(k);
  });
}

void group_norm(Case& c) {
  c.ulps = 64;
  Grid &X = c.in("X", {2, 3, 4}), &O = c.out("O", {2, 3, 4});
  each({2, 3}, [&](int n, int g) {
    double mean = 0, variance = 0.01;
    for (int k = 0; k < 4; ++k) mean += X(n, g, k) / 4;
    for (int k = 0; k < 4; ++k) variance += (X(n, g, k) - mean) * (X(n, g, k) - mean) / 4;
    for (int k = 0; k < 4; ++k) O(n, g, k) = (X(n, g, k) - mean) / std::sqrt(variance);
  });
}

void attention(Case& c) {
  c.ulps = c.type == fp64 ? 4e9 : 64;  // the root of D is fp32
  Grid &Q = c.in("Q", {3, 4}, -2, 2), &K = c.in("K", {5, 4}, -2, 2), &V = c.in("V", {5, 3}, 1, 4);
  Grid& O = c.out("O", {3, 3});
  each({3}, [&](int i) {
    double weight[5] = {}, sum = 0;
    for (int j = 0; j < 5; ++j) {
      for (int d = 0; d < 4; ++d) weight[j] += Q(i, d) * K(j, d) / 2;
      sum += weight[j] = std::exp(weight[j]);
    }
    each({5, 3}, [&](int j, int e) { O(i, e) += weight[j] / sum * V(j, e); });
  });
}

void attention_causal(Case& c) {
  c.ulps = 64;
  Grid &Q = c.in("Q", {2, 4, 3}, -1, 1), &K = c.in("K", {2, 4, 3}, -1, 1),
       &V = c.in("V", {2, 4, 3}, 1, 4);
  Grid& O = c.out("O", {2, 4, 3});
  each({2, 4}, [&](int h, int i) {
    double weight[4] = {}, sum = 0;
    for (int j = 0; j <= i; ++j) {
      for (int d = 0; d < 3; ++d) weight[j] += Q(h, i, d) * K(h, j, d);
      sum += weight[j] = std::exp(weight[j]);
    }
    each({4, 3}, [&](int j, int d) {
      if (j <= i) O(h, i, d) += weight[j] / sum * V(h, j, d);
    });
  });
}

void lstm_cell(Case& c) {
  c.ulps = 256;
  Grid &X = c.in("X", {2, 3}, -1, 1), &H = c.in("H", {2, 2}, -1, 1), &C = c.in("C", {2, 2}, 2, 4);
  Grid &W = c.in("W", {3, 8}, -1, 1), &R = c.in("R", {2, 8}, -1, 1), &B = c.in("B", {8}, 1, 2);
  Grid &CN = c.out("CNext", {2, 2}), &HN = c.out("HNext", {2, 2});
  each({2, 2}, [&](int n, int u) {
    double z[4];
    for (int g = 0; g < 4; ++g) {
      z[g] = B(2 * g + u);
      for (int i = 0; i < 3; ++i) z[g] += X(n, i) * W(i, 2 * g + u);
      for (int v = 0; v < 2; ++v) z[g] += H(n, v) * R(v, 2 * g + u);
    }
    auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
    CN(n, u) = logistic(z[1]) * C(n, u) + logistic(z[0]) * std::tanh(z[2]);
    HN(n, u) = logistic(z[3]) * std::tanh(CN(n, u));
  });
}

void gru_gate(Case& c) {
  c.ulps = 512;
  Grid &X = c.in("X", {2, 3}, -1, 1), &H = c.in("H", {2, 2}, 2, 3), &W = c.in("W", {3, 2}, -1, 1);
  Grid &R = c.in("R", {2, 2}, -1, 1), &O = c.out("O", {2, 2});
  each({2, 2}, [&](int n, int u) {
    double x = 0, h = 0;
    for (int i = 0; i < 3; ++i) x += X(n, i) * W(i, u);
    for (int v = 0; v < 2; ++v) h += H(n, v) * R(v, u);
    const double z = 1 / (1 + std::exp(-x - h));
    O(n, u) = z * H(n, u) + (1 - z) * std::tanh(x);
  });
}

void activations(Case& c) {
  c.ulps = 64;
  Grid& X = c.in("X", {9}, -4, 4);
  Grid &Leaky = c.out("Leaky", {9}), &Elu = c.out("Elu", {9}), &Swish = c.out("Swish", {9});
  Grid &Hard = c.out("Hard", {9}), &Plus = c.out("Plus", {9}), &Relu = c.out("Relu", {9});
  each({9}, [&](int i) {
    const double x = X(i);
    Leaky(i) = x > 0 ? x : x / 8;
    Elu(i) = x > 0 ? x : std::exp(x) - 1;
    Swish(i) = x / (1 + std::exp(-x));
    Hard(i) = std::clamp(x / 4 + 0.5, 0.0, 1.0);
    Plus(i) = std::log(1 + std::exp(x));
    Relu(i) = std::max(x, 0.0);
  });
}

void multilayer_perceptron(Case& c) {
  Grid &X = c.in("X", {3, 4}, -1, 1), &W = c.in("W", {4, 5}, -1, 1), &A = c.in("A", {5}, -1, 1);
  Grid &V = c.in("V", {5, 2}, -1, 1), &B = c.in("B", {2}), &R = c.out("R", {3, 2});
  each({3, 2}, [&](int n, int o) {
    R(n, o) = B(o);
    for (int h = 0; h < 5; ++h) {
      double sum = A(h);
      for (int i = 0; i < 4; ++i) sum += X(n, i) * W(i, h);
      R(n, o) += std::max(sum, 0.0) * V(h, o);
    }
  });
}

void cross_entropy(Case& c) {
  c.ulps = 64;
  Grid &X = c.in("X", {4, 5}), &Y = c.in_of("Y", i32, {4}, 0, 4), &O = c.out("O", {});
  c.in("One", {4});
  c.given("Classes", i32, {5}, {0, 1, 2, 3, 4});
  each({4}, [&](int n) {
    double sum = 0;
    for (int k = 0; k < 5; ++k) sum += std::exp(X(n, k) - X(n, static_cast<int>(Y(n))));
    O() += std::log(sum) / 4;
  });
}

void dense_gradient(Case& c) {
  Grid &X = c.in("X", {3, 4}), &W = c.in("W", {4, 2}), &D = c.in("D", {3, 2});
  Grid &DX = c.out("DX", {3, 4}), &DW = c.out("DW", {4, 2}), &DB = c.out("DB", {2});
  each({3, 4, 2},
       [&](int n, int i, int o) { DX(n, i) += D(n, o) * W(i, o), DW(i, o) += X(n, i) * D(n, o); });
  each({3, 2}, [&](int n, int o) { DB(o) += D(n, o); });
}

}  // namespace

std::vector<ProgramCase> network_cases() {
  return {
      {"softmax", &kFloat, softmax},
      {"softmax_family", &kFloat, softmax_family},
      {"softmax_of_integers", &kInteger, softmax_of_integers},
      {"layer_norm", &kFloat, layer_norm},
      {"rms_norm", &kFloat, rms_norm},
      {"batch_norm", &kFloat, batch_norm},
      {"group_norm", &kFloat, group_norm},
      {"attention", &kFloat, attention},
      {"attention_causal", &kFloat, attention_causal},
      {"lstm_cell", &kFloat, lstm_cell},
      {"gru_gate", &kFloat, gru_gate},
      {"activations", &kFloat, activations},
      {"multilayer_perceptron", &kReal, multilayer_perceptron},
      {"cross_entropy", &kFloat, cross_entropy},
      {"dense_gradient", &kReal, dense_gradient},
  };
}

}  // namespace stria::end_to_end
