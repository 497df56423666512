//===- Format.h - Text for people: sizes, tables ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Printing shared by remarks, reports and tools, so that a byte count looks the
// same everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SUPPORT_FORMAT_H
#define ATTN_SUPPORT_FORMAT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// 1536 -> "1.5 KiB". Binary units, one decimal, whole bytes below 1 KiB.
std::string formatBytes(int64_t bytes);

/// 1234567 -> "1,234,567".
std::string formatCount(int64_t count);

/// 0.1234 -> "12.3%".
std::string formatPercent(double fraction);

/// 1.5e-5 -> "15.0 us". Picks ns, us, ms or s.
std::string formatSeconds(double seconds);

/// `value` with `digits` digits after the point.
std::string formatFixed(double value, int digits);

/// Joins the parts with `separator`.
std::string join(const std::vector<std::string> &parts,
                 std::string_view separator);

/// Splits at every `separator`; "a,,b" gives {"a", "", "b"}, "" gives {""}.
std::vector<std::string> split(std::string_view text, char separator);

/// Removes leading and trailing white space.
std::string_view trim(std::string_view text);

/// Parses a whole decimal integer, with an optional sign. Returns false on
/// anything else: empty text, trailing characters, overflow.
bool parseInteger(std::string_view text, int64_t &value);

/// Parses a whole floating-point number. Returns false on anything else.
bool parseDouble(std::string_view text, double &value);

/// Returns the candidate with the least edit distance to `word`, or "" where
/// none is near enough to be meant.
std::string nearestSpelling(std::string_view word,
                            const std::vector<std::string> &candidates);

/// A table of text with aligned columns.
///
///   Table table({"name", "bytes"}, {Table::Left, Table::Right});
///   table.addRow({"Q", "128"});
class Table {
public:
  enum Alignment { Left, Right };

  Table(std::vector<std::string> header, std::vector<Alignment> alignment);

  /// Adds a row. It must have as many cells as the header.
  void addRow(std::vector<std::string> cells);

  /// Prints header, rule and rows; two spaces between columns, no trailing
  /// white space, each line ended by a newline.
  std::string print() const;

private:
  std::string printRow(const std::vector<std::string> &cells,
                       const std::vector<size_t> &widths) const;

  std::vector<std::string> header;
  std::vector<Alignment> alignment;
  std::vector<std::vector<std::string>> rows;
};

} // namespace attn

#endif // ATTN_SUPPORT_FORMAT_H
