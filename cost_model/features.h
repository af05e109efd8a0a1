// What a learned model reads of a schedule: one table, a row per feature. Magnitudes are given as log2(1 +
// x), so that trees split doublings; shares and flags as they are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost_model/analytic_model.h"
#include "cost_model/schedule_facts.h"

namespace redtune {

/// A schedule of a task with everything that extractors read.
struct FeatureInput {
  const TaskFacts& task;
  const ScheduleFacts& schedule;
  const AnalyticTime& time;
};

struct Feature {
  std::string_view name, unit, summary;  // summary: one sentence
  double (*extract)(const FeatureInput& input);
};

/// The one list, in features.cpp. A new row, a changed meaning or order makes another schema.
std::span<const Feature> features();

/// Hash over names and units in order, and a version for changes of meaning: models are only used with the
/// schema that they were trained on.
std::string feature_schema();

/// Row-major, schedules.size() x features().size(). About a third of a microsecond per schedule and ten
/// features.
std::vector<float> feature_matrix(const Task& task, std::span<const Schedule> schedules);

}  // namespace redtune
