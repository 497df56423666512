//===- Format.cpp - Text for people: sizes, tables ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Support/Format.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace attn {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::string formatFixed(double value, int digits) {
  std::array<char, 64> buffer;
  int length =
      std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  // A double below 1e300 with few digits can still be longer than the buffer.
  if (length < 0 || static_cast<size_t>(length) >= buffer.size())
    std::snprintf(buffer.data(), buffer.size(), "%g", value);
  return buffer.data();
}

std::string formatBytes(int64_t bytes) {
  static constexpr std::array<const char *, 6> units = {"KiB", "MiB", "GiB",
                                                        "TiB", "PiB", "EiB"};
  if (std::abs(bytes) < 1024)
    return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.95 would print as "1024.0".
  while (std::fabs(value) >= 1023.95 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return formatFixed(value, 1) + " " + units[unit];
}

std::string formatCount(int64_t count) {
  std::string digits = std::to_string(count);
  size_t first = count < 0 ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string formatPercent(double fraction) {
  return formatFixed(fraction * 100, 1) + "%";
}

std::string formatSeconds(double seconds) {
  if (seconds < 1e-6)
    return formatFixed(seconds * 1e9, 1) + " ns";
  if (seconds < 1e-3)
    return formatFixed(seconds * 1e6, 1) + " us";
  if (seconds < 1)
    return formatFixed(seconds * 1e3, 1) + " ms";
  return formatFixed(seconds, 1) + " s";
}

bool parseInteger(std::string_view text, int64_t &value) {
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end;
}

bool parseDouble(std::string_view text, double &value) {
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end;
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

std::string join(const std::vector<std::string> &parts,
                 std::string_view separator) {
  std::string text;
  for (const std::string &part : parts) {
    if (&part != &parts.front())
      text += separator;
    text += part;
  }
  return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

/// Levenshtein distance, one row of the table at a time.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

std::string nearestSpelling(std::string_view word,
                            const std::vector<std::string> &candidates) {
  std::string best;
  // More than a third of the word wrong is another word.
  size_t bestDistance = std::max<size_t>(word.size() / 3, 1) + 1;
  for (const std::string &candidate : candidates) {
    // "sm_90" means "sm_90a" rather than "sm_80".
    bool isPrefix =
        !word.empty() && candidate.compare(0, word.size(), word) == 0;
    size_t distance = isPrefix ? 0 : editDistance(word, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

Table::Table(std::vector<std::string> header, std::vector<Alignment> alignment)
    : header(std::move(header)), alignment(std::move(alignment)) {
  assert(this->header.size() == this->alignment.size());
}

void Table::addRow(std::vector<std::string> cells) {
  assert(cells.size() == header.size() && "row and header differ in length");
  rows.push_back(std::move(cells));
}

std::string Table::printRow(const std::vector<std::string> &cells,
                            const std::vector<size_t> &widths) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    std::string padding(widths[i] - cells[i].size(), ' ');
    if (i > 0)
      line += "  ";
    line += alignment[i] == Right ? padding + cells[i] : cells[i] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string Table::print() const {
  std::vector<size_t> widths;
  std::vector<std::string> rule;
  for (size_t i = 0; i < header.size(); ++i) {
    size_t width = header[i].size();
    for (const auto &row : rows)
      width = std::max(width, row[i].size());
    widths.push_back(width);
    rule.emplace_back(width, '-');
  }
  std::string text = printRow(header, widths) + printRow(rule, widths);
  for (const auto &row : rows)
    text += printRow(row, widths);
  return text;
}

} // namespace attn
