// SPDX-License-Identifier: Apache-2.0
// Weights in files beside the model: where they may lie, and what they cost.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "stria/onnx/model/model_reader.h"
#include "wire_writer.h"

namespace stria::onnx {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class ExternalDataTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/stria_onnx_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    fs::create_directories(folder_ / "model/below");
    write("model/w.bin", "0123456789");
    write("secret.bin", "0123456789");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const fs::path& name, std::string_view bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  static WireWriter entry(std::string_view key, std::string_view value) {
    return WireWriter().bytes(1, key).bytes(2, value);
  }
  // A tensor of so many bytes that lies there.
  static WireWriter weights(std::string_view location, int64_t size) {
    return tensor_of(2, {size}).varint(14, 1).message(13, entry("location", location));
  }
  Result<Model> read(const WireWriter& graph) {
    write("model/m.onnx", model_of(graph).text());
    return read_model(folder_ / "model/m.onnx");
  }
  // The bytes of the tensor, or what is wrong with it.
  std::string read_tensor(const WireWriter& tensor) {
    auto model = read(WireWriter().message(5, tensor));
    if (!model.ok()) return code(model.status()) + model.status().message();
    return std::string(model->graph.initializers.at(0)->bytes);
  }
  static std::string code(const Status& status) {
    return std::string(name_of(status.code())) + ": ";
  }

  fs::path folder_;
};

TEST_F(ExternalDataTest, ReadsAPartOfAFile) {
  EXPECT_EQ(read_tensor(weights("w.bin", 10)), "0123456789");
  EXPECT_EQ(read_tensor(weights("./w.bin", 4).message(13, entry("offset", "6"))), "6789");
  EXPECT_EQ(read_tensor(weights("w.bin", 2)
                            .message(13, entry("offset", "3"))
                            .message(13, entry("length", "2"))
                            .message(13, entry("checksum", "of nothing"))),
            "34");
  EXPECT_EQ(read_tensor(weights("w.bin", 0).message(13, entry("offset", "10"))), "");
  write("model/below/v.bin", "v");
  EXPECT_EQ(read_tensor(weights("below/v.bin", 1)), "v");
}

TEST_F(ExternalDataTest, TheModelMayLieInTheWorkingFolder) {
  ASSERT_EQ(read_tensor(weights("w.bin", 10)), "0123456789");
  const fs::path before = fs::current_path();
  fs::current_path(folder_ / "model");
  auto model = read_model("m.onnx");
  fs::current_path(before);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->graph.initializers.at(0)->bytes, "0123456789");
}

TEST_F(ExternalDataTest, TheBytesLiveLongerThanTheModel) {
  std::shared_ptr<const TensorData> tensor;
  {
    auto model = read(WireWriter().message(5, weights("w.bin", 10)));
    ASSERT_TRUE(model.ok()) << model.status().message();
    tensor = model->graph.initializers.at(0);
  }
  fs::remove(folder_ / "model/w.bin");
  EXPECT_EQ(tensor->bytes, "0123456789");
}

TEST_F(ExternalDataTest, RefusesPartsThatAreNotThere) {
  const auto failure = [&](int64_t size, std::string_view key, std::string_view value) {
    return read_tensor(weights("w.bin", size).message(13, entry(key, value)));
  };
  EXPECT_THAT(failure(11, "offset", "0"),
              HasSubstr("graph.initializer[0]: external_data: 'w.bin' has 10 bytes, but the tensor "
                        "lies at 0 and has 11"));
  EXPECT_THAT(failure(1, "offset", "10"), HasSubstr("lies at 10 and has 1"));
  EXPECT_THAT(failure(1, "offset", "11"), HasSubstr("lies at 11"));
  EXPECT_THAT(failure(2, "offset", "9223372036854775807"),
              HasSubstr("lies at 9223372036854775807"));
  EXPECT_THAT(failure(2, "offset", "9223372036854775808"), HasSubstr("offset: "));
  EXPECT_THAT(failure(2, "offset", "-1"), HasSubstr("offset: '-1' is not a whole number"));
  EXPECT_THAT(failure(2, "offset", ""), HasSubstr("offset: "));
  EXPECT_THAT(failure(2, "length", "3"), HasSubstr("length: 3 bytes, but the tensor has 2"));
  EXPECT_THAT(failure(2, "length", "2x"), HasSubstr("length: '2x' is not a whole number"));
  EXPECT_THAT(failure(int64_t{1} << 62, "offset", "1"), HasSubstr("has 4611686018427387904"));
  EXPECT_THAT(read_tensor(weights("w.bin", 10).bytes(9, "0123456789")),
              HasSubstr("data here and in another file"));
  EXPECT_THAT(read_tensor(weights("w.bin", 1).varint(2, 8)), HasSubstr("texts in another file"));
}

TEST_F(ExternalDataTest, RefusesFilesOutsideTheFolder) {
  const auto failure = [&](std::string_view location) {
    return read_tensor(weights(location, 10));
  };
  EXPECT_THAT(failure("../secret.bin"), HasSubstr("permission_denied: "));
  EXPECT_THAT(failure("../secret.bin"), HasSubstr("'../secret.bin' has '..'"));
  EXPECT_THAT(failure("below/../w.bin"), HasSubstr("has '..'"));
  EXPECT_THAT(failure("below/../../secret.bin"), HasSubstr("has '..'"));
  EXPECT_THAT(failure((folder_ / "secret.bin").string()), HasSubstr("is an absolute path"));
  EXPECT_THAT(failure((folder_ / "model/w.bin").string()), HasSubstr("is an absolute path"));
  fs::create_symlink("../secret.bin", folder_ / "model/out");
  EXPECT_THAT(failure("out"), HasSubstr("'out' is a link that leads out of the folder"));
  fs::create_symlink(folder_, folder_ / "model/up");
  EXPECT_THAT(failure("up/secret.bin"), HasSubstr("is a link that leads out"));
  fs::create_symlink("out", folder_ / "model/out_again");
  EXPECT_THAT(failure("out_again"), HasSubstr("is a link that leads out"));
  // A folder whose name begins as the model's does is another one.
  fs::create_directory(folder_ / "model2");
  write("model2/w.bin", "0123456789");
  fs::create_symlink("../model2/w.bin", folder_ / "model/next");
  EXPECT_THAT(failure("next"), HasSubstr("is a link that leads out"));
  fs::create_symlink("../w.bin", folder_ / "model/below/in");
  EXPECT_EQ(failure("below/in"), "0123456789") << "a link that stays is none that leads out";
}

TEST_F(ExternalDataTest, RefusesWhatIsNoFile) {
  const auto failure = [&](std::string_view location) {
    return read_tensor(weights(location, 10));
  };
  EXPECT_THAT(failure("none.bin"), HasSubstr("not_found: "));
  EXPECT_THAT(failure("below"), HasSubstr("it is a folder"));
  EXPECT_THAT(failure(""), HasSubstr("the location is no path"));
  EXPECT_THAT(failure({"w.bin\0.txt", 10}), HasSubstr("the location is no path"));
  EXPECT_THAT(failure("."), HasSubstr("it is a folder"));
  ASSERT_EQ(::mkfifo((folder_ / "model/pipe").c_str(), 0600), 0);
  EXPECT_THAT(failure("pipe"), HasSubstr("'pipe' is not a regular file"));
  EXPECT_THAT(read_tensor(tensor_of(2, {1}).varint(14, 1)), HasSubstr("the location is no path"));
  // What is not said to be external is not looked for.
  EXPECT_THAT(read_tensor(weights("w.bin", 10).varint(14, 0)), HasSubstr("the data has 0 bytes"));
}

TEST_F(ExternalDataTest, ModelsInMemoryHaveNoFolder) {
  const std::string text = model_of(WireWriter().message(5, weights("w.bin", 10))).text();
  auto none = parse_model(text, nullptr, "m.onnx");
  EXPECT_THAT(none.status().message(), HasSubstr("there is no folder to look into"));
  const fs::path folder = folder_ / "model";
  auto model = parse_model(text, nullptr, "m.onnx", &folder);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->graph.initializers.at(0)->bytes, "0123456789");
}

// The most that the process has had. A sanitizer's own would count too: 0.
int64_t most_memory_bytes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 0;
#else
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} << 10;
#endif
}

TEST_F(ExternalDataTest, FilesMayBeLargerThanMemory) {
  // A file with a hole: 64 GiB that take no place on the disk.
  constexpr int64_t kSize = int64_t{64} << 30;
  fs::resize_file(folder_ / "model/w.bin", kSize);
  const int file = ::open((folder_ / "model/w.bin").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(::pwrite(file, "end", 3, kSize - 3), 3);
  ::close(file);
  const int64_t before = most_memory_bytes();
  auto model = read(
      WireWriter()
          .message(5, weights("w.bin", kSize))
          .message(5, weights("w.bin", 3).message(13, entry("offset", std::to_string(kSize - 3)))));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->graph.initializers.at(0)->bytes.size(), static_cast<size_t>(kSize));
  EXPECT_EQ(model->graph.initializers.at(1)->bytes, "end");
  EXPECT_LT(most_memory_bytes() - before, 16 << 20);
}

// 20 megabytes, or as many as STRIA_ONNX_WEIGHTS_MB says, in 100 tensors. All of them are read.
TEST_F(ExternalDataTest, WeightsTakeNoMemoryTwice) {
  const char* const megabytes = std::getenv("STRIA_ONNX_WEIGHTS_MB");
  const int64_t tensors = 100;
  const int64_t each = (megabytes ? std::atoll(megabytes) : 20) * 1'000'000 / tensors;
  WireWriter graph;
  {
    std::ofstream file(folder_ / "model/w.bin", std::ios::binary);
    std::string bytes(static_cast<size_t>(each), '\0');
    for (int64_t tensor = 0; tensor < tensors; ++tensor) {
      for (size_t i = 0; i < bytes.size(); i += 64) bytes[i] = static_cast<char>(tensor + 1);
      file << bytes;
      graph.message(
          5, weights("w.bin", each).message(13, entry("offset", std::to_string(tensor * each))));
    }
  }
  const int64_t before = most_memory_bytes();
  const auto begin = std::chrono::steady_clock::now();
  const auto ms = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
  };
  auto model = read(graph);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const double read_ms = ms();
  int64_t sum = 0;
  for (const auto& tensor : model->graph.initializers)
    for (size_t i = 0; i < tensor->bytes.size(); i += 64) sum += tensor->bytes[i];
  const double all_ms = ms();
  const int64_t memory = most_memory_bytes() - before;
  EXPECT_EQ(sum, (each + 63) / 64 * tensors * (tensors + 1) / 2);
  EXPECT_LT(memory, tensors * each / 10 * 11 + (4 << 20));
  std::printf("%lld MB: read in %.1f ms, with all bytes in %.1f ms, %lld MB of memory\n",
              static_cast<long long>(tensors * each / 1'000'000), read_ms, all_ms,
              static_cast<long long>(memory / 1'000'000));
  if (megabytes) {
    EXPECT_LT(all_ms, 1000);
  }
}

}  // namespace
}  // namespace stria::onnx
