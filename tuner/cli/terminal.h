// What a terminal may be shown: colour, a live line. Neither where NO_COLOR or a pipe forbids.
#pragma once

#include <string>

#include "tuner/tuning.h"

namespace redtune {

/// `text` in bold when `stream` (1 or 2) is a terminal that may have it.
std::string bold(const std::string& text, int stream = 1);

/// The progress of a run on stderr: one live line on a terminal, else a line every few seconds.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const Progress& progress);
  /// Takes the live line away, so that other text can be printed.
  void clear();

 private:
  bool live_, drawn_ = false;
  double last_printed_ = 0;
};

/// "12/64 trials, best 1.23 ms (1.42x default), 2 failed, about 34 s left"
std::string progress_text(const Progress& progress);

}  // namespace redtune
