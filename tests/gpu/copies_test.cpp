// Operands that TMA can't read as they lie, copied first (kernels/aligned_copy.h): lines of every length about those at
// which they are cut, few and many of them, on one multiprocessor and on all.
#include <string>

#include "kernels/aligned_copy.h"
#include "tests/gpu/known_product.h"

namespace skgemm::test {
namespace {

class Copies : public TypedTileTest {
 protected:
  // Where the kernel that reads by TMA alone has the product of odd operands, they are copied.
  testing::AssertionResult copied_and_right(const GemmCase& c) {
    const std::string kernel = plan_of(handle(), c).kernel;
    if (kernel.find("wgmma") == std::string::npos) return testing::AssertionFailure() << kernel << " makes no copies";
    return passes(handle(), c);
  }
};

// Elements of the lines that one, two or more segments hold, for each number of lanes.
std::vector<int64_t> lengths() {
  std::vector<int64_t> all = {1, 2, 7, 8, 9, 15, 16, 17, 127, 128, 129};
  for (const int lanes : {8, 16, 32}) {
    for (const int segments : {1, 2, 5}) {
      const int64_t whole = int64_t{lanes} * kCopyTogether * 8 * segments;
      all.insert(all.end(), {whole - 16, whole - 1, whole, whole + 1, whole + 15});
    }
  }
  return all;
}

// Of A and B along k, of A along m, of B along n.
TEST_P(Copies, LinesOfEveryLength) {
  set_deadline(std::chrono::seconds(60));
  for (const int64_t length : lengths()) {
    for (const int64_t lines : {1, 5, 70}) {
      for (GemmCase c : {product("TN", lines, lines + 1, length), product("NT", length, 3, lines),
                         product("NT", 3, length, lines)}) {
        c.fill = Fill::integer;
        ASSERT_TRUE(copied_and_right(placed(c, kOdd)));
      }
    }
  }
}

TEST_P(Copies, OneOperandOrBothOnFewMultiprocessors) {
  const Placement only_a{{1, 3}, {8, 8}, {8, 8}}, only_b{{8, 8}, {1, 3}, {8, 8}};
  for (const char* op : {"NN", "NT", "TN", "TT"}) {
    for (const Placement& where : {only_a, only_b, kOdd}) {
      for (const int64_t sms : {1, 2, 3, 0}) {
        GemmCase c = product(op, 100, 37, 1030);
        c.sms = sms, c.fill = Fill::integer;
        ASSERT_TRUE(copied_and_right(placed(c, where)));
      }
    }
  }
}

// More lines than the grid of the copies has teams, also over the ends of batch entries.
TEST_P(Copies, ManyLines) {
  set_deadline(std::chrono::seconds(60));
  GemmCase tall = product("TN", 70'001, 3, 17), batched = product("NN", 33, 17, 65);
  tall.fill = batched.fill = Fill::integer;
  batched.batch = 2000;
  ASSERT_TRUE(copied_and_right(placed(tall, kOdd)));
  ASSERT_TRUE(copied_and_right(placed(batched, kOdd)));
}

INSTANTIATE_TEST_SUITE_P(All, Copies, testing::ValuesIn(kHalfPairs), param_name);

}  // namespace
}  // namespace skgemm::test
