#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "space/graph.h"
#include "support/files.h"
#include "support/text.h"
#include "tuner/cli/verbs.h"

namespace redtune {
namespace {

struct ImportArguments {
  std::vector<std::string> files;
  std::string directory;
};

/// "a/b/Fused_X.info" -> "Fused_X.json".
std::string json_name(const std::string& path) {
  return std::filesystem::path(path).stem().string() + ".json";
}

/// Every file that can be read is written; those that cannot are named, and the exit code tells of them.
ExitCode run_import(const ImportArguments& arguments) {
  if (arguments.files.empty())
    throw UserError("no file: name MindSpore sub-graphs (.info), as in `redtune import a.info -o DIR`");
  std::filesystem::create_directories(arguments.directory);
  std::size_t refused = 0;
  for (const std::string& file : arguments.files) {
    try {
      const Operator op = read_operator_file(file);
      const std::string to = (std::filesystem::path(arguments.directory) / json_name(file)).string();
      write_file_atomically(to, to_json(op).dump(2) + "\n");
      std::cout << to << ": " << op.key() << "\n";
    } catch (const UserError& error) {
      ++refused;
      std::cerr << "refused: " << error.what() << "\n";
    }
  }
  const std::size_t read = arguments.files.size() - refused;
  std::cout << format_count(static_cast<std::int64_t>(read)) << " of "
            << format_count(static_cast<std::int64_t>(arguments.files.size())) << " files imported\n";
  return refused == 0 ? ExitCode::kDone : ExitCode::kUsage;
}

}  // namespace

VerbAction declare_import(CLI::App& app) {
  const auto arguments = std::make_shared<ImportArguments>();
  app.add_option("files", arguments->files, "MindSpore composite sub-graphs (.info)")->option_text("FILE");
  app.add_option("-o,--output", arguments->directory, "folder for the operator files")
      ->option_text("DIR")
      ->required();
  return [arguments] { return run_import(*arguments); };
}

}  // namespace redtune
