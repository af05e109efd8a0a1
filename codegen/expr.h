// Integer expressions of the kernel plan: sums of terms, simplified as they are built, so that printed index
// arithmetic reads as a person would write it and constants meet where loops are unrolled.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace redtune {

class Expr;

/// A term that is not a sum: a variable, or an operation on expressions.
struct Atom {
  enum class Kind : std::uint8_t { kVar, kDiv, kMod, kMin, kMax };
  Kind kind = Kind::kVar;
  std::string name;         // kVar
  std::vector<Expr> args;   // others; kDiv and kMod are of non-negative values, rounding towards zero
};

/// constant + sum of coefficient * atom. A value: cheap to copy for the handful of terms that occur.
class Expr {
 public:
  Expr(std::int64_t constant = 0) : constant_(constant) {}  // NOLINT: numbers are expressions
  static Expr var(const std::string& name);

  bool is_constant() const { return terms_.empty(); }
  std::int64_t constant() const { return constant_; }

  Expr operator+(const Expr& other) const;
  Expr operator-(const Expr& other) const { return *this + other * -1; }
  Expr operator*(std::int64_t factor) const;
  /// Product; at least one side must be constant (all index arithmetic is quasi-affine).
  Expr operator*(const Expr& other) const;

  /// `name` replaced by `value`, simplified again.
  Expr substitute(const std::string& name, const Expr& value) const;
  /// C text; products of constants and atoms, "0" when empty.
  std::string text() const;
  friend bool operator==(const Expr& a, const Expr& b) { return a.text() == b.text(); }

  friend Expr floor_div(const Expr& a, std::int64_t divisor);
  friend Expr mod(const Expr& a, std::int64_t divisor);
  friend Expr min(const Expr& a, const Expr& b);
  friend Expr max(const Expr& a, const Expr& b);

 private:
  struct Term {
    std::int64_t coefficient;
    std::shared_ptr<const Atom> atom;
    std::string text;  // of the atom: identity and printing order
  };
  static Expr of_atom(Atom atom);
  std::int64_t constant_ = 0;
  std::vector<Term> terms_;
};

Expr floor_div(const Expr& a, std::int64_t divisor);
Expr mod(const Expr& a, std::int64_t divisor);
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);

/// A condition: a conjunction or disjunction of comparisons with 0.
struct Condition {
  enum class Kind : std::uint8_t { kTrue, kFalse, kLessEqual, kEqual, kAnd, kOr };
  Kind kind = Kind::kTrue;
  Expr left, right;                 // kLessEqual: left <= right; kEqual: left == right
  std::vector<Condition> children;  // kAnd, kOr

  static Condition less_equal(const Expr& a, const Expr& b);
  static Condition equal(const Expr& a, const Expr& b);
  static Condition both(const Condition& a, const Condition& b);
  static Condition either(const Condition& a, const Condition& b);
  bool is_true() const { return kind == Kind::kTrue; }
  bool is_false() const { return kind == Kind::kFalse; }
  Condition substitute(const std::string& name, const Expr& value) const;
  std::string text() const;
};

}  // namespace redtune
