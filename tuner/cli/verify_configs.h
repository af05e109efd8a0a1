// `redtune verify --configs`: stored configs checked again, for gates.
#pragma once

#include <string>

#include "support/error.h"
#include "tuner/cli/arguments.h"
#include "tuner/cli/verify_options.h"

namespace redtune {

struct VerifyConfigsArguments {
  std::string directory;
  double tolerance = 0.1;
  bool numbers_only = false, transfers = false, json = false;
};

/// `transfers`: measures also what each config's nearest neighbour would lose in its place, and notes it in
/// the neighbour's entry: the regret of answers of the grade nearest. Every config of the store that was
/// measured on a device of this model (of `operators` only, where some are given): numbers on every kind of
/// input, then the time. Exit codes: 0 all hold; 1 a wrong answer; 3 one is slower, fails or is stale, or
/// there is none to check.
ExitCode verify_configs(const VerifyConfigsArguments& arguments, const OperatorArguments& operators,
                        const VerifyArguments& how);

}  // namespace redtune
