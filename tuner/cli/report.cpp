#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "support/files.h"
#include "support/text.h"
#include "tuner/cli/verbs.h"
#include "tuner/report/report_page.h"

namespace redtune {
namespace {

struct ReportArguments {
  std::vector<std::string> logs;
  std::string output, format;
};

const std::vector<std::string> kReportFormats{"html", "json", "csv"};

// --format, else the ending of the file, else a page.
std::string format_of(const ReportArguments& arguments) {
  std::string word = arguments.format;
  const std::string ending = std::filesystem::path(arguments.output).extension().string();
  if (word.empty() && !ending.empty()) word = ending.substr(1);
  if (word.empty()) word = "html";
  for (const std::string& known : kReportFormats) {
    if (word == known) return word;
  }
  throw UserError(unknown_word_message("report format", word, kReportFormats));
}

ExitCode run_report(const ReportArguments& arguments) {
  const std::string format = format_of(arguments);
  const Report report = read_report(arguments.logs);
  for (const std::string& warning : report.warnings) std::cerr << "redtune: warning: " << warning << "\n";
  const std::string text =
      format == "csv"    ? report_csv(report)
      : format == "json" ? to_json(report, false).dump(1, ' ', false, Json::error_handler_t::replace) + "\n"
                         : report_page(report);
  if (arguments.output.empty() || arguments.output == "-") {
    std::cout << text;
    return ExitCode::kDone;
  }
  write_file_atomically(arguments.output, text);
  std::size_t trials = 0;
  for (const ReportTask& task : report.tasks) trials += task.trials.size();
  std::cerr << arguments.output << ": " << report.tasks.size()
            << (report.tasks.size() == 1 ? " task, " : " tasks, ") << trials << " trials, "
            << format_bytes(static_cast<double>(text.size())) << "\n";
  return ExitCode::kDone;
}

}  // namespace

VerbAction declare_report(CLI::App& app) {
  const auto arguments = std::make_shared<ReportArguments>();
  ReportArguments& a = *arguments;
  app.add_option("logs", a.logs, "logs of tune or bench")->required()->option_text("LOG...");
  app.add_option("-o,--output", a.output, "file to write (default: stdout)");
  app.add_option("--format", a.format, "html, json or csv (default: by the ending of the file, else html)");
  return [arguments] { return run_report(*arguments); };
}

}  // namespace redtune
