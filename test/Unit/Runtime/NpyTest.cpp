//===- NpyTest.cpp - Tests of the .npy reader and writer ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Npy.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>

using namespace attn;
using namespace attn::runtime;

namespace {
/// A file that goes away with the test.
struct ScratchFile {
  std::string path =
      testing::TempDir() + "attn-npy-test-" + std::to_string(getpid()) + ".npy";
  ~ScratchFile() { std::remove(path.c_str()); }

  void write(const std::string &content) const {
    std::ofstream(path, std::ios::binary) << content;
  }
};
} // namespace

/// A version 1.0 file with that dictionary and data.
static std::string makeFile(const std::string &dict, const std::string &data) {
  std::string file = "\x93NUMPY";
  file += std::string("\x01\x00", 2);
  file += static_cast<char>(dict.size());
  file += '\0';
  return file + dict + data;
}

static std::string readError(const std::string &content) {
  ScratchFile file;
  file.write(content);
  Result<HostTensor> tensor = readNpy(file.path);
  if (tensor)
    return "no error";
  EXPECT_EQ(tensor.error().find(file.path + ": "), 0u);
  return tensor.error().substr(file.path.size() + 2);
}

TEST(NpyTest, RoundTripsEveryType) {
  for (DType dtype :
       {DType::F16, DType::BF16, DType::F32, DType::F64, DType::I1, DType::I8,
        DType::I32, DType::I64, DType::F8E4M3FN})
    for (std::vector<int64_t> shape :
         {std::vector<int64_t>{}, {5}, {2, 3, 4}, {2, 0, 3}}) {
      HostTensor tensor(dtype, shape);
      for (size_t i = 0; i < tensor.data.size(); ++i)
        tensor.data[i] = static_cast<char>(dtype == DType::I1 ? i % 2 : i * 7);
      ScratchFile file;
      ASSERT_FALSE(writeNpy(file.path, tensor));
      Result<HostTensor> read = readNpy(file.path);
      ASSERT_TRUE(bool(read)) << read.error();
      EXPECT_EQ(read->dtype, dtype);
      EXPECT_EQ(read->shape, shape);
      EXPECT_EQ(read->data, tensor.data);
    }
}

/// Files of 8-bit floats do not say which.
TEST(NpyTest, ReinterpretsFloat8) {
  ScratchFile file;
  ASSERT_FALSE(writeNpy(file.path, HostTensor(DType::F8E5M2, {3})));
  Result<HostTensor> read = readNpy(file.path);
  ASSERT_TRUE(bool(read)) << read.error();
  reinterpretFloat8(*read, DType::F16);
  EXPECT_EQ(read->dtype, DType::F8E4M3FN);
  reinterpretFloat8(*read, DType::F8E5M2);
  EXPECT_EQ(read->dtype, DType::F8E5M2);
  reinterpretFloat8(*read, DType::F8E4M3FN);
  EXPECT_EQ(read->dtype, DType::F8E5M2);
}

TEST(NpyTest, DataBeginAtMultipleOf64Bytes) {
  ScratchFile file;
  HostTensor tensor(DType::F32, {3});
  ASSERT_FALSE(writeNpy(file.path, tensor));
  std::ifstream stream(file.path, std::ios::binary | std::ios::ate);
  EXPECT_EQ((static_cast<size_t>(stream.tellg()) - 12) % 64, 0u);
}

TEST(NpyTest, ReordersFortranOrder) {
  ScratchFile file;
  // [[0, 2, 4], [1, 3, 5]] column by column.
  file.write(
      makeFile("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n",
               std::string("\0\1\2\3\4\5", 6)));
  Result<HostTensor> tensor = readNpy(file.path);
  ASSERT_TRUE(bool(tensor)) << tensor.error();
  EXPECT_EQ(std::string(tensor->data.begin(), tensor->data.end()),
            std::string("\0\2\4\1\3\5", 6));
}

TEST(NpyTest, RejectsBadFiles) {
  EXPECT_EQ(readError("hello"), "expected an .npy file (magic \\x93NUMPY)");
  EXPECT_EQ(readError("\x93NUMPY"),
            "expected a header, got the end of the file");
  EXPECT_EQ(readError(std::string("\x93NUMPY\x07\0\1\0\0\0", 12)),
            "expected .npy version 1, 2 or 3, got 7");
  EXPECT_EQ(readError(std::string("\x93NUMPY\x01\0\xff\xff\0\0", 12)),
            "expected a header of 65535 bytes, got the end of the file");
  EXPECT_EQ(readError(makeFile("{'descr': '>f4', 'fortran_order': False, "
                               "'shape': (1,), }\n",
                               "0000")),
            "expected an element type among <f2, <f4, <f8, |b1, |i1, <i4, "
            "<i8, <V2, |V2, <u2, <V1, |V1, |u1, <f1, got >f4");
  EXPECT_EQ(readError(makeFile("{'fortran_order': False, 'shape': (1,), }\n",
                               "0000")),
            "expected a plain element type in 'descr'");
  EXPECT_EQ(readError(makeFile("{'descr': '<f4', 'shape': (1,), }\n", "0000")),
            "expected 'fortran_order' in the header");
  for (const char *shape :
       {"7", "(-1,)", "(a,)", "(1", "(99999999999999999999,)",
        "(4294967296, 4294967296)"})
    EXPECT_EQ(readError(makeFile("{'descr': '<f4', 'fortran_order': False, "
                                 "'shape': " +
                                     std::string(shape),
                                 "")),
              "expected a tuple of sizes in 'shape'")
        << shape;
  EXPECT_EQ(readError(makeFile("{'descr': '<f4', 'fortran_order': False, "
                               "'shape': (2,), }\n",
                               "0000")),
            "expected 8 bytes of data, got 4");
}

TEST(NpyTest, ReportsFilesThatCannotBeOpened) {
  Result<HostTensor> tensor = readNpy("/no/such/dir/q.npy");
  ASSERT_FALSE(bool(tensor));
  EXPECT_EQ(tensor.error(),
            "/no/such/dir/q.npy: cannot open: No such file or directory");
  std::optional<Error> error =
      writeNpy("/no/such/dir/q.npy", HostTensor(DType::F32, {1}));
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->message, "/no/such/dir/q.npy: cannot open for writing: No "
                            "such file or directory");
}
