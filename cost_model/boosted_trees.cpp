#include "cost_model/boosted_trees.h"

#include <array>
#include <limits>

#include "support/error.h"

#ifdef REDTUNE_HAVE_XGBOOST
#include <xgboost/c_api.h>
#endif

namespace redtune {
namespace {

using namespace std::string_view_literals;
constexpr std::array kObjectiveNames{"regression"sv, "ranking"sv};

}  // namespace

std::string_view name(Objective objective) { return kObjectiveNames[static_cast<std::size_t>(objective)]; }

Objective parse_objective(std::string_view word) {
  for (std::size_t i = 0; i < kObjectiveNames.size(); ++i) {
    if (kObjectiveNames[i] == word) return static_cast<Objective>(i);
  }
  throw UserError(unknown_word_message("objective", word, {kObjectiveNames.begin(), kObjectiveNames.end()}));
}

#ifdef REDTUNE_HAVE_XGBOOST

namespace {

void check(int code) {
  if (code != 0) throw InternalError(std::string("XGBoost: ") + ::XGBGetLastError());
}

}  // namespace

// The matrix stands inside: with sources compiled in groups, a member of a type without linkage is a warning.
struct BoostedTrees::Handles {
  class Matrix {
   public:
    Matrix(std::span<const float> rows, std::size_t columns) {
      RT_CHECK(columns > 0 && rows.size() % columns == 0, "rows of equal length");
      const float missing = std::numeric_limits<float>::quiet_NaN();
      check(::XGDMatrixCreateFromMat(rows.data(), rows.size() / columns, columns, missing, &handle_));
    }
    ~Matrix() { ::XGDMatrixFree(handle_); }
    Matrix(const Matrix&) = delete;
    Matrix& operator=(const Matrix&) = delete;
    DMatrixHandle get() const { return handle_; }

   private:
    DMatrixHandle handle_ = nullptr;
  };

  std::unique_ptr<Matrix> training;
  BoosterHandle booster = nullptr;
  ~Handles() {
    if (booster != nullptr) ::XGBoosterFree(booster);
  }
  void set(const char* key, const std::string& value) {
    check(::XGBoosterSetParam(booster, key, value.c_str()));
  }
};

bool BoostedTrees::available() { return true; }

BoostedTrees::BoostedTrees(const TreeOptions& options)
    : options_(options), handles_(std::make_unique<Handles>()) {}

void BoostedTrees::start(std::span<const float> rows, std::size_t columns, std::span<const float> labels,
                         std::span<const unsigned> groups) {
  handles_->training = std::make_unique<Handles::Matrix>(rows, columns);
  const DMatrixHandle matrix = handles_->training->get();
  check(::XGDMatrixSetFloatInfo(matrix, "label", labels.data(), labels.size()));
  if (!groups.empty()) check(::XGDMatrixSetUIntInfo(matrix, "group", groups.data(), groups.size()));
  check(::XGBoosterCreate(&matrix, 1, &handles_->booster));
  handles_->set("verbosity", "0");
  handles_->set("objective",
                options_.objective == Objective::kRanking ? "rank:pairwise" : "reg:squarederror");
  handles_->set("tree_method", "hist");
  handles_->set("max_bin", "64");
  handles_->set("max_depth", std::to_string(options_.depth));
  handles_->set("eta", std::to_string(options_.rate));
  handles_->set("subsample", std::to_string(options_.row_share));
  handles_->set("colsample_bytree", std::to_string(options_.column_share));
  handles_->set("min_child_weight", std::to_string(options_.leaf_weight));
  handles_->set("seed", std::to_string(options_.seed % 2147483647u));
  if (options_.threads > 0) handles_->set("nthread", std::to_string(options_.threads));
}

void BoostedTrees::boost(int round) {
  check(::XGBoosterUpdateOneIter(handles_->booster, round, handles_->training->get()));
}

std::vector<float> BoostedTrees::predict(std::span<const float> rows, std::size_t columns, int rounds) const {
  if (rows.empty()) return {};
  const Handles::Matrix matrix(rows, columns);
  const std::string config = R"({"type": 0, "training": false, "iteration_begin": 0, "iteration_end": )" +
                             std::to_string(rounds) + R"(, "strict_shape": false})";
  bst_ulong const* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* result = nullptr;
  check(::XGBoosterPredictFromDMatrix(handles_->booster, matrix.get(), config.c_str(), &shape, &dimensions,
                                      &result));
  return {result, result + rows.size() / columns};
}

std::string BoostedTrees::save() const {
  bst_ulong size = 0;
  const char* bytes = nullptr;
  check(::XGBoosterSaveModelToBuffer(handles_->booster, R"({"format": "ubj"})", &size, &bytes));
  return {bytes, bytes + size};
}

BoostedTrees BoostedTrees::load(const std::string& bytes) {
  BoostedTrees trees{TreeOptions{}};
  check(::XGBoosterCreate(nullptr, 0, &trees.handles_->booster));
  check(::XGBoosterLoadModelFromBuffer(trees.handles_->booster, bytes.data(), bytes.size()));
  return trees;
}

#else

namespace {

[[noreturn]] void missing() {
  throw UserError("this redtune was built without XGBoost; install libxgboost-dev and build again");
}

}  // namespace

struct BoostedTrees::Handles {};
bool BoostedTrees::available() { return false; }
BoostedTrees::BoostedTrees(const TreeOptions& options) : options_(options) { missing(); }
void BoostedTrees::start(std::span<const float>, std::size_t, std::span<const float>,
                         std::span<const unsigned>) {
  missing();
}
void BoostedTrees::boost(int) { missing(); }
std::vector<float> BoostedTrees::predict(std::span<const float>, std::size_t, int) const { missing(); }
std::string BoostedTrees::save() const { missing(); }
BoostedTrees BoostedTrees::load(const std::string&) { missing(); }

#endif

BoostedTrees::~BoostedTrees() = default;
BoostedTrees::BoostedTrees(BoostedTrees&&) noexcept = default;
BoostedTrees& BoostedTrees::operator=(BoostedTrees&&) noexcept = default;

}  // namespace redtune
