// Kernel text as it is written: lines with indentation.
#pragma once

#include <cstddef>
#include <string>
#include <vector>
#include <utility>

namespace redtune {

/// Text with indentation.
class Writer {
 public:
  void line(const std::string& text) { out_ += std::string(static_cast<std::size_t>(depth_) * 2, ' ') + text + "\n"; }
  void open(const std::string& text) {
    line(text + " {");
    ++depth_;
  }
  void close(const std::string& after = "") {
    --depth_;
    line("}" + after);
  }
  void block(const std::vector<std::string>& lines) {
    open("");
    for (const std::string& each : lines) line(each);
    close();
  }
  void reopen(const std::string& text) {
    --depth_;
    line("} " + text + " {");
    ++depth_;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  int depth_ = 0;
};

}  // namespace redtune
