// Compute strings: text -> tree. Internal to space/.
#pragma once

#include <string>
#include <vector>

#include "space/graph.h"

namespace redtune {

enum class TokenKind : std::uint8_t { kName, kNumber, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  std::size_t at = 0;
};

/// Says what is wrong with a text, with a caret under the place.
class Complaint {
 public:
  Complaint(const std::string& text, const std::string& where) : text_(text), where_(where) {}
  /// Throws UserError; `at` counts bytes.
  [[noreturn]] void fail(std::size_t at, const std::string& what) const;

 private:
  const std::string& text_;
  const std::string& where_;
};

/// An index or an expression as it was written.
struct Tree {
  enum class Kind : std::uint8_t { kNumber, kName, kAccess, kCall, kCast, kReduce };
  Kind kind = Kind::kNumber;
  std::size_t at = 0;
  std::string text;  // number, name, tensor
  ScalarOp op = ScalarOp::kAdd;
  DType dtype = DType::kF32;  // kCast
  ReduceOp reduce = ReduceOp::kSum;
  std::vector<std::string> iterators;  // kReduce
  bool remainder = false;              // kCall of an index: %
  std::vector<Tree> children;
};

/// "NAME[i,0,j] = tree"
struct WrittenStatement {
  std::string name;
  std::size_t at = 0;       // of the name
  std::vector<Token> axes;  // names, or 0
  Tree value;
};

/// Throws UserError by `complaint`: on what is no statement, and on tensors and functions that nobody knows.
WrittenStatement read_statement(const Graph& graph, const std::string& text, const Complaint& complaint);

}  // namespace redtune
