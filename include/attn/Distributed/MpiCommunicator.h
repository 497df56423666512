//===- MpiCommunicator.h - Ranks of MPI -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A PlanCommunicator over MPI. The program compiles this header with its own
// <mpi.h>, since libraries of MPI have no common binary interface; no library
// of this project uses MPI.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISTRIBUTED_MPICOMMUNICATOR_H
#define ATTN_DISTRIBUTED_MPICOMMUNICATOR_H

#include "attn/Distributed/PlanExecutor.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

namespace attn {

/// The messages of one exchange: none where nothing is sent.
class MpiExchange {
public:
  explicit MpiExchange(MPI_Comm communicator) : communicator(communicator) {
    MPI_Comm_rank(communicator, &rank);
  }

  Status begin(const std::vector<SentBytes> &send,
               const std::vector<ReceivedBytes> &receive) {
    for (size_t peer = 0; peer < receive.size(); ++peer)
      if (Status status = begin(peer, receive[peer].data, receive[peer].size,
                                /*isSent=*/false);
          !status)
        return status;
    for (size_t peer = 0; peer < send.size(); ++peer)
      if (Status status = begin(peer, const_cast<char *>(send[peer].data),
                                send[peer].size, /*isSent=*/true);
          !status)
        return status;
    return {};
  }

  /// Until all are done, at most `seconds`.
  Status wait(double seconds) {
    auto deadline = std::chrono::steady_clock::now() +
                    std::chrono::duration<double>(seconds);
    while (!pieces.empty()) {
      if (Status status = removeDone(); !status)
        return status;
      if (std::chrono::steady_clock::now() >= deadline && !pieces.empty())
        return giveUp(seconds);
      if (!pieces.empty())
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return {};
  }

private:
  struct Piece {
    MPI_Request request;
    int peer, bytes;
    bool isSent;
  };

  /// MPI counts in int.
  Status begin(int peer, char *data, size_t size, bool isSent) {
    constexpr size_t kMostBytes = size_t(1) << 30;
    constexpr int kTag = 0;
    for (size_t at = 0; at < size; at += kMostBytes) {
      int bytes = int(std::min(kMostBytes, size - at));
      Piece piece{MPI_REQUEST_NULL, peer, bytes, isSent};
      int code = isSent ? MPI_Isend(data + at, bytes, MPI_BYTE, peer, kTag,
                                    communicator, &piece.request)
                        : MPI_Irecv(data + at, bytes, MPI_BYTE, peer, kTag,
                                    communicator, &piece.request);
      if (code != MPI_SUCCESS)
        return makeError(piece, "MPI to begin", code);
      pieces.push_back(piece);
    }
    return {};
  }

  Status removeDone() {
    std::vector<Piece> left;
    for (Piece &piece : pieces) {
      int isDone = 0, bytes = 0;
      MPI_Status state;
      int code = MPI_Test(&piece.request, &isDone, &state);
      if (code != MPI_SUCCESS)
        return makeError(piece, "all ranks to communicate", code);
      if (!isDone) {
        left.push_back(piece);
        continue;
      }
      if (!piece.isSent)
        MPI_Get_count(&state, MPI_BYTE, &bytes);
      if (!piece.isSent && bytes != piece.bytes)
        return Error{describe(piece) + std::to_string(piece.bytes) +
                     " bytes, got " + std::to_string(bytes)};
    }
    pieces = std::move(left);
    return {};
  }

  Status giveUp(double seconds) {
    std::ostringstream text;
    text << describe(pieces.front()) << "within " << seconds
         << (pieces.front().isSent ? " s, it did not" : " s, got nothing");
    for (Piece &piece : pieces) {
      if (!piece.isSent)
        MPI_Cancel(&piece.request);
      MPI_Request_free(&piece.request);
    }
    return Error{text.str()};
  }

  std::string describe(const Piece &piece) const {
    return "rank " + std::to_string(rank) + ": expected rank " +
           std::to_string(piece.peer) +
           (piece.isSent ? " to receive " : " to send ");
  }

  Status makeError(const Piece &piece, const std::string &what, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return Error{"rank " + std::to_string(rank) + ": expected " + what +
                 ", got with rank " + std::to_string(piece.peer) + ": " +
                 std::string(text, length)};
  }

  MPI_Comm communicator;
  int rank = 0;
  std::vector<Piece> pieces;
};

/// The ranks of `communicator`, which nothing else sends messages in, and whose
/// errors are returned from now on. An exchange that takes longer than
/// `seconds` fails; then messages may still be under way, so that a program
/// ends by MPI_Abort. Arrays are in memory that MPI takes: the host's, or with
/// an MPI that knows CUDA a GPU's, whose stream is idle then.
inline PlanCommunicator makeMpiCommunicator(MPI_Comm communicator,
                                            double seconds) {
  int rank = 0, size = 1;
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  auto exchange = [=](const std::vector<SentBytes> &send,
                      const std::vector<ReceivedBytes> &receive) -> Wait {
    auto messages = std::make_shared<MpiExchange>(communicator);
    Status begun = messages->begin(send, receive);
    return [=] { return begun ? messages->wait(seconds) : begun; };
  };
  return {rank, size, exchange};
}

} // namespace attn

#endif // ATTN_DISTRIBUTED_MPICOMMUNICATOR_H
