#include "codegen/expr.h"

#include <algorithm>

#include "support/error.h"

namespace redtune {
namespace {

std::string atom_text(const Atom& atom) {
  const auto& a = atom.args;
  switch (atom.kind) {
    case Atom::Kind::kVar: return atom.name;
    case Atom::Kind::kDiv: return "((" + a[0].text() + ") / " + a[1].text() + ")";
    case Atom::Kind::kMod: return "((" + a[0].text() + ") % " + a[1].text() + ")";
    case Atom::Kind::kMin: return "RT_MIN(" + a[0].text() + ", " + a[1].text() + ")";
    case Atom::Kind::kMax: return "RT_MAX(" + a[0].text() + ", " + a[1].text() + ")";
  }
  return "";
}

}  // namespace

Expr Expr::of_atom(Atom atom) {
  Expr e;
  std::string text = atom_text(atom);
  e.terms_.push_back({1, std::make_shared<const Atom>(std::move(atom)), std::move(text)});
  return e;
}

Expr Expr::var(const std::string& name) { return of_atom({Atom::Kind::kVar, name, {}}); }

Expr Expr::operator+(const Expr& other) const {
  Expr sum = *this;
  sum.constant_ += other.constant_;
  for (const Term& t : other.terms_) {
    auto same = std::find_if(sum.terms_.begin(), sum.terms_.end(), [&](const Term& s) { return s.text == t.text; });
    if (same == sum.terms_.end()) {
      sum.terms_.push_back(t);
    } else if ((same->coefficient += t.coefficient) == 0) {
      sum.terms_.erase(same);
    }
  }
  return sum;
}

Expr Expr::operator*(std::int64_t factor) const {
  if (factor == 0) return 0;
  Expr product = *this;
  product.constant_ *= factor;
  for (Term& t : product.terms_) t.coefficient *= factor;
  return product;
}

Expr Expr::operator*(const Expr& other) const {
  if (other.is_constant()) return *this * other.constant_;
  RT_CHECK(is_constant(), "product of two variable expressions: " + text() + " * " + other.text());
  return other * constant_;
}

Expr floor_div(const Expr& a, std::int64_t divisor) {
  if (divisor == 1) return a;
  if (a.is_constant() && a.constant_ >= 0) return a.constant_ / divisor;
  return Expr::of_atom({Atom::Kind::kDiv, "", {a, Expr(divisor)}});
}

Expr mod(const Expr& a, std::int64_t divisor) {
  if (divisor == 1) return 0;
  if (a.is_constant() && a.constant_ >= 0) return a.constant_ % divisor;
  return Expr::of_atom({Atom::Kind::kMod, "", {a, Expr(divisor)}});
}

Expr min(const Expr& a, const Expr& b) {
  const Expr difference = a - b;
  if (difference.is_constant()) return difference.constant() <= 0 ? a : b;
  return Expr::of_atom({Atom::Kind::kMin, "", {a, b}});
}

Expr max(const Expr& a, const Expr& b) {
  const Expr difference = a - b;
  if (difference.is_constant()) return difference.constant() >= 0 ? a : b;
  return Expr::of_atom({Atom::Kind::kMax, "", {a, b}});
}

Expr Expr::substitute(const std::string& name, const Expr& value) const {
  Expr result(constant_);
  for (const Term& t : terms_) {
    const Atom& atom = *t.atom;
    Expr replaced;
    switch (atom.kind) {
      case Atom::Kind::kVar: replaced = atom.name == name ? value : of_atom(atom); break;
      case Atom::Kind::kDiv: replaced = floor_div(atom.args[0].substitute(name, value), atom.args[1].constant()); break;
      case Atom::Kind::kMod: replaced = mod(atom.args[0].substitute(name, value), atom.args[1].constant()); break;
      case Atom::Kind::kMin:
        replaced = min(atom.args[0].substitute(name, value), atom.args[1].substitute(name, value));
        break;
      case Atom::Kind::kMax:
        replaced = max(atom.args[0].substitute(name, value), atom.args[1].substitute(name, value));
        break;
    }
    result = result + replaced * t.coefficient;
  }
  return result;
}

std::string Expr::text() const {
  std::string out;
  auto add = [&out](std::int64_t coefficient, const std::string& atom) {
    const bool negative = coefficient < 0;
    const std::uint64_t magnitude = negative ? 0ull - static_cast<std::uint64_t>(coefficient)
                                             : static_cast<std::uint64_t>(coefficient);
    if (out.empty()) {
      if (negative) out += "-";
    } else {
      out += negative ? " - " : " + ";
    }
    if (atom.empty()) {
      out += std::to_string(magnitude);
    } else {
      if (magnitude != 1) out += std::to_string(magnitude) + " * ";
      out += atom;
    }
  };
  for (const Term& t : terms_) add(t.coefficient, t.text);
  if (constant_ != 0 || terms_.empty()) add(constant_, "");
  return out;
}

Condition Condition::less_equal(const Expr& a, const Expr& b) {
  const Expr difference = a - b;
  if (difference.is_constant()) return {difference.constant() <= 0 ? Kind::kTrue : Kind::kFalse, {}, {}, {}};
  return {Kind::kLessEqual, a, b, {}};
}

Condition Condition::equal(const Expr& a, const Expr& b) {
  const Expr difference = a - b;
  if (difference.is_constant()) return {difference.constant() == 0 ? Kind::kTrue : Kind::kFalse, {}, {}, {}};
  return {Kind::kEqual, a, b, {}};
}

Condition Condition::both(const Condition& a, const Condition& b) {
  if (a.is_true() || b.is_false()) return b;
  if (b.is_true() || a.is_false()) return a;
  return {Kind::kAnd, {}, {}, {a, b}};
}

Condition Condition::either(const Condition& a, const Condition& b) {
  if (a.is_false() || b.is_true()) return b;
  if (b.is_false() || a.is_true()) return a;
  return {Kind::kOr, {}, {}, {a, b}};
}

Condition Condition::substitute(const std::string& name, const Expr& value) const {
  switch (kind) {
    case Kind::kTrue:
    case Kind::kFalse: return *this;
    case Kind::kLessEqual: return less_equal(left.substitute(name, value), right.substitute(name, value));
    case Kind::kEqual: return equal(left.substitute(name, value), right.substitute(name, value));
    case Kind::kAnd: return both(children[0].substitute(name, value), children[1].substitute(name, value));
    case Kind::kOr: return either(children[0].substitute(name, value), children[1].substitute(name, value));
  }
  return *this;
}

std::string Condition::text() const {
  switch (kind) {
    case Kind::kTrue: return "1";
    case Kind::kFalse: return "0";
    case Kind::kLessEqual: return left.text() + " <= " + right.text();
    case Kind::kEqual: return left.text() + " == " + right.text();
    case Kind::kAnd: return children[0].text() + " && " + children[1].text();
    case Kind::kOr: return "(" + children[0].text() + " || " + children[1].text() + ")";
  }
  return "";
}

}  // namespace redtune
