// The program: finds the verb, runs it, and is the only place that turns exceptions into exit codes.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "support/error.h"
#include "support/version.h"
#include "tuner/cli/verbs.h"

namespace redtune {
namespace {

std::string usage() {
  std::string text = "usage: redtune VERB [OPTION...]\n\nverbs:\n";
  for (const Verb& verb : verbs()) {
    std::string row = "  " + std::string(verb.name);
    row.resize(12, ' ');
    text += row + std::string(verb.summary) + "\n";
  }
  return text +
         "\nredtune VERB --help tells the options of a verb, with examples.\n"
         "exit codes: 0 done, 1 bug in redtune, 2 bad usage or input, 3 no valid schedule, 4 no device or "
         "driver,\n"
         "5 stopped early before anything valid\n";
}

const Verb& find_verb(const std::string& word) {
  std::vector<std::string> known;
  for (const Verb& verb : verbs()) {
    if (verb.name == word) return verb;
    known.emplace_back(verb.name);
  }
  throw UserError(unknown_word_message("verb", word, known));
}

// CLI11 names what it did not expect; the option that was meant is named here.
std::string with_nearest_option(const CLI::App& app, const CLI::ParseError& error,
                                const std::vector<std::string>& words) {
  std::string message = error.what();
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = nearest_word(name, known);
    message = "unknown option '" + name + "'" + (nearest.empty() ? "" : "; did you mean '" + nearest + "'?");
    break;
  }
  return message;
}

bool is_whole_number(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  // CLI11 reads a leading zero as octal.
  return error == std::errc() && stopped == end && (text[0] != '0' || text.size() == 1);
}

// What CLI11 lets through: an empty word, mostly an unset shell variable, would pass for an option that was
// not given, and a number below zero would wrap around.
void check_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (value.empty()) {
        throw UserError(option->get_name() + ": the value is empty; give one or leave the option out");
      }
      if (option->get_type_name() == "UINT" && !is_whole_number(value)) {
        throw UserError(option->get_name() + ": '" + value +
                        "' is not a whole number of 0 or more within 64 bits");
      }
    }
  }
}

ExitCode run_verb(const Verb& verb, std::vector<std::string> words) {
  CLI::App app(std::string(verb.summary), "redtune " + std::string(verb.name));
  app.footer("\nexamples:\n" + std::string(verb.examples));
  const VerbAction action = verb.declare(app);
  const std::vector<std::string> given = words;
  try {
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return ExitCode::kDone;
  } catch (const CLI::ParseError& error) {
    throw UserError(with_nearest_option(app, error, given) + " (redtune " + std::string(verb.name) +
                    " --help)");
  }
  check_values(app);
  return action();
}

ExitCode run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    std::cerr << usage();
    return ExitCode::kUsage;
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    if (first == "help" && arguments.size() > 1) return run_verb(find_verb(arguments[1]), {"--help"});
    std::cout << usage();
    return ExitCode::kDone;
  }
  const std::string word = first == "--version" || first == "-V" ? "version" : first;
  return run_verb(find_verb(word), {arguments.begin() + 1, arguments.end()});
}

ExitCode failed(ExitCode code, const std::string& what) {
  std::cout.flush();
  std::cerr << "redtune: " << what << "\n";
  return code;
}

ExitCode guarded_run(const std::vector<std::string>& arguments) {
  try {
    const ExitCode code = run(arguments);
    std::cout.flush();
    // A full disk behind stdout must not look like success.
    return std::cout ? code : failed(ExitCode::kUsage, "cannot write the standard output");
  } catch (const UserError& error) {
    return failed(ExitCode::kUsage, error.what());
  } catch (const NoValidSchedule& error) {
    return failed(ExitCode::kNoValidSchedule, error.what());
  } catch (const NoDevice& error) {
    return failed(ExitCode::kNoDevice, error.what());
  } catch (const InternalError& error) {
    return failed(ExitCode::kInternal, std::string("bug in redtune ") + kVersion + ": " + error.what());
  } catch (const std::exception& error) {
    return failed(ExitCode::kInternal,
                  std::string("unexpected error in redtune ") + kVersion + ": " + error.what());
  }
}

}  // namespace
}  // namespace redtune

int main(int argc, char** argv) {
  redtune::set_command_line(argc, argv);
  return static_cast<int>(redtune::guarded_run({argv + 1, argv + argc}));
}
