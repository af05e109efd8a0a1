// Tasks for tests in one line.
#pragma once

#include <string>
#include <utility>

#include "space/operator.h"
#include "space/target.h"
#include "space/task.h"

namespace redtune {

/// `axes` empty: all. Strides row-major.
inline Task task_of(const std::string& shape, const std::string& axes, const std::string& target,
                    const std::string& op = "sum", const std::string& dtype = "f32",
                    const std::string& out = "") {
  ShortForm form;
  form.op = op;
  form.shape = shape;
  form.axes = axes;
  form.dtype = dtype;
  form.out = out;
  return make_task(operator_from_short_form(form), load_target(target));
}

/// The same with the demand that every run gives the same bits.
inline Task repeatable(Task task) {
  task.op.determinism = Determinism::kRunToRun;
  return task;
}

}  // namespace redtune
