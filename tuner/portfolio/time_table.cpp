#include "tuner/portfolio/time_table.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "configs/operator_kind.h"
#include "space/constraints.h"
#include "tuner/logged_task.h"
#include "tuner/trials.h"

namespace redtune {
namespace {

TimeCell cell_of(const MeasuredShape& shape, const Schedule& schedule) {
  if (std::string why = why_illegal(shape.task(), schedule); !why.empty())
    return {CellState::kIllegal, 0, std::move(why)};
  const auto place = shape.trial_of.find(schedule.text());
  if (place == shape.trial_of.end()) return {};
  const Outcome& outcome = shape.result.trials[place->second].outcome;
  if (outcome.timed()) return {CellState::kTimed, outcome.median_seconds, ""};
  return {CellState::kFailed, 0, std::string(name(outcome.kind)) + ": " + outcome.detail};
}

double fastest(const MeasuredShape& shape) {
  double best = 0;
  for (const Trial& trial : shape.result.trials) {
    if (!trial.outcome.timed() || !why_illegal(shape.task(), trial.schedule).empty()) continue;
    if (best == 0 || trial.outcome.median_seconds < best) best = trial.outcome.median_seconds;
  }
  return best;
}

}  // namespace

MeasuredShape measured_shape(const Task& task, const DeviceInfo& device, std::vector<Record> records) {
  std::map<std::string, std::string> newest;
  for (const Record& record : records) newest[record.schedule.text()] = record.program_hash;
  std::erase_if(records, [&](const Record& r) { return r.program_hash != newest.at(r.schedule.text()); });
  MeasuredShape shape;
  shape.result = result_of_records(records, task, device);
  shape.records = std::move(records);
  for (std::size_t i = 0; i < shape.result.trials.size(); ++i)
    shape.trial_of.emplace(shape.result.trials[i].schedule.text(), i);
  shape.extents = extents_of(task.canonical);
  shape.sizes = log_sizes(task.canonical);
  return shape;
}

std::string why_illegal(const Task& task, const Schedule& schedule) {
  SpaceFilter filter;
  filter.run_to_run_only = task.op.determinism == Determinism::kRunToRun;
  const std::optional<Rejection> rejection = why_not(task, filter, schedule);
  return rejection ? rejection->constraint + ": " + rejection->detail : std::string();
}

std::vector<Schedule> best_schedules(const TuneResult& result, std::size_t count) {
  std::vector<const Trial*> timed;
  for (const Trial& trial : result.trials) {
    if (trial.outcome.timed() && why_illegal(result.task, trial.schedule).empty()) timed.push_back(&trial);
  }
  std::stable_sort(timed.begin(), timed.end(), [](const Trial* a, const Trial* b) {
    return a->outcome.median_seconds < b->outcome.median_seconds;
  });
  std::vector<Schedule> best;
  for (std::size_t i = 0; i < std::min(count, timed.size()); ++i) best.push_back(timed[i]->schedule);
  return best;
}

std::optional<std::size_t> TimeTable::own_best(std::size_t shape) const {
  std::optional<std::size_t> best;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const std::vector<std::size_t>& owners = candidates[c].best_of;
    if (cells[shape][c].state != CellState::kTimed ||
        std::find(owners.begin(), owners.end(), shape) == owners.end())
      continue;
    if (!best || cells[shape][c].seconds < cells[shape][*best].seconds) best = c;
  }
  return best;
}

double TimeTable::default_seconds(std::size_t shape) const {
  const TuneResult& result = shapes[shape].result;
  const auto trial = result.default_trial();
  return trial && result.trials[*trial].outcome.timed() ? result.trials[*trial].outcome.median_seconds : 0;
}

TimeTable make_time_table(std::vector<MeasuredShape> shapes,
                          const std::vector<std::vector<Schedule>>& candidates) {
  TimeTable table;
  table.shapes = std::move(shapes);
  std::map<std::pair<std::size_t, std::string>, PortfolioCandidate> ordered;
  for (std::size_t s = 0; s < candidates.size(); ++s) {
    for (const Schedule& schedule : candidates[s]) {
      PortfolioCandidate& candidate = ordered[{simplicity(schedule), schedule.text()}];
      candidate.schedule = schedule;
      candidate.best_of.push_back(s);
    }
  }
  for (auto& [unused, candidate] : ordered) table.candidates.push_back(std::move(candidate));
  for (const MeasuredShape& shape : table.shapes) {
    std::vector<TimeCell>& row = table.cells.emplace_back();
    for (const PortfolioCandidate& candidate : table.candidates)
      row.push_back(cell_of(shape, candidate.schedule));
    table.best_seconds.push_back(fastest(shape));
  }
  return table;
}

RegretMatrix regret_matrix(const TimeTable& table, const std::vector<std::size_t>& shapes,
                           const std::vector<std::size_t>& candidates) {
  RegretMatrix matrix;
  for (std::size_t s : shapes) {
    std::vector<double>& row = matrix.emplace_back();
    for (std::size_t c : candidates) {
      const TimeCell& cell = table.cells[s][c];
      row.push_back(cell.state == CellState::kTimed ? cell.seconds / table.best_seconds[s] - 1
                                                    : kCannotServe);
    }
  }
  return matrix;
}

std::vector<std::size_t> all_places(std::size_t count) {
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

}  // namespace redtune
