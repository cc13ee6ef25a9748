// SPDX-License-Identifier: Apache-2.0
// What the command does with .onnx files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"
#include "onnx_file.h"

namespace stria::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class OnnxCommand : public testing::Test {
 protected:
  OnnxCommand() {
    // Scores of 3 classes for rows of 2 numbers.
    folder_.write("scores.onnx", OnnxFile()
                                     .input("gpu_0/data", ElementType::fp32, {"rows", 2})
                                     .weight("gpu_0/w", {2, 3}, {1, 0, -1, 0, 1, 2})
                                     .weight("b", {3}, {0, 0.5, 0})
                                     .node("MatMul", {"gpu_0/data", "gpu_0/w"}, {"product"})
                                     .node("Add", {"product", "b"}, {"gpu_0/sum"})
                                     .node("Relu", {"gpu_0/sum"}, {"relu out"})
                                     .output("relu out")
                                     .output("gpu_0/sum")
                                     .text());
    folder_.write("data.npy", npy_bytes({"<f4", {2, 2}, {1, 2, 3, -4}}));
  }
  Ended run(const std::string& command) { return folder_.stria(words(command)); }
  std::string out_of(const std::string& command) {
    Ended ended = run(command);
    EXPECT_EQ(ended.code, 0) << command << "\n" << ended.err;
    return ended.out;
  }
  Folder folder_;
};

TEST_F(OnnxCommand, SeveralOutputsWithOddNames) {
  const std::string command = "run scores.onnx --device reference --input gpu_0/data=data.npy";
  EXPECT_EQ(out_of(command),
            "relu out: fp32[2, 3] = 1.0 2.5 3.0 3.0 0.0 0.0\n"
            "gpu_0/sum: fp32[2, 3] = 1.0 2.5 3.0 3.0 -3.5 -11.0\n");
  const Ended ended = folder_.stria({"run", "scores.onnx", "--device", "reference", "--input",
                                     "gpu_0/data=data.npy", "--output", "gpu_0/sum=sum.npy",
                                     "--output", "relu out=relu.npy"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(parse_npy_bytes(folder_.read("sum.npy")).values,
            (std::vector<double>{1, 2.5, 3, 3, -3.5, -11}));
  EXPECT_EQ(parse_npy_bytes(folder_.read("relu.npy")).values,
            (std::vector<double>{1, 2.5, 3, 3, 0, 0}));
}

TEST_F(OnnxCommand, TileIsWrittenAndReadBack) {
  EXPECT_EQ(out_of("compile --to tile scores.onnx --shape rows=2 --dump-dir w -o scores.tile"), "");
  EXPECT_EQ(folder_.files(), (std::vector<std::string>{"data.npy", "scores.onnx", "scores.tile",
                                                       "w/C_b.npy", "w/C_gpu_0_w.npy"}));
  const std::string text = folder_.read("scores.tile");
  const std::string head =
      "# Made from scores.onnx. Names here, and what they stand for there:\n"
      "# inputs:\n"
      "#   In_gpu_0_data  fp32[2, 2] 'gpu_0/data'\n"
      "# weights:\n"
      "#   C_b            fp32[3]\n"
      "#   C_gpu_0_w      fp32[2, 3]\n"
      "# outputs:\n"
      "#   Out_relu_out   'relu out'\n"
      "#   Out_gpu_0_sum  'gpu_0/sum'\n"
      "\n"
      "function ";
  EXPECT_EQ(text.substr(0, head.size()), head);
  EXPECT_EQ(out_of("compile --to tile scores.onnx --shape rows=2 -o -"), text);
  const std::string results =
      "Out_relu_out: fp32[2, 3] = 1.0 2.5 3.0 3.0 0.0 0.0\n"
      "Out_gpu_0_sum: fp32[2, 3] = 1.0 2.5 3.0 3.0 -3.5 -11.0\n";
  EXPECT_EQ(out_of("run scores.tile --device reference --input In_gpu_0_data=data.npy "
                   "--input C_b=w/C_b.npy --input C_gpu_0_w=w/C_gpu_0_w.npy"),
            results);
  EXPECT_EQ(out_of("run scores.tile --device reference --input In_gpu_0_data=data.npy "
                   "--input-dir w"),
            results);
  // What --input gives goes before the folder.
  folder_.write("b.npy", npy_bytes({"<f4", {3}, {1, 1, 1}}));
  EXPECT_THAT(out_of("run scores.tile --device reference --input In_gpu_0_data=data.npy "
                     "--input-dir w --input C_b=b.npy"),
              HasSubstr("Out_gpu_0_sum: fp32[2, 3] = 2.0 3.0 4.0 4.0 -3.0 -10.0\n"));
}

TEST_F(OnnxCommand, WhatTileCannotBeAskedFor) {
  Ended ended = run("compile --to tile scores.onnx --shape rows=2 --device reference -o s.tile");
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("--device says how a device runs it"));
  folder_.write("p.tile", "function (A[N]) -> (R) { R = A + A; }");
  ended = run("compile --to tile p.tile -o s.tile");
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("stria fmt"));
  ended = run("compile --to tile scores.onnx --shape rows=2 -o scores.onnx");
  EXPECT_EQ(ended.code, 2);
  ended = run("compile scores.onnx --shape rows=2 -o s.stripe");
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("--device is required"));
  ended = run("run p.tile --device reference --input-dir nowhere");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("'nowhere'"));
}

}  // namespace
}  // namespace stria::end_to_end
