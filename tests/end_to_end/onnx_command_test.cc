// SPDX-License-Identifier: Apache-2.0
// What the command does with .onnx files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "command.h"
#include "onnx_file.h"

namespace stria::end_to_end {
namespace {

namespace fs = std::filesystem;
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

// Inputs and outputs of types below 16 bits have the bytes of the standard.
TEST_F(OnnxCommand, PackedTypes) {
  const auto to = [](ElementType type) {
    return std::vector<WireWriter>{OnnxFile::integer("to", static_cast<int64_t>(type))};
  };
  folder_.write("packed.onnx", OnnxFile()
                                   .input("x", ElementType::i4, {3})
                                   .input("f", ElementType::fp8e5m2, {2, "n"})
                                   .node("Cast", {"x"}, {"number"}, to(ElementType::fp32))
                                   .node("Transpose", {"f"}, {"turned"})
                                   .node("Cast", {"turned"}, {"small"}, to(ElementType::fp4e2m1))
                                   .node("Identity", {"x"}, {"same"})
                                   .output("number")
                                   .output("small")
                                   .output("same")
                                   .text());
  EXPECT_THAT(out_of("run packed.onnx --device reference --check --input x=-8,3,7 "
                     "--input f=0.25,-1.5,8,0.5 --shape f=2,2"),
              AllOf(HasSubstr("number: fp32[3] = -8.0 3.0 7.0\n"),
                    HasSubstr("small: fp4[2, 2] = 0.0 6.0 -1.5 0.5\n"),
                    HasSubstr("same: i4[3] = -8 3 7\n")));
  const Ended wrong =
      run("run packed.onnx --device reference --input x=1,2,9 --input f=1 --shape f=2,2");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("input 'x'"));
}

TEST_F(OnnxCommand, LargestOfRows) {
  const std::string command = "run scores.onnx --device reference --input gpu_0/data=data.npy ";
  EXPECT_EQ(out_of(command + "--top-k 2"),
            "relu out: fp32[2, 3], the 2 largest of each row\n"
            "  row 0:\n  2  3.0\n  1  2.5\n"
            "  row 1:\n  0  3.0\n  1  0.0\n"
            "gpu_0/sum: fp32[2, 3], the 2 largest of each row\n"
            "  row 0:\n  2  3.0\n  1  2.5\n"
            "  row 1:\n  0  3.0\n  1  -3.5\n");
  folder_.write("labels.txt", "cat\r\nlarge dog\r\nbird\r\n");
  EXPECT_THAT(out_of(command + "--top-k 9 --labels labels.txt --output gpu_0/sum=s.npy"),
              HasSubstr("gpu_0/sum: fp32[2, 3], the 3 largest of each row\n"
                        "  row 0:\n  2  3.0  bird\n  1  2.5  large dog\n  0  1.0  cat\n"
                        "  row 1:\n  0  3.0    cat\n  1  -3.5   large dog\n  2  -11.0  bird\n"));
  EXPECT_EQ(parse_npy_bytes(folder_.read("s.npy")).sizes, (std::vector<int64_t>{2, 3}));
}

// Rows end where sizes of 1 begin, NaN is no largest, and equal elements keep their order.
TEST_F(OnnxCommand, LargestOfOtherTensors) {
  folder_.write("p.tile", "function (A, B) -> (R, S) { R = A + A; S = B; }");
  folder_.write("a.npy", npy_bytes({"<f4", {1, 4, 1, 1}, {1, NAN, 3, 3}}));
  folder_.write("b.npy", npy_bytes({"<i8", {6, 2}, {1, 2, 4, 3, 0, 0, 0, 0, 0, 0, 0, 0}}));
  folder_.write("labels.txt", "a\nb\nc\nd");
  const std::string command =
      "run p.tile --device reference --input A=a.npy --input B=b.npy --top-k 3 ";
  // As many labels as R has classes: they are not for S.
  EXPECT_EQ(out_of(command + "--labels labels.txt"),
            "R: fp32[1, 4, 1, 1], the 3 largest\n  2  6.0  c\n  3  6.0  d\n  0  2.0  a\n"
            "S: i64[6, 2], the 2 largest of each row\n"
            "  row 0:\n  1  2\n  0  1\n  row 1:\n  0  4\n  1  3\n"
            "  row 2:\n  0  0\n  1  0\n  row 3:\n  0  0\n  1  0\n  … 2 more rows\n");
  folder_.write("labels.txt", "a\nb\nc\nd\ne\n");
  const Ended more = run(command + "--labels labels.txt");
  EXPECT_EQ(more.code, 0);
  EXPECT_THAT(more.err, HasSubstr("'labels.txt' has 5 lines, more than the"));
  folder_.write("labels.txt", "a\nb\nc\n");
  const Ended fewer = run(command + "--labels labels.txt --output R=r.npy");
  EXPECT_EQ(fewer.code, 1);
  EXPECT_EQ(fewer.err, "stria: 'labels.txt' has 3 lines, but 'R' has 4 classes\n");
  EXPECT_EQ(folder_.read("r.npy"), "");
  EXPECT_EQ(run(command + "--labels none.txt").code, 1);
  const Ended alone = run("run p.tile --device reference --input A=a.npy --labels labels.txt");
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--top-k"));
}

// A photograph of 2 x 4 pixels that a Tile program writes, into models that give it back.
TEST_F(OnnxCommand, Pictures) {
  folder_.write("photo.tile", "function (A) -> (P) { P = A; }");
  folder_.write("levels.npy",
                npy_bytes({"|u1", {2, 4, 3}, {10, 20, 30, 40, 50, 60, 70, 80, 90, 11, 21, 31,
                                              41, 51, 61, 71, 81, 91, 12, 22, 32, 42, 52, 62}}));
  out_of("run photo.tile --device reference --input A=levels.npy --output P=photo.png");
  const auto model = [&](ElementType type, const std::vector<OnnxFile::Dim>& dims) {
    folder_.write("same.onnx", OnnxFile()
                                   .input("image", type, dims)
                                   .node("Identity", {"image"}, {"out"})
                                   .output("out")
                                   .text());
  };
  const std::string command = "run same.onnx --device reference --input image=photo.png ";
  const auto array_of = [&](const std::string& options) {
    EXPECT_EQ(out_of(command + options + " --output out=out.npy"), "");
    return parse_npy_bytes(folder_.read("out.npy"));
  };
  model(ElementType::u8, {"n", 3, "h", "w"});
  Array out = array_of("");
  EXPECT_EQ(out.descr, "|u1");
  EXPECT_EQ(out.sizes, (std::vector<int64_t>{1, 3, 2, 4}));
  EXPECT_EQ(out.values, (std::vector<double>{10, 40, 70, 11, 41, 71, 12, 42, 20, 50, 80, 21,
                                             51, 81, 22, 52, 30, 60, 90, 31, 61, 91, 32, 62}));
  model(ElementType::fp32, {1, 2, 2, 3});
  out =
      array_of("--picture crop=2 --picture order=bgr --picture scale=255 --picture mean=10,20,30");
  EXPECT_EQ(out.sizes, (std::vector<int64_t>{1, 2, 2, 3}));
  EXPECT_EQ(out.values, (std::vector<double>{50, 30, 10, 80, 60, 40, 81, 61, 41, 22, 2, -18}));
  // The model's size, and the ratio where it has one side only.
  EXPECT_EQ(array_of("").sizes, (std::vector<int64_t>{1, 2, 2, 3}));
  model(ElementType::fp32, {1, 3, 4, "w"});
  EXPECT_EQ(array_of("").sizes, (std::vector<int64_t>{1, 3, 4, 8}));
  EXPECT_EQ(array_of("--shape w=5").sizes, (std::vector<int64_t>{1, 3, 4, 5}));
  EXPECT_EQ(array_of("--shape image=1,3,4,6").sizes, (std::vector<int64_t>{1, 3, 4, 6}));
  model(ElementType::fp16, {"h", "w"});
  EXPECT_EQ(array_of("--picture scale=1000").descr, "<f2");

  model(ElementType::fp32, {"n", "c", "h", "w"});
  Ended ended = run(command);
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("'photo.png' with --picture"), HasSubstr("layout=nchw")));
  EXPECT_EQ(array_of("--picture layout=nchw").sizes, (std::vector<int64_t>{1, 3, 2, 4}));
  ended = run(command + "--picture sise=3");
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("did you mean 'size'"));
  ended = run("run same.onnx --device reference --input image=levels.npy --picture size=3");
  EXPECT_EQ(ended.code, 2);
  // Of Tile the layout is [H, W, C] unless another is said.
  EXPECT_THAT(out_of("run photo.tile --device reference --input A=photo.png --picture crop=1,2 "
                     "--picture scale=255"),
              HasSubstr("P: fp32[1, 2, 3] = 40.0 50.0 60.0 70.0"));
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
      "#   C_gpu_0_w      fp32[2, 3] 'gpu_0/w'\n"
      "#   C_b            fp32[3] 'b'\n"
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
  ended = run("compile scores.onnx --shape rows=2 -o s.stripe");  // for the best device
  EXPECT_EQ(ended.code, 0) << ended.err;
  ended = run("run p.tile --device reference --input-dir nowhere");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("'nowhere'"));
}

TEST_F(OnnxCommand, ShowSaysWhatIsInAModel) {
  // While a size is open, the file's own sizes are all there is.
  EXPECT_EQ(out_of("show scores.onnx"),
            "scores.onnx: ONNX, IR 8, opset ai.onnx 17, by a test\n"
            "\ninputs:\n  gpu_0/data: fp32[rows, 2]\n"
            "\noutputs:\n  relu out: ?\n  gpu_0/sum: ?\n"
            "\n"
            "node    operator  result  operations  weights\n"
            "node_0  MatMul    ?                ?     24 B\n"
            "node_1  Add       ?                ?     12 B\n"
            "node_2  Relu      ?                ?\n"
            "all     3 nodes                    ?     36 B\n"
            "\noperators: Add 1, MatMul 1, Relu 1\n"
            "\nopen sizes, which --shape or --input says:\n  gpu_0/data: fp32[rows, 2]\n");
  // 1000 rows of 3 products of 2: a multiplication and an addition each.
  const std::string shown = out_of("show scores.onnx --shape rows=1000");
  EXPECT_THAT(shown, HasSubstr("\noutputs:\n  relu out: fp32[1000, 3]\n  gpu_0/sum: fp32[1000, 3]\n"
                               "\n"
                               "node    operator  result         operations  weights\n"
                               "node_0  MatMul    fp32[1000, 3]      12.0 k     24 B\n"
                               "node_1  Add       fp32[1000, 3]       3.0 k     12 B\n"
                               "node_2  Relu      fp32[1000, 3]       3.0 k\n"
                               "all     3 nodes                      18.0 k     36 B\n"));
  EXPECT_THAT(shown, Not(HasSubstr("open sizes")));
  EXPECT_EQ(out_of("show scores.onnx --input gpu_0/data=random:1 --shape rows=1000"), shown);
  const auto json =
      nlohmann::json::parse(out_of("show scores.onnx --shape rows=1000 --json --device none"));
  EXPECT_EQ(json.at("devices").size(), 0u);
  EXPECT_EQ(json.at("operations"), 18000);
  EXPECT_EQ(json.at("nodes").at(0).at("results").at(0).at("sizes"), (std::vector<int>{1000, 3}));
  EXPECT_EQ(json.at("inputs").at(0).at("sizes").at(0), "rows");
  EXPECT_EQ(json.at("weight_bytes"), 36);
  EXPECT_EQ(json.at("missing"), "");
}

// What the program computes once is told from what each run computes; operations that a node hands
// on to functions of its own count, too.
TEST_F(OnnxCommand, ShowSaysWhatIsKnown) {
  folder_.write("m.onnx", OnnxFile()
                              .input("x", ElementType::fp32, {2, 6})
                              .weight("w", {2, 2}, {1, 2, 3, 4})
                              .node("Shape", {"w"}, {"s"})
                              .node("Reshape", {"x", "s"}, {"bad"})
                              .output("bad")
                              .text());
  // 12 elements are no 2 x 2: the message is part of what is shown.
  EXPECT_THAT(out_of("show m.onnx"), AllOf(HasSubstr("missing: "), HasSubstr("Reshape")));
  folder_.write("m.onnx", OnnxFile()
                              .input("x", ElementType::fp32, {2, 2})
                              .weight("w", {2, 2}, {1, 2, 3, 4})
                              .node("Shape", {"w"}, {"s"})
                              .node("Reshape", {"x", "s"}, {"r"})
                              .node("Softmax", {"r"}, {"y"})
                              .output("y")
                              .text());
  const auto json = nlohmann::json::parse(out_of("show m.onnx --json"));
  EXPECT_EQ(json.at("nodes").at(0).at("known"), true);
  EXPECT_EQ(json.at("nodes").at(0).at("operations"), 0);
  EXPECT_EQ(json.at("nodes").at(2).at("known"), false);
  EXPECT_GT(json.at("nodes").at(2).at("operations"), 8);
  double sum = 0;
  for (const auto& node : json.at("nodes")) sum += node.at("operations").get<double>();
  EXPECT_EQ(json.at("operations"), sum);
}

TEST_F(OnnxCommand, ShowSaysAllThatIsMissing) {
  folder_.write("m.onnx", OnnxFile()
                              .input("x", ElementType::fp32, {2, "n"})
                              .node("Frobnicate", {"x"}, {"a"}, {}, "com.acme")
                              .node("Frobnicate", {"a"}, {"b"}, {}, "com.acme")
                              .node("Relu", {"b"}, {"c"})
                              .node("Rellu", {"c"}, {"y"})
                              .output("y")
                              .text());
  const std::string unknown =
      "\nunknown operators:\n  Rellu: 'node_3'\n  com.acme.Frobnicate: 'node_0', 'node_1'\n";
  EXPECT_THAT(out_of("show m.onnx"),
              AllOf(HasSubstr(unknown), HasSubstr("\n  x: fp32[2, n]\n"), HasSubstr(" (unknown)")));
  EXPECT_THAT(out_of("show m.onnx --shape n=3"),
              AllOf(HasSubstr(unknown), HasSubstr("missing: 'm.onnx' cannot be translated:")));
  const Ended ended = run("run m.onnx --device reference --input x=random:1 --shape n=3");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("com.acme.Frobnicate"), HasSubstr("ai.onnx.Rellu")));
}

TEST_F(OnnxCommand, ShowOfTile) {
  folder_.write("p.tile",
                "function twice(A) -> (R) { R = A + A; }\n"
                "function product(A[M, L], B[L, N]) -> (C) { T = twice(A);\n"
                "  C[i, j : M, N] = +(T[i, k] * B[k, j]); }\n");
  EXPECT_EQ(out_of("show p.tile --shape A=2,3"),
            "p.tile: Tile, entry product\n"
            "\nfunctions:\n  twice(A) -> (R)\n  product(A[M, L], B[L, N]) -> (C)\n"
            "\nopen sizes, which --shape or --input says:\n  B[L, N]\n");
  EXPECT_EQ(out_of("show p.tile --shape A=2,3 --shape B=3,50 --device reference"),
            "p.tile: Tile, entry product\n"
            "\nfunctions:\n  twice(A) -> (R)\n  product(A[M, L], B[L, N]) -> (C)\n"
            "\noutputs:\n  C: fp32[2, 50]\n"
            "\n"
            "kernel    operations\n"
            "kernel_0           6\n"
            "kernel_1         600\n"
            "all              606\n"
            "\ndevices:\n  reference  reference interpreter  has all that it needs\n");
  const auto json =
      nlohmann::json::parse(out_of("show p.tile --shape A=2,3 --shape B=3,50 --json"));
  EXPECT_EQ(json.at("operations"), 606);
  EXPECT_EQ(run("show p.tile --shape Aa=2,3").code, 2);
}

// Every device there is, unless some are named.
TEST_F(OnnxCommand, ShowAsksDevices) {
  const fs::path plugins = folder_.path("plugins");
  const fs::path built = STRIA_BINARY_DIR "/lib/stria/plugins";
  fs::create_directories(plugins / "poor");
  fs::copy(built / "reference", plugins / "poor", fs::copy_options::recursive);
  const auto edit = [&](const char* file, const std::string& was, const std::string& is) {
    const std::string name = std::string("plugins/poor/") + file;
    std::string text = folder_.read(name);
    const size_t at = text.find(was);
    ASSERT_NE(at, std::string::npos) << file;
    folder_.write(name, text.replace(at, was.size(), is));
  };
  edit("hw/reference.json", "\"name\": \"reference\",",
       "\"name\": \"reference\", \"lacks_types\": {\"fp64\": \"the made-up unit\"},");
  const auto poor = [&](const std::string& command) {
    return folder_.stria(words(command),
                         [&] { ::setenv("STRIA_PLUGIN_PATH", plugins.c_str(), 1); });
  };
  folder_.write("m.onnx", OnnxFile()
                              .input("x", ElementType::fp64, {"n"})
                              .node("Relu", {"x"}, {"a"})
                              .node("Exp", {"a"}, {"y"})
                              .output("y")
                              .text());
  // A plugin found first takes the place of the other of that name.
  const std::string lacks =
      "  lacks fp64 (the made-up unit), needed by Relu 'node_0', Exp 'node_1'\n";
  const Ended all = poor("show m.onnx --shape n=3");
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, AllOf(HasSubstr("\ndevices:\n"), HasSubstr("  llvm_cpu:0 "),
                             HasSubstr("has all that it needs"), HasSubstr("  reference:0 ")));
  EXPECT_THAT(all.out, HasSubstr(lacks));
  EXPECT_THAT(poor("show m.onnx --shape n=3 --device reference").out, HasSubstr(lacks));
  EXPECT_THAT(poor("show m.onnx --shape n=3 --device llvm_cpu").out,
              AllOf(HasSubstr("\ndevices:\n  llvm_cpu  "), Not(HasSubstr("reference"))));
  EXPECT_THAT(poor("show m.onnx").out, Not(HasSubstr("devices:")));
  const auto json =
      nlohmann::json::parse(poor("show m.onnx --shape n=3 --device reference --json").out);
  EXPECT_EQ(json.at("devices").at(0).at("lacks").at(0).at("what"), "fp64 (the made-up unit)");
  Ended ended = poor("show m.onnx --shape n=3 --device nowhere");
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr("no device matches 'nowhere'"));
  EXPECT_EQ(poor("show m.onnx --shape n=3 --device auto --device :").code, 2);
  // A device that cannot be opened is told among the others.
  edit("hw/reference.json", "{", "{,");
  ended = poor("show m.onnx --shape n=3");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("reference interpreter  "), HasSubstr("cannot be opened"),
                               HasSubstr("  llvm_cpu:0 ")));
}

// What a model needs beside its data is a word on the command line.
TEST_F(OnnxCommand, NumbersAsInputs) {
  folder_.write("m.onnx", OnnxFile()
                              .input("x", ElementType::fp32, {2, "n"})
                              .input("s", ElementType::fp32, {})
                              .input("axes", ElementType::i64, {1})
                              .node("Mul", {"x", "s"}, {"a"})
                              .node("ReduceSum", {"a", "axes"}, {"y"})
                              .output("y")
                              .text());
  const std::string command = "run m.onnx --device reference ";
  EXPECT_EQ(out_of(command + "--input x=1,2,3,4 --shape x=2,2 --input s=0.5 --input axes=1"),
            "y: fp32[2, 1] = 1.5 3.5\n");
  EXPECT_EQ(out_of(command + "--input x=2 --shape x=2,3 --input s=-1 --input axes=0"),
            "y: fp32[1, 3] = -4.0 -4.0 -4.0\n");
  Ended ended = run(command + "--input x=1,2 --input s=1 --input axes=0");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("input 'x' is given as numbers, but the model leaves its sizes "
                                   "open: x: fp32[2, n]; give them: --shape x="));
  ended = run(command + "--input x=2 --shape x=2,3 --input s=1 --input axes=1.5");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("input 'axes': '1.5' is not a whole number"));
  ended = run(command + "--input x=2:fp16 --shape x=2,3 --input s=1 --input axes=1");
  EXPECT_THAT(ended.err, HasSubstr("'x' is fp16[2, 3], the model says x: fp32[2, n]"));
  folder_.write("p.tile", "function (A[N], S) -> (R) { R = A * S; }");
  EXPECT_EQ(out_of("run p.tile --device reference --input A=1,2,3 --input S=2"),
            "R: fp32[3] = 2.0 4.0 6.0\n");
  folder_.write("q.tile", "function (A[N, M]) -> (R) { R = A + A; }");
  ended = run("run q.tile --device reference --input A=1,2,3");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("input 'A' is given as numbers, but its sizes are not given: "
                                   "--shape A=N,M"));
}

TEST_F(OnnxCommand, TextAsInputs) {
  folder_.write("t.onnx", OnnxFile()
                              .input("x", ElementType::string, {"n", 2})
                              .input("y", ElementType::string, {2})
                              .node("Equal", {"x", "y"}, {"same"})
                              .output("same")
                              .text());
  const std::string command = "run t.onnx --device reference ";
  EXPECT_EQ(out_of(command + "--input x=text:a,b,c,a --input y=text:a,b"),
            "same: bool[2, 2] = true true false false\n");
  const auto says = [&](const std::string& inputs, const std::string& message) {
    const Ended ended = run(command + inputs);
    EXPECT_EQ(ended.code, 1) << inputs;
    EXPECT_EQ(ended.err, "stria: " + message + "\n") << inputs;
  };
  says("--input x=text:a,b",
       "'t' needs values for its inputs:\n  y: string[2]: --input y=text:A,B");
  says("--input x=text:a,b,c --input y=text:a,b", "input 'x': 3 texts do not fit x: string[n, 2]");
  says("--input x=text:a,b --shape n=2 --input y=text:a,b",
       "input 'x': 2 texts do not fit x: string[n, 2]");
  says("--input x=1 --input y=text:a,b", "input 'x' is text: --input x=text:hello,world");
  // Text that comes out is its numbers, and what they stand for.
  folder_.write("u.onnx", OnnxFile()
                              .input("x", ElementType::string, {2})
                              .node("Identity", {"x"}, {"again"})
                              .output("again")
                              .text());
  EXPECT_EQ(out_of("run u.onnx --device reference --input x=text:a,b"), "again: i64[2] = 0 1\n");
  Ended ended = run("run u.onnx --device reference --input x=text:a,b --output again=again.npy");
  EXPECT_EQ(ended.code, 0);
  EXPECT_TRUE(fs::exists(folder_.path("again.npy")));
  EXPECT_THAT(ended.err, HasSubstr("the output 'again' is text, by number: 0 'a', 1 'b'"));
  ended = run("run scores.onnx --device reference --input gpu_0/data=text:a");
  EXPECT_EQ(ended.err, "stria: input 'gpu_0/data' takes no text: gpu_0/data: fp32[rows, 2]\n");
}

// What NonZero reads takes the interpreter long: the device that is asked for computes it.
TEST_F(OnnxCommand, SizesThatTakeAProgram) {
  folder_.write("places.onnx", OnnxFile()
                                   .input("x", ElementType::fp32, {500, 500})
                                   .node("MatMul", {"x", "x"}, {"m"})
                                   .node("NonZero", {"m"}, {"places"})
                                   .output("places")
                                   .text());
  std::vector<double> x(250000, 0);
  x[0] = 1;
  folder_.write("x.npy", npy_bytes({"<f4", {500, 500}, x}));
  const Ended ended = run("run places.onnx --input x=x.npy --device llvm_cpu");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "places: i64[2, 1] = 0 0\n");
  EXPECT_EQ(
      ended.err,
      "stria: llvm_cpu:cpu ran a program while this one was made: sizes depend on the elements "
      "of 'x' (NonZero 'node_1')\n");
  EXPECT_EQ(run("run places.onnx --input x=x.npy --device llvm_cpu:9").code, 3);
}

// Tensors may be empty. What the text of the program looks like then is nobody's mistake.
TEST_F(OnnxCommand, NothingIsNoMistake) {
  folder_.write("none.onnx", OnnxFile()
                                 .input("x", ElementType::fp32, {3, 4})
                                 .node("NonZero", {"x"}, {"places"})
                                 .node("Transpose", {"places"}, {"rows"})
                                 .output("rows")
                                 .output("x2")
                                 .node("Add", {"x", "x"}, {"x2"})
                                 .text());
  const Ended ended = run("run none.onnx --input x=0 --shape x=3,4 --device reference");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("rows: i64[0, 2]"));
  EXPECT_EQ(ended.err, "");
}

// Weights have names, too.
TEST_F(OnnxCommand, DerivativesByWeights) {
  const std::string by_name =
      out_of("grad scores.onnx --shape rows=2 --wrt gpu_0/w --of gpu_0/sum");
  EXPECT_THAT(by_name, HasSubstr("-> (DC_gpu_0_w)"));
  EXPECT_EQ(out_of("grad scores.onnx --shape rows=2 --wrt C_gpu_0_w --of gpu_0/sum"), by_name);
  const Ended ended = run("grad scores.onnx --shape rows=2 --wrt gpu_0/ww");
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("'scores' has no input and no weight 'gpu_0/ww', did you mean "
                                   "'gpu_0/w'?"));
}

TEST_F(OnnxCommand, Ops) {
  const std::string all = out_of("ops");
  EXPECT_THAT(all,
              AllOf(HasSubstr("ai.onnx: "), HasSubstr("\ncom.microsoft: "), HasSubstr("  Conv ")));
  EXPECT_THAT(out_of("ops Conv Gelu"),
              AllOf(HasSubstr("  Conv  versions 1, 11, 22\n"), HasSubstr("  Gelu  versions 20\n"),
                    Not(HasSubstr("Relu"))));
  const auto json = nlohmann::json::parse(out_of("ops Conv --json"));
  EXPECT_EQ(json.at(0).at("domain"), "ai.onnx");
  EXPECT_EQ(json.at(0).at("versions"), (std::vector<int>{1, 11, 22}));
  EXPECT_EQ(json.at(0).at("supported"), true);
  const Ended ended = run("ops Convv");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("did you mean 'Conv'"));
}

// What a new user may get wrong: one message, which says what to do.
TEST_F(OnnxCommand, WhatIsWrong) {
  const auto says = [&](const std::string& command, int code, const std::string& message) {
    const Ended ended = run(command);
    EXPECT_EQ(ended.code, code) << command;
    EXPECT_EQ(ended.err, "stria: " + message + "\n") << command;
  };
  const std::string device = " --device reference ";
  says("run scores.onnx" + device + "--input gpu_0/dat=data.npy", 2,
       "--input: 'scores' has no input 'gpu_0/dat', did you mean 'gpu_0/data'? (its inputs: "
       "gpu_0/data)");
  says("run scores.onnx" + device, 1,
       "'scores' needs values for its inputs:\n"
       "  gpu_0/data: fp32[rows, 2]: --input gpu_0/data=FILE");
  says("run scores.onnx" + device + "--input gpu_0/data=data.npy --shape rows=3", 1,
       "input 'gpu_0/data': dimension 0 has 2 elements, but --shape says rows=3");
  folder_.write(
      "foo.onnx",
      OnnxFile().input("x", ElementType::fp32, {"n"}).node("Foo", {"x"}, {"y"}).output("y").text());
  says("run foo.onnx" + device, 1,
       "'foo' needs values for its inputs:\n  x: fp32[n]: --input x=FILE\n"
       "and has operators that are not supported:\n  Foo: 'node_0'");
  says("run scores.onnx" + device + "--input gpu_0/data=random:1", 1,
       "input 'gpu_0/data' is random, but the model leaves its sizes open: gpu_0/data: "
       "fp32[rows, 2]; give them: --shape gpu_0/data=…");
  says("compile scores.onnx -o s.stripe" + device, 1,
       "'scores' needs sizes for its inputs:\n"
       "  gpu_0/data: fp32[rows, 2]: --shape gpu_0/data=…");
  says("compile scores.onnx -o s.stripe --shape row=3" + device, 2,
       "--shape: 'scores' has no input and no named dimension 'row', did you mean 'rows'? (it has: "
       "gpu_0/data, rows)");
  folder_.write("bytes.npy", npy_bytes({"|u1", {2, 2}, {1, 2, 3, 4}}));
  says("run scores.onnx" + device + "--input gpu_0/data=bytes.npy", 1,
       "input 'gpu_0/data': 'bytes.npy' is u8[2, 2], the model says gpu_0/data: fp32[rows, 2]");
  says("run scores.onnx" + device + "--input gpu_0/data=data.npy --output gpu_0/su=s.npy", 2,
       "--output: 'scores' has no output 'gpu_0/su', did you mean 'gpu_0/sum'? (its outputs: relu "
       "out, gpu_0/sum)");
  for (const char* verb : {"grad", "sim --timing-only"})
    says(std::string(verb) + " scores.onnx --shape rows=2 --function loss", 1,
         "'scores.onnx' has one graph, and no function 'loss'");
  const std::string model = folder_.read("scores.onnx");
  folder_.write("cut.onnx", model.substr(0, model.size() - 9));
  EXPECT_THAT(run("show cut.onnx").err, HasSubstr("it is cut off or damaged"));
  folder_.write("text.onnx", "hello\n");
  says("show text.onnx", 1, "text.onnx: not an ONNX file: it is a text, 'hello'");
  folder_.write("empty.onnx", "");
  says("show empty.onnx", 1, "empty.onnx: not an ONNX file: it is empty");
}

}  // namespace
}  // namespace stria::end_to_end
