// The results of a bench on disk: one row a line, the latest of an id and device stands.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tuner/bench/bench_row.h"

namespace redtune {

/// Whose results: rows of other devices, drivers, clocks or settings stay in the file and are not read.
struct BenchKey {
  std::string device, driver, timing;
};

class BenchStore {
 public:
  /// Reads what `path` holds. A torn line is skipped with a warning in `warnings`; throws UserError when the
  /// file is of something else.
  BenchStore(std::string path, BenchKey key, std::vector<std::string>& warnings);

  const BenchRow* find(const std::string& id, const Operator& op) const;
  const BenchPeak& peak() const { return peak_; }
  /// Both write the file anew, as a whole.
  void put(const BenchRow& row);
  void put(const BenchPeak& peak);

 private:
  void write() const;
  std::string line_of(const char* kind, const Json& content) const;

  std::string path_;
  BenchKey key_;
  std::vector<std::string> others_;  // lines of other keys, as they stand
  std::map<std::string, BenchRow> rows_;
  BenchPeak peak_;
};

}  // namespace redtune
