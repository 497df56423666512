//===- Serve.cpp - Many calls of one compiled function --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors travel in a file that both processes map, so that a call copies each
// once on either side. A request and its answer, each a line:
//
//   {"memory": "/dev/shm/f", "results_at": 512,
//    "arguments": [{"dtype": "f32", "shape": [1, 2], "offset": 0}, ...]}
//   {"results": [{"dtype": "f32", "shape": [1, 2], "offset": 512}, ...]}
//
// Then "ok", or "failed" after messages in place of an answer. The file grows
// if the results need it.
//
//===----------------------------------------------------------------------===//

#include "Serve.h"

#include "Arguments.h"
#include "CompiledObject.h"
#include "CpuDevice.h"
#include "Inputs.h"
#include "Shapes.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

#include <fcntl.h>
#include <iostream>
#include <limits>
#include <malloc.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;
using namespace attn;
using namespace attn::run;
using runtime::DType;
using runtime::TensorView;

/// Of results in the file: a cache line, and what vectors want.
static constexpr int64_t kAlignment = 64;

/// One answer; nothing of it may wait in a buffer while the caller waits for
/// it.
static void answer(StringRef line) {
  llvm::outs() << line << "\n";
  llvm::outs().flush();
}

namespace {
/// A file that is mapped as long as it stays the same.
class SharedMemory {
public:
  ~SharedMemory() { unmap(); }

  /// Maps the file, of at least `bytes`, unless it is; prints what is wrong.
  bool map(const std::string &file, int64_t bytes) {
    if (file == path && bytes <= size)
      return true;
    unmap();
    int descriptor = open(file.c_str(), O_RDWR);
    if (descriptor < 0)
      return reportError(file + ": cannot open: " + strerror(errno));
    bool isMapped = map(file, descriptor, bytes);
    close(descriptor);
    return isMapped;
  }

  char *at(int64_t offset) { return data + offset; }
  int64_t getSize() const { return size; }

private:
  bool map(const std::string &file, int descriptor, int64_t bytes) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 ||
        (status.st_size < bytes && ftruncate(descriptor, bytes) != 0))
      return reportError(file + ": cannot grow to " + std::to_string(bytes) +
                         " bytes: " + strerror(errno));
    int64_t whole = std::max<int64_t>({status.st_size, bytes, 1});
    void *mapped = mmap(nullptr, static_cast<size_t>(whole),
                        PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED)
      return reportError(file + ": cannot map: " + strerror(errno));
    data = static_cast<char *>(mapped);
    size = whole;
    path = file;
    return true;
  }

  void unmap() {
    if (data)
      munmap(data, static_cast<size_t>(size));
    data = nullptr;
    path.clear();
    size = 0;
  }

  std::string path;
  char *data = nullptr;
  int64_t size = 0;
};

/// A tensor in the file.
struct Place {
  std::string dtype;
  std::vector<int64_t> shape;
  int64_t offset = 0;
};

struct Request {
  std::string memory;
  int64_t resultsAt = 0;
  std::vector<Place> arguments;
};

bool fromJSON(const llvm::json::Value &value, Place &place,
              llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("dtype", place.dtype) &&
         map.map("shape", place.shape) && map.map("offset", place.offset);
}

bool fromJSON(const llvm::json::Value &value, Request &request,
              llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("memory", request.memory) &&
         map.map("results_at", request.resultsAt) &&
         map.map("arguments", request.arguments);
}
} // namespace

/// Checks the arguments' number, types and shapes against the function's.
static std::optional<std::vector<TensorView>>
checkArguments(func::FuncOp function, const Request &request,
               const Options &options) {
  std::optional<std::vector<DType>> dtypes = getDTypes(function);
  if (!dtypes)
    return std::nullopt;
  if (request.arguments.size() != dtypes->size()) {
    reportError("expected " + std::to_string(dtypes->size()) +
                " arguments, got " + std::to_string(request.arguments.size()));
    return std::nullopt;
  }
  std::vector<TensorView> views;
  std::vector<std::optional<std::vector<int64_t>>> shapes;
  for (auto [i, place] : llvm::enumerate(request.arguments)) {
    if (place.dtype != name((*dtypes)[i])) {
      reportError(std::string("expected ") + name((*dtypes)[i]) + " for " +
                  describeArgument(function, i) + ", got " + place.dtype);
      return std::nullopt;
    }
    for (int64_t extent : place.shape)
      if (extent < 0) {
        reportError("expected extents from 0 on for " +
                    describeArgument(function, i) + ", got " +
                    std::to_string(extent));
        return std::nullopt;
      }
    views.push_back({(*dtypes)[i], place.shape, nullptr});
    shapes.emplace_back(place.shape);
  }
  if (!resolveShapes(function, options, shapes))
    return std::nullopt;
  return views;
}

/// Maps the memory and finds the arguments in it.
static bool findArguments(std::vector<TensorView> &views,
                          const Request &request, SharedMemory &memory) {
  int64_t end = 0;
  for (auto [view, place] : llvm::zip_equal(views, request.arguments)) {
    auto bytes =
        static_cast<int64_t>(runtime::getByteSize(view.dtype, view.shape));
    if (place.offset < 0 || llvm::AddOverflow(place.offset, bytes, bytes))
      return reportError("expected offsets from 0 on, got " +
                         std::to_string(place.offset));
    end = std::max(end, bytes);
  }
  if (request.resultsAt < end)
    return reportError("expected results behind the arguments, from " +
                       std::to_string(end) + " on, got " +
                       std::to_string(request.resultsAt));
  if (!memory.map(request.memory, end))
    return false;
  for (auto [view, place] : llvm::zip_equal(views, request.arguments))
    view.data = memory.at(place.offset);
  return true;
}

/// Where `bytes` of a result begin behind `end`, which becomes their end;
/// nothing, after a message, where no file is that long.
static std::optional<int64_t> placeResult(int64_t bytes, int64_t &end) {
  uint64_t begin = llvm::alignTo(static_cast<uint64_t>(end), kAlignment);
  constexpr auto kLongest =
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (begin + static_cast<uint64_t>(bytes) > kLongest) {
    reportError("expected results that end before byte 2^63, got " +
                std::to_string(bytes) + " bytes at " + std::to_string(end));
    return std::nullopt;
  }
  end = static_cast<int64_t>(begin) + bytes;
  return static_cast<int64_t>(begin);
}

/// One call; the line that answers it, or nothing after a message.
static std::optional<std::string> call(func::FuncOp function, CpuJit &jit,
                                       StringRef line, SharedMemory &memory,
                                       const Options &options) {
  auto request = llvm::json::parse<Request>(line, "request");
  if (!request) {
    reportError(llvm::toString(request.takeError()));
    return std::nullopt;
  }
  auto arguments = checkArguments(function, *request, options);
  if (!arguments || !findArguments(*arguments, *request, memory))
    return std::nullopt;
  llvm::json::Array results;
  int64_t end = request->resultsAt;
  std::vector<char> spare; // where the file cannot grow
  bool fits = true;
  jit.run(*arguments, [&](DType dtype, const std::vector<int64_t> &shape) {
    auto bytes = static_cast<int64_t>(runtime::getByteSize(dtype, shape));
    std::optional<int64_t> begin;
    if (fits)
      begin = placeResult(bytes, end);
    fits = begin && memory.map(request->memory, end);
    if (fits) {
      results.push_back(llvm::json::Object{{"dtype", name(dtype)},
                                           {"shape", llvm::json::Array(shape)},
                                           {"offset", *begin}});
      return memory.at(*begin);
    }
    spare.resize(static_cast<size_t>(bytes));
    return spare.data();
  });
  if (!fits)
    return std::nullopt;
  return llvm::formatv("{0}", llvm::json::Value(llvm::json::Object{
                                  {"results", std::move(results)}}))
      .str();
}

/// `call`, where arguments of more bytes than there can be are an answer, too.
static std::optional<std::string> tryCall(func::FuncOp function, CpuJit &jit,
                                          StringRef line, SharedMemory &memory,
                                          const Options &options) {
  try {
    return call(function, jit, line, memory, options);
  } catch (const std::length_error &error) {
    reportError(std::string("expected tensors that fit into memory, got a ") +
                error.what());
    return std::nullopt;
  }
}

bool attn::run::serve(func::FuncOp function, const Options &options) {
  // Results of one call are the memory of the next: new pages cost as much as
  // the copies.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  auto jit = getCompiled(function, options);
  if (failed(jit))
    return false;
  answer("ready");
  SharedMemory memory;
  std::string line;
  while (std::getline(std::cin, line)) {
    auto results = tryCall(function, **jit, line, memory, options);
    if (results)
      answer(*results);
    answer(results ? "ok" : "failed");
  }
  return true;
}
