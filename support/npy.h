// NumPy's .npy files, versions 1 to 3: one array of a plain little-endian type in C order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redtune {

struct NpyArray {
  /// NumPy's word for the type: "<f4", "<f8", "<f2", "<i4", "<i8", "|i1", "|u1", "|b1", ... "<V2" (and "|V2") is what
  /// NumPy writes for bf16, which it has no type for.
  std::string descr;
  std::vector<std::int64_t> shape;  // empty: a scalar
  std::vector<std::byte> data;      // row-major, item_size bytes per element

  std::int64_t elements() const;
  friend bool operator==(const NpyArray&, const NpyArray&) = default;
};

/// Bytes of one element; 0 when `descr` is no plain little-endian type.
std::int64_t npy_item_size(const std::string& descr);

/// Throws UserError naming the file and what is wrong: not a .npy file, big-endian, Fortran order, structured or object
/// types, or data shorter or longer than the shape says.
NpyArray read_npy(const std::string& path);

/// Writes version 1 atomically. Throws UserError when the path cannot be written.
void write_npy(const std::string& path, const NpyArray& array);

}  // namespace redtune
