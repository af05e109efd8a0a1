// A bench result as text: for terminals, Markdown, spreadsheets, programs.
#pragma once

#include <string>

#include "tuner/bench/bench_row.h"

namespace redtune {

/// "table", "md", "csv" or "json"; throws UserError with the nearest known name.
std::string format_bench(const BenchResult& result, const std::string& format);
void check_bench_format(const std::string& format);

}  // namespace redtune
