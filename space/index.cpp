#include "space/index.h"

#include <algorithm>
#include <numeric>

namespace redtune {
namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

std::string spelled(std::int64_t coefficient, const std::string& atom) {
  if (coefficient == 1) return atom;
  return (coefficient == -1 ? "-" : std::to_string(coefficient) + "*") + atom;
}

}  // namespace

Index Index::of_atom(IndexAtom atom, std::int64_t low, std::int64_t high) {
  Index index;
  index.add_term(1, atom, low, high);
  index.bound();
  return index;
}

Index Index::iterator(int position, std::int64_t extent) {
  if (extent == 1) return 0;
  IndexAtom atom;
  atom.iterator = position;
  return of_atom(atom, 0, std::max<std::int64_t>(0, extent - 1));
}

int Index::lone_iterator() const {
  const bool lone = constant_ == 0 && terms_.size() == 1 && terms_[0].coefficient == 1 &&
                    terms_[0].atom.kind == IndexAtom::Kind::kIterator;
  return lone ? terms_[0].atom.iterator : -1;
}

void Index::add_term(std::int64_t coefficient, const IndexAtom& atom, std::int64_t low, std::int64_t high) {
  const std::string key = [&] {
    if (atom.kind == IndexAtom::Kind::kIterator) return "i" + std::to_string(atom.iterator);
    return "(" + atom.inner->key() + (atom.kind == IndexAtom::Kind::kDiv ? ")/" : ")%") +
           std::to_string(atom.divisor);
  }();
  const auto at = std::lower_bound(bounded_.begin(), bounded_.end(), key,
                                   [](const Bounded& term, const std::string& k) { return term.key < k; });
  if (at != bounded_.end() && at->key == key) {
    at->coefficient += coefficient;
    if (at->coefficient == 0) bounded_.erase(at);
    return;
  }
  if (coefficient == 0) return;
  Bounded term;
  term.coefficient = coefficient;
  term.atom = atom;
  term.key = key;
  term.low = low;
  term.high = high;
  bounded_.insert(at, term);
}

// c * d * (e / d) + c * (e % d) is c * e.
void Index::recombine() {
  for (std::size_t m = 0; m < bounded_.size(); ++m) {
    if (bounded_[m].atom.kind != IndexAtom::Kind::kMod) continue;
    for (std::size_t d = 0; d < bounded_.size(); ++d) {
      const IndexAtom &mod = bounded_[m].atom, &div = bounded_[d].atom;
      if (div.kind != IndexAtom::Kind::kDiv || div.divisor != mod.divisor ||
          bounded_[d].coefficient != bounded_[m].coefficient * mod.divisor || !(*div.inner == *mod.inner)) {
        continue;
      }
      const Index whole = *mod.inner * bounded_[m].coefficient;
      bounded_.erase(bounded_.begin() + static_cast<std::ptrdiff_t>(std::max(m, d)));
      bounded_.erase(bounded_.begin() + static_cast<std::ptrdiff_t>(std::min(m, d)));
      constant_ += whole.constant_;
      for (const Bounded& term : whole.bounded_) add_term(term.coefficient, term.atom, term.low, term.high);
      return recombine();
    }
  }
}

void Index::bound() {
  low_ = high_ = constant_;
  terms_.clear();
  for (const Bounded& term : bounded_) {
    const std::int64_t a = term.coefficient * term.low, b = term.coefficient * term.high;
    low_ += std::min(a, b);
    high_ += std::max(a, b);
    terms_.push_back(term);
  }
}

Index Index::operator+(const Index& other) const {
  Index sum = *this;
  sum.constant_ += other.constant_;
  for (const Bounded& term : other.bounded_) sum.add_term(term.coefficient, term.atom, term.low, term.high);
  sum.recombine();
  sum.bound();
  return sum;
}

Index Index::operator*(std::int64_t factor) const {
  if (factor == 0) return 0;
  Index product = *this;
  product.constant_ *= factor;
  for (Bounded& term : product.bounded_) term.coefficient *= factor;
  product.bound();
  return product;
}

Index Index::div(std::int64_t divisor) const {
  if (divisor == 1) return *this;
  Index whole(floor_div(constant_, divisor)), rest(constant_ - floor_div(constant_, divisor) * divisor);
  std::int64_t common = divisor;
  for (const Bounded& term : bounded_) {
    if (term.coefficient % divisor == 0) {
      whole.add_term(term.coefficient / divisor, term.atom, term.low, term.high);
    } else {
      rest.add_term(term.coefficient, term.atom, term.low, term.high);
      common = std::gcd(common, term.coefficient);
    }
  }
  whole.recombine();
  whole.bound();
  rest.bound();
  if (rest.low_ >= 0 && rest.high_ < divisor) return whole;
  if (common > 1) {
    Index smaller(floor_div(rest.constant_, common));
    for (const Bounded& term : rest.bounded_)
      smaller.add_term(term.coefficient / common, term.atom, term.low, term.high);
    smaller.bound();
    return whole + smaller.div(divisor / common);
  }
  if (rest.bounded_.size() == 1 && rest.constant_ == 0 && rest.bounded_[0].coefficient == 1 &&
      rest.bounded_[0].atom.kind == IndexAtom::Kind::kDiv) {
    const IndexAtom& inner = rest.bounded_[0].atom;
    return whole + inner.inner->div(inner.divisor * divisor);
  }
  IndexAtom atom;
  atom.kind = IndexAtom::Kind::kDiv;
  atom.inner = std::make_shared<const Index>(rest);
  atom.divisor = divisor;
  return whole + of_atom(atom, floor_div(rest.low_, divisor), floor_div(rest.high_, divisor));
}

Index Index::mod(std::int64_t divisor) const {
  if (divisor == 1) return 0;
  Index rest(constant_ - floor_div(constant_, divisor) * divisor);
  std::int64_t common = divisor;
  for (const Bounded& term : bounded_) {
    if (term.coefficient % divisor == 0) continue;
    rest.add_term(term.coefficient, term.atom, term.low, term.high);
    common = std::gcd(common, term.coefficient);
  }
  rest.bound();
  if (rest.low_ >= 0 && rest.high_ < divisor) return rest;
  if (common > 1) {
    const std::int64_t left = rest.constant_ % common;
    Index smaller((rest.constant_ - left) / common);
    for (const Bounded& term : rest.bounded_)
      smaller.add_term(term.coefficient / common, term.atom, term.low, term.high);
    smaller.bound();
    return smaller.mod(divisor / common) * common + left;
  }
  if (rest.bounded_.size() == 1 && rest.constant_ == 0 && rest.bounded_[0].coefficient == 1 &&
      rest.bounded_[0].atom.kind == IndexAtom::Kind::kMod && rest.bounded_[0].atom.divisor % divisor == 0) {
    return rest.bounded_[0].atom.inner->mod(divisor);
  }
  IndexAtom atom;
  atom.kind = IndexAtom::Kind::kMod;
  atom.inner = std::make_shared<const Index>(rest);
  atom.divisor = divisor;
  return of_atom(atom, 0, divisor - 1);
}

Index Index::substitute(const std::vector<Index>& values) const {
  Index sum(constant_);
  for (const Bounded& term : bounded_) {
    Index value;
    switch (term.atom.kind) {
      case IndexAtom::Kind::kIterator:
        value = values[static_cast<std::size_t>(term.atom.iterator)];
        break;
      case IndexAtom::Kind::kDiv:
        value = term.atom.inner->substitute(values).div(term.atom.divisor);
        break;
      case IndexAtom::Kind::kMod:
        value = term.atom.inner->substitute(values).mod(term.atom.divisor);
        break;
    }
    sum = sum + value * term.coefficient;
  }
  return sum;
}

std::int64_t Index::evaluate(const std::int64_t* iterators) const {
  std::int64_t sum = constant_;
  for (const Term& term : terms_) {
    std::int64_t value = 0;
    switch (term.atom.kind) {
      case IndexAtom::Kind::kIterator:
        value = iterators[term.atom.iterator];
        break;
      case IndexAtom::Kind::kDiv:
        value = floor_div(term.atom.inner->evaluate(iterators), term.atom.divisor);
        break;
      case IndexAtom::Kind::kMod: {
        const std::int64_t inner = term.atom.inner->evaluate(iterators);
        value = inner - floor_div(inner, term.atom.divisor) * term.atom.divisor;
        break;
      }
    }
    sum += term.coefficient * value;
  }
  return sum;
}

std::string Index::text(const std::function<std::string(int)>& name) const {
  std::string sum;
  for (const Term& term : terms_) {
    std::string atom;
    if (term.atom.kind == IndexAtom::Kind::kIterator) {
      atom = name(term.atom.iterator);
    } else {
      std::string inner = term.atom.inner->text(name);
      const bool simple = term.atom.inner->lone_iterator() >= 0;
      if (!simple) inner = "(" + inner + ")";
      atom =
          inner + (term.atom.kind == IndexAtom::Kind::kDiv ? "/" : "%") + std::to_string(term.atom.divisor);
      if (term.coefficient != 1) atom = "(" + atom + ")";
    }
    const std::string word = spelled(term.coefficient, atom);
    sum += sum.empty() || word.front() == '-' ? word : "+" + word;
  }
  if (sum.empty()) return std::to_string(constant_);
  if (constant_ != 0) sum += (constant_ > 0 ? "+" : "") + std::to_string(constant_);
  return sum;
}

std::string Index::key() const {
  return text([](int i) { return "i" + std::to_string(i); });
}

bool operator==(const Index& a, const Index& b) { return a.key() == b.key(); }

}  // namespace redtune
