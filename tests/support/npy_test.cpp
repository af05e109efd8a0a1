#include "support/npy.h"

#include <gtest/gtest.h>

#include "support/error.h"
#include "support/files.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

NpyArray array_of(const std::string& descr, std::vector<std::int64_t> shape) {
  NpyArray array{descr, std::move(shape), {}};
  array.data.resize(static_cast<std::size_t>(array.elements() * npy_item_size(descr)));
  for (std::size_t i = 0; i < array.data.size(); ++i) array.data[i] = static_cast<std::byte>(i * 37);
  return array;
}

// A file as NumPy writes it, with a header of our choice.
std::string npy_bytes(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

std::string complaint(const std::string& bytes) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.npy");
  write_file_atomically(path, bytes);
  std::string message = message_of([&] { read_npy(path); });
  return message.starts_with(path + ": ") ? message.substr(path.size() + 2) : message;
}

TEST(Npy, RoundTripsEveryTypeAndRank) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.npy");
  for (const char* descr : {"<f2", "<f4", "<f8", "<i2", "<i4", "<i8", "|i1", "|u1", "|b1", "<u2", "<u4", "<u8", "<V2"}) {
    for (const auto& shape : std::vector<std::vector<std::int64_t>>{{}, {3}, {2, 3}, {2, 1, 4}, {0}, {4, 0, 2}}) {
      const NpyArray array = array_of(descr, shape);
      write_npy(path, array);
      EXPECT_EQ(read_npy(path), array) << descr << " rank " << shape.size();
      EXPECT_EQ((read_file(path).size() - array.data.size()) % 64, 0u) << "data begins aligned";
    }
  }
}

TEST(Npy, WritesTheBytesThatNumpyWrites) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.npy");
  write_npy(path, array_of("<f4", {5}));
  EXPECT_TRUE(read_file(path).substr(10).starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (5,), } "));
  write_npy(path, array_of("<f4", {2, 3}));
  EXPECT_TRUE(read_file(path).substr(10).starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } "));
  write_npy(path, array_of("<f4", {}));
  EXPECT_TRUE(read_file(path).substr(10).starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (), } "));
}

TEST(Npy, ReadsVersionsTwoAndThreeAndAnyOrderOfKeys) {
  TemporaryDirectory directory;
  const std::string path = directory.file("x.npy");
  for (int version : {1, 2, 3}) {
    write_file_atomically(
        path, npy_bytes("{\"shape\": (2L,), 'fortran_order': False, 'descr': '<i2'}\n", "\x01\x02\x03\x04", version));
    const NpyArray array = read_npy(path);
    EXPECT_EQ(array.descr, "<i2");
    EXPECT_EQ(array.shape, std::vector<std::int64_t>{2});
    EXPECT_EQ(array.data[3], std::byte{4});
  }
}

TEST(Npy, SaysWhatItCannotRead) {
  EXPECT_EQ(complaint("hello"), "is not a .npy file");
  EXPECT_EQ(complaint(npy_bytes("{}", "", 9)), ".npy version 9 is unknown");
  EXPECT_EQ(complaint(npy_bytes("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "abcd")),
            "type '>f4' is big-endian; save it little-endian");
  EXPECT_EQ(complaint(npy_bytes("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", "abcd")),
            "is in Fortran order; save np.ascontiguousarray(array)");
  EXPECT_EQ(complaint(npy_bytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd")),
            "structured types are not supported; save one plain array");
  EXPECT_EQ(complaint(npy_bytes("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "abcd")),
            "object arrays are not supported; save one plain array");
  EXPECT_EQ(complaint(npy_bytes("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "abcdefgh")),
            "type '<c8' is not supported");
}

TEST(Npy, RefusesDataThatDoesNotFillTheShape) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
  EXPECT_EQ(complaint(npy_bytes(header, "1234567")), "shape and type need 8 bytes of data, the file has 7");
  EXPECT_EQ(complaint(npy_bytes(header, "123456789")), "shape and type need 8 bytes of data, the file has 9");
  EXPECT_EQ(complaint(npy_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 2)}", "")),
            "shape overflows 64 bits");
}

TEST(Npy, RefusesDamagedHeaders) {
  for (const char* header :
       {"", "{", "{'descr'", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "{'descr': '<f4', 'x': 1}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': ()}"}) {
    EXPECT_NE(complaint(npy_bytes(header, "abcd")), "no error") << header;
  }
  EXPECT_EQ(complaint(std::string("\x93NUMPY\x01\x00\xff\x00{", 11)), "ends within its header");
}

TEST(Npy, WritingWrongSizesIsABug) {
  EXPECT_THROW(write_npy("/dev/null", {"<f4", {2}, {}}), InternalError);
  EXPECT_THROW(write_npy("/dev/null", {"float", {}, {}}), InternalError);
}

}  // namespace
}  // namespace redtune
