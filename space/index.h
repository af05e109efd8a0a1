// Quasi-affine index expressions over the iterators of a statement: sums of iterators, quotients and
// remainders by constants. Simplified as they are built, with the ranges of the iterators, so that the
// composition of reshapes comes out as the plain index it is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace redtune {

class Index;

/// A term that is not a sum. Quotients round down; all values are 0 or more.
struct IndexAtom {
  enum class Kind : std::uint8_t { kIterator, kDiv, kMod };
  Kind kind = Kind::kIterator;
  int iterator = 0;                    // kIterator: position in the statement's list
  std::shared_ptr<const Index> inner;  // kDiv, kMod
  std::int64_t divisor = 1;
};

class Index {
 public:
  struct Term {
    std::int64_t coefficient;
    IndexAtom atom;
  };

  Index(std::int64_t constant = 0) : constant_(constant) {}  // NOLINT: numbers are indices
  /// Iterator number `position`, from 0 to extent - 1.
  static Index iterator(int position, std::int64_t extent);

  std::int64_t constant() const { return constant_; }
  const std::vector<Term>& terms() const { return terms_; }
  bool is_constant() const { return terms_.empty(); }
  /// Smallest and largest value: bounds, exact where no iterator occurs twice.
  std::int64_t low() const { return low_; }
  std::int64_t high() const { return high_; }
  /// The position when this is an iterator alone, else -1.
  int lone_iterator() const;

  Index operator+(const Index& other) const;
  Index operator*(std::int64_t factor) const;
  Index operator-(const Index& other) const { return *this + other * -1; }
  Index div(std::int64_t divisor) const;  // divisor > 0
  Index mod(std::int64_t divisor) const;
  /// Iterators replaced by `values[position]`, simplified again.
  Index substitute(const std::vector<Index>& values) const;
  std::int64_t evaluate(const std::int64_t* iterators) const;
  /// As in compute strings; iterators are spelled by `name`.
  std::string text(const std::function<std::string(int)>& name) const;
  friend bool operator==(const Index& a, const Index& b);

 private:
  std::string key() const;
  void add_term(std::int64_t coefficient, const IndexAtom& atom, std::int64_t low, std::int64_t high);
  void recombine();
  void bound();
  static Index of_atom(IndexAtom atom, std::int64_t low, std::int64_t high);

  struct Bounded : Term {
    std::string key;
    std::int64_t low, high;  // of the atom
  };
  std::int64_t constant_ = 0, low_ = constant_, high_ = constant_;
  std::vector<Term> terms_;
  std::vector<Bounded> bounded_;  // the terms again, with what arithmetic needs
};

}  // namespace redtune
