#include "tuner/strategies/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "support/error.h"

namespace redtune {
namespace {

constexpr std::size_t kMostLevels = 64;  // of an axis; more are binned by their places
constexpr std::size_t kFitPoints = 128;  // likelihood is judged on at most so many
// Priors: medians and widths (of the logarithm). Places are in [0, 1], so a length of 1 says "smooth".
constexpr double kLength = 1, kLengthWidth = 1, kSame = 0.1, kDyadic = 2, kNoise = 0.01, kAdditiveOdds = 0.4;
constexpr double kWide = 1.41;
constexpr double kStep = 1.7;  // of the coordinate search, a factor
constexpr double kSmallest = 1e-6;

double squared(double x) { return x * x; }

// Four sums at a time: one alone would wait for each addition.
double dot(const double* a, const double* b, std::size_t n) {
  double sums[4] = {0, 0, 0, 0};
  std::size_t k = 0;
  for (; k + 4 <= n; k += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += a[k + lane] * b[k + lane];
  }
  for (; k < n; ++k) sums[0] += a[k] * b[k];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// In place: lower Cholesky factor of the n x n matrix; returns the logarithm of its determinant's root.
double factorise(std::vector<double>& a, std::size_t n) {
  double log_root = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double* row = &a[i * n];
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = &a[j * n];
      const double sum = row[j] - dot(row, other, j);
      row[j] = i == j ? std::sqrt(std::max(sum, kSmallest)) : sum / other[j];
    }
    log_root += std::log(row[i]);
  }
  return log_root;
}

}  // namespace

GaussianProcess::GaussianProcess(const DiscreteSpace& space) : total_(space.size()) {
  const std::size_t count = space.dimensions().size() + (space.guess().empty() ? 0 : 1);
  codes_.reserve(total_ * count);
  std::vector<std::vector<std::uint8_t>> columns;
  for (std::size_t d = 0; d < space.dimensions().size(); ++d) {
    const Dimension& dimension = space.dimensions()[d];
    Axis axis{dimension.places, dimension.dyadic, dimension.ordered};
    const bool binned = dimension.levels() > kMostLevels;
    if (binned) {
      axis.places.resize(kMostLevels);
      for (std::size_t i = 0; i < kMostLevels; ++i)
        axis.places[i] = (static_cast<float>(i) + 0.5f) / kMostLevels;
      axis.dyadic.clear();
    }
    axes_.push_back(std::move(axis));
    columns.emplace_back(total_);
    for (std::size_t i = 0; i < total_; ++i) {
      const std::size_t level = space.levels(i)[d];
      const auto bin = static_cast<std::size_t>(dimension.places[level] * kMostLevels);
      columns.back()[i] = static_cast<std::uint8_t>(binned ? std::min(bin, kMostLevels - 1) : level);
    }
  }
  if (total_ > 0 && !space.guess().empty()) {
    // A guess of the time is one more axis: how much it is worth is learned like every other length.
    const auto [low, high] = std::minmax_element(space.guess().begin(), space.guess().end());
    const float span = std::max(*high - *low, 1e-6f);
    Axis axis{std::vector<float>(kMostLevels), {}, true};
    for (std::size_t i = 0; i < kMostLevels; ++i)
      axis.places[i] = (static_cast<float>(i) + 0.5f) / kMostLevels;
    axes_.push_back(std::move(axis));
    columns.emplace_back(total_);
    for (std::size_t i = 0; i < total_; ++i) {
      const auto bin = static_cast<std::size_t>((space.guess()[i] - *low) / span * kMostLevels);
      columns.back()[i] = static_cast<std::uint8_t>(std::min(bin, kMostLevels - 1));
    }
  }
  for (std::size_t i = 0; i < total_; ++i) {
    for (const auto& column : columns) codes_.push_back(column[i]);
  }
  parameters_.length.assign(axes_.size(), kLength);
  parameters_.same.assign(axes_.size(), kSame);
  parameters_.dyadic.assign(axes_.size(), kDyadic);
  tables_ = tables_of(parameters_);
}

GaussianProcess::Tables GaussianProcess::tables_of(const Parameters& parameters) const {
  Tables tables;
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    const Axis& axis = axes_[d];
    const std::size_t levels = axis.levels();
    std::vector<float> table(levels * levels);
    for (std::size_t a = 0; a < levels; ++a) {
      for (std::size_t b = 0; b < levels; ++b) {
        const double step = axis.ordered ? axis.places[a] - axis.places[b] : (a == b ? 0 : 1);
        double distance = squared(step / parameters.length[d]);
        if (!axis.dyadic.empty() && axis.dyadic[a] != axis.dyadic[b])
          distance += squared(1 / parameters.dyadic[d]);
        const double r = std::sqrt(3 * distance);
        table[a * levels + b] = static_cast<float>((1 - parameters.same[d]) * (1 + r) * std::exp(-r) +
                                                   (a == b ? parameters.same[d] : 0));
      }
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

float GaussianProcess::kernel(const Tables& tables, double additive, std::uint32_t a, std::uint32_t b) const {
  const std::size_t count = axes_.size();
  const std::uint8_t* x = &codes_[a * count];
  const std::uint8_t* y = &codes_[b * count];
  float product = 1, sum = 0;
  for (std::size_t d = 0; d < count; ++d) {
    const float k = tables[d][x[d] * axes_[d].levels() + y[d]];
    product *= k;
    sum += k;
  }
  const auto share = static_cast<float>(additive);
  return (1 - share) * product + share * sum / static_cast<float>(std::max<std::size_t>(count, 1));
}

void GaussianProcess::add_candidates(std::span<const std::uint32_t> points) {
  for (std::uint32_t point : points) {
    std::vector<double> column(points_.size());
    double variance = 1;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const double sum = kernel(tables_, parameters_.additive, points_[i], point);
      column[i] = (sum - dot(factor_[i].data(), column.data(), i)) / factor_[i][i];
      variance -= squared(column[i]);
      solved_[i].push_back(static_cast<float>(column[i]));
    }
    candidates_.push_back(point);
    mean_.push_back(0);
    variance_.push_back(static_cast<float>(variance));
  }
  predict();
}

// A point without a value takes the predicted one: it changes the deviations and not the means.
void GaussianProcess::add(std::uint32_t point) { condition(point); }

void GaussianProcess::condition(std::uint32_t point) {
  const std::size_t n = points_.size(), count = candidates_.size();
  std::vector<double> row(n + 1);
  double rest = 1 + parameters_.noise;
  for (std::size_t i = 0; i < n; ++i) {
    const double sum = kernel(tables_, parameters_.additive, point, points_[i]);
    row[i] = (sum - dot(factor_[i].data(), row.data(), i)) / factor_[i][i];
    rest -= squared(row[i]);
  }
  row[n] = std::sqrt(std::max(rest, kSmallest));
  std::vector<float> solved(count);
  for (std::size_t c = 0; c < count; ++c)
    solved[c] = kernel(tables_, parameters_.additive, point, candidates_[c]);
  for (std::size_t i = 0; i < n; ++i) {
    const auto weight = static_cast<float>(row[i]);
    const float* other = solved_[i].data();
    for (std::size_t c = 0; c < count; ++c) solved[c] -= weight * other[c];
  }
  const auto inverse = static_cast<float>(1 / row[n]);
  for (std::size_t c = 0; c < count; ++c) {
    solved[c] *= inverse;
    variance_[c] -= solved[c] * solved[c];
  }
  factor_.push_back(std::move(row));
  solved_.push_back(std::move(solved));
  points_.push_back(point);
}

void GaussianProcess::condition_on(const std::vector<std::uint32_t>& points) {
  points_.clear();
  values_.clear();
  factor_.clear();
  solved_.clear();
  std::fill(variance_.begin(), variance_.end(), 1.0f);
  for (std::uint32_t point : points) condition(point);
}

void GaussianProcess::set_values(std::vector<double> values) {
  RT_CHECK(values.size() <= points_.size(), "a value for no point");
  values_ = std::move(values);
  predict();
}

void GaussianProcess::standardise() {
  centre_ = 0;
  spread_ = 1;
  if (values_.empty()) return;
  const double n = static_cast<double>(values_.size());
  for (double value : values_) centre_ += value / n;
  double sum = 0;
  for (double value : values_) sum += squared(value - centre_) / n;
  spread_ = std::sqrt(std::max(sum, kSmallest * kSmallest));
}

void GaussianProcess::predict() {
  standardise();
  std::fill(mean_.begin(), mean_.end(), 0.0f);
  std::vector<double> weights(values_.size());
  double energy = 0;
  // Points without a value come last and take the predicted one: they change the deviations and not the
  // means.
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double sum = (values_[i] - centre_) / spread_;
    weights[i] = (sum - dot(factor_[i].data(), weights.data(), i)) / factor_[i][i];
    energy += squared(weights[i]);
    const auto weight = static_cast<float>(weights[i]);
    const float* solved = solved_[i].data();
    for (std::size_t c = 0; c < candidates_.size(); ++c) mean_[c] += weight * solved[c];
  }
  scale_ = values_.empty() ? 1 : std::sqrt(std::max(energy / static_cast<double>(values_.size()), kSmallest));
}

double GaussianProcess::deviation(std::size_t candidate) const {
  return spread_ * scale_ * std::sqrt(std::max(static_cast<double>(variance_[candidate]), 1e-9));
}

// Minus the logarithm of marginal likelihood (scale profiled out) and priors.
double GaussianProcess::cost(const Parameters& p, const std::vector<std::uint32_t>& points,
                             const std::vector<double>& values) const {
  const Tables tables = tables_of(p);
  const std::size_t n = points.size();
  std::vector<double> matrix(n * n), rest = values;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) matrix[i * n + j] = kernel(tables, p.additive, points[i], points[j]);
    matrix[i * n + i] += p.noise;
  }
  const double log_root = factorise(matrix, n);
  double energy = 0;
  for (std::size_t i = 0; i < n; ++i) {
    rest[i] = (rest[i] - dot(&matrix[i * n], rest.data(), i)) / matrix[i * n + i];
    energy += squared(rest[i]);
  }
  const double count = static_cast<double>(n);
  double result = 0.5 * count * std::log(std::max(energy / count, kSmallest)) + log_root;
  const auto prior = [](double value, double median, double width) {
    return 0.5 * squared(std::log(value / median) / width);
  };
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    result += prior(p.length[d], kLength, kLengthWidth) + prior(p.same[d], kSame, kWide) +
              prior(p.dyadic[d], kDyadic, 1);
  }
  return result + prior(p.noise, kNoise, kWide) + prior(p.additive / (1 - p.additive), kAdditiveOdds, kWide);
}

// All points, or the better half of the allowance and an even sample of the others.
void GaussianProcess::choose_for_fit(std::vector<std::uint32_t>& points, std::vector<double>& values) const {
  std::vector<std::size_t> order(values_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() > kFitPoints) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return values_[a] < values_[b]; });
    constexpr std::size_t kBest = kFitPoints / 2;
    const std::size_t others = order.size() - kBest;
    for (std::size_t i = 0; i < kFitPoints - kBest; ++i)
      order[kBest + i] = order[kBest + i * others / (kFitPoints - kBest)];
    order.resize(kFitPoints);
  }
  for (std::size_t i : order) {
    points.push_back(points_[i]);
    values.push_back((values_[i] - centre_) / spread_);
  }
}

void GaussianProcess::fit(int sweeps) {
  standardise();
  std::vector<std::uint32_t> points;
  std::vector<double> values;
  choose_for_fit(points, values);
  double best = cost(parameters_, points, values);
  bool changed = true;
  const auto improve = [&](auto&& change) {
    for (const double factor : {kStep, 1 / kStep}) {
      for (int step = 0; step < 4; ++step) {
        Parameters other = parameters_;
        change(other, factor);
        const double now = cost(other, points, values);
        if (now > best - 1e-3) break;
        parameters_ = std::move(other);
        best = now;
        changed = true;
      }
    }
  };
  for (int sweep = 0; sweep < sweeps && changed && !points.empty(); ++sweep) {
    changed = false;
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      improve([d](Parameters& p, double f) { p.length[d] = std::clamp(p.length[d] * f, 0.05, 30.0); });
      if (axes_[d].levels() > 2) {
        improve([d](Parameters& p, double f) { p.same[d] = std::clamp(p.same[d] * f * f, 1e-4, 0.9); });
      }
      if (!axes_[d].dyadic.empty()) {
        improve([d](Parameters& p, double f) { p.dyadic[d] = std::clamp(p.dyadic[d] * f, 0.1, 30.0); });
      }
    }
    improve([](Parameters& p, double f) { p.noise = std::clamp(p.noise * f * f, 1e-5, 1.0); });
    improve([](Parameters& p, double f) {
      const double odds = p.additive / (1 - p.additive) * f * f;
      p.additive = std::clamp(odds / (1 + odds), 1e-3, 0.999);
    });
  }
  tables_ = tables_of(parameters_);
  const std::vector<double> kept = values_;
  condition_on(std::vector<std::uint32_t>(points_));
  set_values(kept);
}

}  // namespace redtune
