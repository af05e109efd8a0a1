// The verbs of the command line: one file each, one table.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "support/error.h"

namespace CLI {
class App;
}

namespace redtune {

/// What a verb does once its options are read.
using VerbAction = std::function<ExitCode()>;

struct Verb {
  std::string_view name, summary, examples;
  /// Declares the options on `app`; the action reads them.
  VerbAction (*declare)(CLI::App& app);
};

/// The one list, in verbs.cpp.
std::span<const Verb> verbs();

VerbAction declare_tune(CLI::App& app);
VerbAction declare_space(CLI::App& app);
VerbAction declare_show(CLI::App& app);
VerbAction declare_report(CLI::App& app);
VerbAction declare_run(CLI::App& app);
VerbAction declare_verify(CLI::App& app);
VerbAction declare_fuzz(CLI::App& app);
VerbAction declare_compile(CLI::App& app);
VerbAction declare_import(CLI::App& app);
VerbAction declare_train(CLI::App& app);
VerbAction declare_replay(CLI::App& app);
VerbAction declare_bench(CLI::App& app);
VerbAction declare_best(CLI::App& app);
VerbAction declare_configs(CLI::App& app);
VerbAction declare_explain(CLI::App& app);
VerbAction declare_portfolio(CLI::App& app);
VerbAction declare_predict(CLI::App& app);
VerbAction declare_export(CLI::App& app);
VerbAction declare_devices(CLI::App& app);
VerbAction declare_targets(CLI::App& app);
VerbAction declare_counters(CLI::App& app);
VerbAction declare_doctor(CLI::App& app);
VerbAction declare_version(CLI::App& app);

/// The command as it was typed, for the log.
const std::string& command_line();
void set_command_line(int argc, char** argv);

}  // namespace redtune
