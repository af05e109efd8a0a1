// What several verbs ask for alike: operators, targets, schedules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/device.h"
#include "space/operator.h"
#include "space/search_space.h"

namespace CLI {
class App;
}

namespace redtune {

/// Operators from files (OP...) or from the short form (--op --shape --axes ...).
class OperatorArguments {
 public:
  /// `several`: any number of files; otherwise at most one operator.
  void declare(CLI::App& app, bool several);
  /// Whether anything names an operator. Like read, while the declared app lives.
  bool given() const;
  /// Throws UserError when neither form, both (also in part), or too many are given.
  std::vector<Operator> read() const;
  Operator read_one() const;

 private:
  std::string short_form_option() const;  // the first one given; "" when none is
  const CLI::App* app_ = nullptr;
  std::vector<std::string> files_;
  ShortForm form_;
  std::string determinism_;
  bool several_ = false;
};

/// A shipped target by name; "": that of the best device that is present, else the shipped "cpu".
Target target_of(const std::string& name);

/// --mapping and --only, empty: everything.
SpaceFilter filter_of(const std::string& mapping, const std::string& only = "");

/// The schedule that `text` names; throws UserError with the broken constraint when it is not legal for the
/// task.
Schedule legal_schedule(const SearchSpace& space, const std::string& text);

}  // namespace redtune
