#include "configs/config_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <tuple>

#include "configs/config_files.h"
#include "configs/config_scan.h"
#include "configs/operator_kind.h"
#include "space/canonical.h"
#include "space/device_name.h"
#include "space/operator_key.h"
#include "support/error.h"
#include "support/files.h"

namespace redtune {
namespace {

constexpr std::array<std::string_view, 5> kGrades{"exact", "in_range", "nearest", "other_device", "default"};

/// Everything that the kernel of an operator depends on, whatever its axes are called.
std::string function_of(const Operator& op, const Canonical& canonical) {
  if (op.graph) return op.key();
  std::string text = operator_kind(op, canonical);
  for (std::int64_t number : {op.input().offset, std::int64_t{op.reduction().ddof}})
    text += ";" + std::to_string(number);
  for (const Group& g : canonical.groups) {
    for (std::int64_t number : {g.extent, g.stride, g.output_stride, g.position_stride})
      text += ";" + std::to_string(number);
  }
  return text;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::string_view name(Grade grade) { return kGrades[static_cast<std::size_t>(grade)]; }

Grade parse_grade(std::string_view word) {
  for (std::size_t i = 0; i < kGrades.size(); ++i) {
    if (kGrades[i] == word) return static_cast<Grade>(i);
  }
  throw UserError(unknown_word_message("grade", word, {kGrades.begin(), kGrades.end()}));
}

struct ConfigIndex::Data {
  struct Entry {
    std::size_t file = 0;
    std::string key, device;
    bool run_to_run = false, ranged = false;
    std::string_view text;
  };
  /// Sizes of a canonical form as logarithms, outermost first.
  struct Place {
    std::vector<double> sizes;
    std::size_t entry = 0;
  };
  /// A shape that a portfolio was chosen for, and the entry that serves it.
  struct Site {
    std::vector<double> sizes;
    std::size_t entry = 0;
    std::optional<double> regret;  // nothing: no schedule of the portfolio serves the shape
  };

  std::string directory;
  std::vector<std::string> problems, paths, texts;
  std::vector<Entry> entries;
  std::unordered_multimap<std::string_view, std::size_t> by_key;

  mutable std::mutex parsing;
  mutable std::vector<std::shared_ptr<const Config>> parsed;
  mutable std::once_flag sized;
  mutable std::unordered_multimap<std::string, std::size_t> by_function;
  mutable std::unordered_map<std::string, std::vector<Place>> by_kind;  // by their first size
  mutable std::unordered_map<std::string, std::vector<Site>> by_range;    // by range_kind

  std::shared_ptr<const Config> config(std::size_t entry) const;
  void build_sizes() const;
  void build_range(const Operator& op, const Canonical& canonical, std::size_t entry) const;

  bool allowed(const Entry& entry, const Operator& op) const {
    return op.determinism == Determinism::kNotGuaranteed || entry.run_to_run;
  }
  std::optional<std::size_t> pick(const std::vector<std::size_t>& candidates, const Operator& op,
                                  std::string_view device, bool here, const LookupOptions& options) const;
  std::optional<Place> nearest(const std::string& kind, const std::vector<double>& sizes, const Operator& op,
                               std::string_view device, bool here, const LookupOptions& options) const;
  std::optional<Answer> in_range(const Operator& op, const Canonical& canonical, std::string_view device,
                                 const LookupOptions& options) const;
  Answer find_near(const Operator& op, std::string_view device, const LookupOptions& options) const;
  Answer answer(Grade grade, std::size_t entry, bool same_function, double distance) const;
  Answer default_answer(const std::string& kind, std::string_view device) const;
};

std::shared_ptr<const Config> ConfigIndex::Data::config(std::size_t entry) const {
  const std::lock_guard lock(parsing);
  if (!parsed[entry]) {
    const Entry& e = entries[entry];
    const std::string& path = paths[e.file];
    parsed[entry] = std::make_shared<const Config>(parse_config(parse_json(e.text, path), path, e.key));
  }
  return parsed[entry];
}

void ConfigIndex::Data::build_sizes() const {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::optional<Operator> op = parse_operator_key(entries[i].key);
    if (!op) continue;  // its own parser complains when it is asked for by key
    const Canonical canonical = coalesce(*op);
    by_function.emplace(function_of(*op, canonical), i);
    if (entries[i].ranged) {
      // Beyond its own sizes it serves in its range and nowhere else: it is the best of no task.
      build_range(*op, canonical, i);
      continue;
    }
    by_kind[operator_kind(*op, canonical)].push_back({log_sizes(canonical), i});
  }
  for (auto& [kind, places] : by_kind) {
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.sizes < b.sizes; });
  }
}

void ConfigIndex::Data::build_range(const Operator& op, const Canonical& canonical, std::size_t entry) const {
  const std::string kind = range_kind(op, canonical);
  std::shared_ptr<const Config> member;
  try {
    member = config(entry);
  } catch (const UserError&) {
    return;  // its parser complains when it is asked for by key
  }
  const auto add = [&](const std::string& key, std::optional<double> regret) {
    const std::optional<Operator> shape = parse_operator_key(key);
    if (!shape) return;
    const Canonical form = coalesce(*shape);
    if (range_kind(*shape, form) == kind) by_range[kind].push_back({log_sizes(form), entry, regret});
  };
  if (kind.empty() || !member->range) return;
  for (const Transfer& served : member->range->shapes) add(served.key, regret_of(served));
  for (const std::string& key : member->range->uncovered) add(key, std::nullopt);
}

// Of several, one of the very board before one of its model, and a faster one before a slower one.
std::optional<std::size_t> ConfigIndex::Data::pick(const std::vector<std::size_t>& candidates, const Operator& op,
                                                   std::string_view device, bool here,
                                                   const LookupOptions& options) const {
  std::optional<std::size_t> best;
  for (std::size_t i : candidates) {
    const Entry& e = entries[i];
    const bool same_model = e.device == device || device_model(e.device) == device_model(device);
    if (same_model != here || !allowed(e, op)) continue;
    if (options.refuse && !options.refuse(*config(i)).empty()) continue;
    const auto rank = [&](std::size_t j) { return std::pair(entries[j].device != device, config(j)->seconds); };
    if (!best || rank(i) < rank(*best)) best = i;
  }
  return best;
}

// The places are sorted by their first size: what is farther away in it alone than the best so far ends the walk.
std::optional<ConfigIndex::Data::Place> ConfigIndex::Data::nearest(const std::string& kind, const std::vector<double>& sizes,
                                                const Operator& op, std::string_view device, bool here,
                                                const LookupOptions& options) const {
  const auto found = by_kind.find(kind);
  if (found == by_kind.end() || sizes.empty()) return std::nullopt;
  const std::vector<Place>& places = found->second;
  const auto start = std::partition_point(places.begin(), places.end(),
                                          [&](const Place& p) { return p.sizes.front() < sizes.front(); });
  std::ptrdiff_t up = start - places.begin(), down = up - 1;
  const auto count = static_cast<std::ptrdiff_t>(places.size());
  double best_distance = std::numeric_limits<double>::infinity();
  const Place* best = nullptr;
  const auto gap = [&](std::ptrdiff_t i) {
    const double d = places[static_cast<std::size_t>(i)].sizes.front() - sizes.front();
    return d * d;
  };
  for (;;) {
    const double above = up < count ? gap(up) : std::numeric_limits<double>::infinity();
    const double below = down >= 0 ? gap(down) : std::numeric_limits<double>::infinity();
    if (std::min(above, below) >= best_distance || std::isinf(std::min(above, below))) break;
    const Place& place = places[static_cast<std::size_t>(above < below ? up++ : down--)];
    const double distance = squared_gap(place.sizes, sizes);
    const Entry& e = entries[place.entry];
    const bool same_model = e.device == device || device_model(e.device) == device_model(device);
    if (distance >= best_distance || same_model != here || !allowed(e, op)) continue;
    if (options.refuse && !options.refuse(*config(place.entry)).empty()) continue;
    best = &place;
    best_distance = distance;
  }
  return best == nullptr ? std::nullopt : std::optional<Place>(*best);
}

Answer ConfigIndex::Data::answer(Grade grade, std::size_t entry, bool same_function, double distance) const {
  Answer result;
  result.grade = grade;
  result.config = config(entry);
  result.same_function = same_function;
  result.distance = distance;
  const Config& config = *result.config;
  const std::string predicted = config.predicted ? "predicted by the model " + config.predicted->model + ", not measured" : "";
  if (grade == Grade::kExact) {
    // Nobody knows what a prediction loses, and of a portfolio's schedule it was measured.
    if (!config.predicted) result.regret = 0;
    if (config.range) {
      for (const Transfer& served : config.range->shapes) {
        if (served.key == config.op.key()) result.regret = regret_of(served);
      }
    }
    result.note = predicted;
    return result;
  }
  result.note = (config.predicted ? predicted + "; for " : "tuned as ") + config.op.key();
  if (grade == Grade::kOtherDevice) result.note += " on " + config.device;
  if (grade == Grade::kNearest && !same_function && !config.transfers.empty()) {
    std::vector<double> losses;
    for (const Transfer& t : config.transfers) losses.push_back(regret_of(t));
    result.regret = median_of(losses);
    result.regret_samples = losses.size();
  }
  return result;
}

Answer ConfigIndex::Data::default_answer(const std::string& kind, std::string_view device) const {
  Answer result;
  result.note = "no config fits; the default schedule";
  const auto found = by_kind.find(kind);
  if (found == by_kind.end()) return result;
  // A few of many are enough for a median, and parsing is what costs.
  constexpr std::size_t kMost = 32;
  std::vector<double> losses;
  const std::size_t step = std::max<std::size_t>(1, found->second.size() / kMost);
  for (std::size_t i = 0; i < found->second.size(); i += step) {
    const std::size_t entry = found->second[i].entry;
    if (device_model(entries[entry].device) != device_model(device)) continue;
    const auto known = config(entry);
    if (known->default_seconds > 0) losses.push_back(known->default_seconds / known->seconds - 1);
  }
  if (losses.empty()) return result;
  result.regret = median_of(losses);
  result.regret_samples = losses.size();
  return result;
}

// The shape that was measured nearest to the question decides: where nothing of the portfolio served that one, nothing does.
std::optional<Answer> ConfigIndex::Data::in_range(const Operator& op, const Canonical& canonical,
                                                  std::string_view device, const LookupOptions& options) const {
  const auto found = by_range.find(range_kind(op, canonical));
  if (found == by_range.end()) return std::nullopt;
  const std::vector<std::int64_t> extents = extents_of(canonical);
  const std::vector<double> sizes = log_sizes(canonical);
  std::vector<std::pair<double, const Site*>> sites;
  for (const Site& site : found->second) {
    const Entry& e = entries[site.entry];
    const bool same_model = e.device == device || device_model(e.device) == device_model(device);
    if (same_model && allowed(e, op) && config(site.entry)->range->holds(extents))
      sites.emplace_back(squared_gap(site.sizes, sizes), &site);
  }
  // Of two as near, the one that nothing serves, then the one that loses less.
  std::sort(sites.begin(), sites.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first, a.second->regret.value_or(-1), a.second->entry) <
           std::tuple(b.first, b.second->regret.value_or(-1), b.second->entry);
  });
  for (const auto& [squared, site] : sites) {
    if (!site->regret) return std::nullopt;
    Answer result;
    result.config = config(site->entry);
    if (options.refuse && !options.refuse(*result.config).empty()) continue;
    const ServedRange& range = *result.config->range;
    result.grade = Grade::kInRange;
    result.distance = std::sqrt(squared);
    result.regret = site->regret;
    result.regret_samples = 1;
    for (const Transfer& served : range.shapes)
      result.worst_regret = std::max(result.worst_regret.value_or(0), regret_of(served));
    result.note = "of the portfolio " + range.portfolio + " for " + range.text() + "; tuned as " + result.config->op.key();
    return result;
  }
  return std::nullopt;
}

// What is not filed under the very key, from the best grade to the worst.
Answer ConfigIndex::Data::find_near(const Operator& op, std::string_view device, const LookupOptions& options) const {
  const Canonical canonical = coalesce(op);
  const std::string kind = operator_kind(op, canonical);
  const std::vector<double> sizes = log_sizes(canonical);
  // `strict` were searched under the same demand on determinism, so the best of them is the best here.
  std::vector<std::size_t> strict, all;
  const auto [begin, end] = by_function.equal_range(function_of(op, canonical));
  for (auto it = begin; it != end; ++it) {
    all.push_back(it->second);
    const std::string& key = entries[it->second].key;
    const bool constrained = key.find(";determinism=") != std::string::npos;
    if (constrained == (op.determinism == Determinism::kRunToRun)) strict.push_back(it->second);
  }
  if (const auto entry = pick(strict, op, device, true, options)) return answer(Grade::kExact, *entry, true, 0);
  if (options.lowest >= Grade::kInRange && !options.same_function) {
    if (const std::optional<Answer> served = in_range(op, canonical, device, options)) return *served;
  }
  for (const Grade grade : {Grade::kNearest, Grade::kOtherDevice}) {
    if (options.lowest < grade) break;
    const bool here = grade == Grade::kNearest;
    if (const auto entry = pick(all, op, device, here, options)) return answer(grade, *entry, true, 0);
    if (options.same_function) continue;
    if (const auto place = nearest(kind, sizes, op, device, here, options)) {
      return answer(grade, place->entry, false, std::sqrt(squared_gap(place->sizes, sizes)));
    }
  }
  return default_answer(kind, device);
}

ConfigIndex::ConfigIndex(std::unique_ptr<Data> data) : data_(std::move(data)) {}
ConfigIndex::ConfigIndex(ConfigIndex&&) noexcept = default;
ConfigIndex& ConfigIndex::operator=(ConfigIndex&&) noexcept = default;
ConfigIndex::~ConfigIndex() = default;

const std::string& ConfigIndex::directory() const { return data_->directory; }
std::size_t ConfigIndex::size() const { return data_->entries.size(); }
const std::vector<std::string>& ConfigIndex::problems() const { return data_->problems; }

ConfigIndex ConfigIndex::load(const std::string& directory) {
  auto data = std::make_unique<Data>();
  data->directory = directory;
  if (!std::filesystem::is_regular_file(directory)) need_store(directory);
  const std::vector<std::string> files = config_files(directory);
  data->texts.reserve(files.size());  // entries point into them
  for (const std::string& path : files) {
    try {
      data->texts.push_back(read_file(path));
      data->paths.push_back(path);
      const std::size_t file = data->texts.size() - 1;
      for (ScannedEntry& e : scan_config_file(data->texts.back(), path).entries) {
        data->entries.push_back(
            {file, std::move(e.key), std::move(e.device), e.determinism == "run_to_run", e.ranged, e.text});
      }
    } catch (const UserError& error) {
      data->problems.emplace_back(error.what());
    }
    data->paths.resize(data->texts.size(), path);
  }
  data->by_key.reserve(data->entries.size());
  for (std::size_t i = 0; i < data->entries.size(); ++i) data->by_key.emplace(data->entries[i].key, i);
  data->parsed.resize(data->entries.size());
  return ConfigIndex(std::move(data));
}

Answer ConfigIndex::find(const Operator& op, std::string_view device, const LookupOptions& options) const {
  return find(op, op.key(), device, options);
}

Answer ConfigIndex::find(const Operator& op, const std::string& key, std::string_view device,
                         const LookupOptions& options) const {
  const Data& data = *data_;
  std::vector<std::size_t> same;
  const auto [begin, end] = data.by_key.equal_range(key);
  for (auto it = begin; it != end; ++it) same.push_back(it->second);
  if (const auto entry = data.pick(same, op, device, true, options)) {
    return data.answer(Grade::kExact, *entry, true, 0);
  }
  std::call_once(data.sized, [&] { data.build_sizes(); });
  return data.find_near(op, device, options);
}

}  // namespace redtune
