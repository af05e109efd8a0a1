#include "space/graph_reader.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

std::vector<Token> tokens_of(const std::string& text, const Complaint& complaint) {
  std::vector<Token> tokens;
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t start = i;
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '\n') {
      ++i;
      continue;
    }
    if (letter(c)) {
      while (i < text.size() && (letter(text[i]) || digit(text[i]) || text[i] == '.')) ++i;
      tokens.push_back({TokenKind::kName, text.substr(start, i - start), start});
    } else if (digit(c) || (c == '.' && i + 1 < text.size() && digit(text[i + 1]))) {
      while (i < text.size()) {
        const bool exponent_sign =
            (text[i] == '+' || text[i] == '-') && (text[i - 1] == 'e' || text[i - 1] == 'E');
        if (!digit(text[i]) && text[i] != '.' && text[i] != 'e' && text[i] != 'E' && !exponent_sign) break;
        ++i;
      }
      tokens.push_back({TokenKind::kNumber, text.substr(start, i - start), start});
    } else {
      static const std::set<std::string> pairs{"<=", ">=", "==", "!=", "&&", "||"};
      const std::string two = text.substr(i, 2);
      const std::string symbol = pairs.contains(two) ? two : std::string(1, c);
      static const std::string singles = "[](),=+-*/%<>!";
      if (symbol.size() == 1 && singles.find(c) == std::string::npos) {
        complaint.fail(i, std::string("unexpected character '") + c + "'");
      }
      tokens.push_back({TokenKind::kSymbol, symbol, start});
      i += symbol.size();
    }
  }
  tokens.push_back({TokenKind::kEnd, "", text.size()});
  return tokens;
}

class Reader {
 public:
  Reader(const Graph& graph, const std::string& text, const Complaint& complaint)
      : graph_(graph), complaint_(complaint), tokens_(tokens_of(text, complaint)) {}

  WrittenStatement statement() {
    WrittenStatement left = left_side();
    left.value = expression();
    if (peek().kind != TokenKind::kEnd)
      fail(peek().at, "unexpected '" + peek().text + "' behind the expression");
    return left;
  }

 private:
  WrittenStatement left_side() {
    WrittenStatement left;
    left.at = peek().at;
    left.name = take(TokenKind::kName, "the name of the result").text;
    if (accept("[")) {
      while (!accept("]")) {
        if (!left.axes.empty()) expect(",");
        const Token axis = peek();
        if (axis.kind != TokenKind::kName && axis.text != "0")
          fail(axis.at, "expected an iterator, or 0 for a unit axis");
        left.axes.push_back(next());
      }
    }
    expect("=");
    return left;
  }

  [[noreturn]] void fail(std::size_t at, const std::string& what) const { complaint_.fail(at, what); }
  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  Token next() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  bool accept(const std::string& symbol) {
    if (peek().kind != TokenKind::kSymbol || peek().text != symbol) return false;
    ++at_;
    return true;
  }
  void expect(const std::string& symbol) {
    if (accept(symbol)) return;
    fail(peek().at,
         "expected '" + symbol + "'" +
             (peek().kind == TokenKind::kEnd ? " before the end" : ", found '" + peek().text + "'"));
  }
  Token take(TokenKind kind, const std::string& what) {
    if (peek().kind != kind) fail(peek().at, "expected " + what);
    return next();
  }

  static Tree call(ScalarOp op, std::size_t at, std::vector<Tree> children) {
    Tree tree;
    tree.kind = Tree::Kind::kCall;
    tree.at = at;
    tree.op = op;
    tree.children = std::move(children);
    return tree;
  }

  Tree expression() { return binary(0); }

  // From the weakest to the strongest.
  Tree binary(std::size_t level) {
    static const std::vector<std::vector<std::pair<std::string, ScalarOp>>> kLevels{
        {{"||", ScalarOp::kOr}},
        {{"&&", ScalarOp::kAnd}},
        {{"<=", ScalarOp::kLe},
         {">=", ScalarOp::kGe},
         {"<", ScalarOp::kLt},
         {">", ScalarOp::kGt},
         {"==", ScalarOp::kEq},
         {"!=", ScalarOp::kNe}},
        {{"+", ScalarOp::kAdd}, {"-", ScalarOp::kSub}},
        {{"*", ScalarOp::kMul}, {"/", ScalarOp::kDiv}}};
    if (level == kLevels.size()) return unary();
    Tree tree = binary(level + 1);
    for (bool more = true; more;) {
      more = false;
      for (const auto& [symbol, op] : kLevels[level]) {
        const std::size_t at = peek().at;
        if (!accept(symbol)) continue;
        Tree right = binary(level + 1);
        tree = call(op, at, {std::move(tree), std::move(right)});
        more = true;
        break;
      }
    }
    return tree;
  }

  Tree unary() {
    const std::size_t at = peek().at;
    if (accept("-")) return call(ScalarOp::kNeg, at, {unary()});
    if (accept("!")) return call(ScalarOp::kNot, at, {unary()});
    return primary();
  }

  Tree primary() {
    Tree tree;
    tree.at = peek().at;
    if (accept("(")) {
      tree = expression();
      expect(")");
      return tree;
    }
    if (peek().kind == TokenKind::kNumber) {
      tree.text = next().text;
      return tree;
    }
    if (peek().kind != TokenKind::kName) {
      fail(peek().at, peek().kind == TokenKind::kEnd ? "expected an expression before the end"
                                                     : "expected an expression, found '" + peek().text + "'");
    }
    const Token name = next();
    if (peek().text == "(") return function(name);
    if (graph_.find(name.text) == nullptr) unknown(name);
    tree.kind = Tree::Kind::kAccess;
    tree.text = name.text;
    if (accept("[")) {
      while (!accept("]")) {
        if (!tree.children.empty()) expect(",");
        tree.children.push_back(index());
      }
    }
    return tree;
  }

  [[noreturn]] void unknown(const Token& name) const {
    std::vector<std::string> known;
    for (const Tensor& tensor : graph_.inputs) known.push_back(tensor.name);
    for (const GraphStatement& statement : graph_.statements) known.push_back(statement.result.name);
    fail(name.at, unknown_word_message("tensor", name.text, known));
  }

  /// "sum(i,j) ..." : names alone in the brackets that are no tensors.
  bool starts_reduction() const {
    for (std::size_t i = 1;; i += 2) {
      if (peek(i).kind != TokenKind::kName || graph_.find(peek(i).text) != nullptr) return false;
      if (peek(i + 1).text == "[" || peek(i + 1).text == "(") return false;
      if (peek(i + 1).text == ")") return true;
      if (peek(i + 1).text != ",") return false;
    }
  }

  Tree function(const Token& name) {
    Tree tree;
    tree.at = name.at;
    for (const ReduceOpInfo& row : kReduceOps) {
      if (row.name != name.text || !starts_reduction()) continue;
      tree.kind = Tree::Kind::kReduce;
      tree.reduce = row.id;
      expect("(");
      do {
        tree.iterators.push_back(take(TokenKind::kName, "an iterator").text);
      } while (accept(","));
      expect(")");
      tree.children.push_back(expression());  // as far as it goes
      return tree;
    }
    for (const DTypeInfo& row : kDTypes) {
      if (row.name != name.text) continue;
      tree.kind = Tree::Kind::kCast;
      tree.dtype = row.id;
      tree.children = arguments();
      if (tree.children.size() != 1) fail(name.at, "a cast takes one argument");
      return tree;
    }
    for (const ScalarOpInfo& row : kScalarOps) {
      if (row.name != name.text || row.id == ScalarOp::kCast) continue;
      tree = call(row.id, name.at, arguments());
      if (static_cast<int>(tree.children.size()) != row.arguments) {
        fail(name.at, name.text + " takes " + std::to_string(row.arguments) + " arguments, has " +
                          std::to_string(tree.children.size()));
      }
      return tree;
    }
    std::vector<std::string> known;
    for (const ScalarOpInfo& row : kScalarOps) {
      if (row.symbol.empty() && row.id != ScalarOp::kCast) known.emplace_back(row.name);
    }
    for (const DTypeInfo& row : kDTypes) known.emplace_back(row.name);
    for (const ReduceOpInfo& row : kReduceOps) known.emplace_back(row.name);
    fail(name.at, unknown_word_message("function", name.text, known));
  }

  std::vector<Tree> arguments() {
    std::vector<Tree> list;
    expect("(");
    while (!accept(")")) {
      if (!list.empty()) expect(",");
      list.push_back(expression());
    }
    return list;
  }

  // ---- indices ----
  Tree index() {
    Tree tree = index_product();
    for (;;) {
      const std::size_t at = peek().at;
      if (accept("+"))
        tree = call(ScalarOp::kAdd, at, {std::move(tree), index_product()});
      else if (accept("-"))
        tree = call(ScalarOp::kSub, at, {std::move(tree), index_product()});
      else
        return tree;
    }
  }

  Tree index_product() {
    Tree tree = index_leaf();
    for (;;) {
      const std::size_t at = peek().at;
      if (accept("*"))
        tree = call(ScalarOp::kMul, at, {std::move(tree), index_leaf()});
      else if (accept("/"))
        tree = call(ScalarOp::kDiv, at, {std::move(tree), index_leaf()});
      else if (accept("%")) {
        tree = call(ScalarOp::kDiv, at, {std::move(tree), index_leaf()});
        tree.remainder = true;
      } else
        return tree;
    }
  }

  Tree index_leaf() {
    Tree tree;
    tree.at = peek().at;
    if (accept("(")) {
      tree = index();
      expect(")");
      return tree;
    }
    if (accept("-")) return call(ScalarOp::kNeg, tree.at, {index_leaf()});
    if (peek().kind == TokenKind::kNumber) {
      tree.text = next().text;
      if (tree.text.find_first_not_of("0123456789") != std::string::npos)
        fail(tree.at, "an index is made of whole numbers");
      return tree;
    }
    tree.kind = Tree::Kind::kName;
    tree.text = take(TokenKind::kName, "an iterator or a number").text;
    return tree;
  }

  const Graph& graph_;
  const Complaint& complaint_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

void Complaint::fail(std::size_t at, const std::string& what) const {
  std::size_t column = 0;
  for (std::size_t i = 0; i < std::min(at, text_.size()); ++i) {
    column += (static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80;  // letters, not bytes
  }
  throw UserError(where_ + ", column " + std::to_string(column + 1) + ": " + what + "\n  " + text_ + "\n  " +
                  std::string(column, ' ') + "^");
}

WrittenStatement read_statement(const Graph& graph, const std::string& text, const Complaint& complaint) {
  return Reader(graph, text, complaint).statement();
}

}  // namespace redtune
