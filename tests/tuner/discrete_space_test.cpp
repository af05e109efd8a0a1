#include "tuner/discrete_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/space/task_builder.h"

namespace redtune {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// x in {16, 32, 48, 64} times mode in {a, b}, without (64, b); z has one value.
RecordedSpace seven_points() {
  RecordedSpace space;
  space.parameters = {{"x", {16, 32, 48, 64}}, {"z", {1}}, {"mode", {"a", "b"}}};
  for (std::uint16_t x = 0; x < 4; ++x) {
    for (std::uint16_t mode = 0; mode < (x == 3 ? 1 : 2); ++mode)
      space.points.push_back({{x, 0, mode}, 1.0, 0, ""});
  }
  return space;
}

TEST(DiscreteSpace, LeavesOutWhatDoesNotVary) {
  const DiscreteSpace space = discrete_space(seven_points());
  ASSERT_EQ(space.dimensions().size(), 2u);
  EXPECT_EQ(space.size(), 7u);
  EXPECT_EQ(space.dimensions()[0].name, "x");
  EXPECT_TRUE(space.dimensions()[0].ordered);
  EXPECT_FALSE(space.dimensions()[1].ordered);
}

TEST(DiscreteSpace, PlacesByLogarithmAndKnowsPowersOfTwo) {
  const Dimension x = numeric_dimension("x", {16, 32, 48, 64});
  EXPECT_THAT(x.dyadic, ElementsAre(true, true, false, true));
  EXPECT_FLOAT_EQ(x.places[0], 0);
  EXPECT_FLOAT_EQ(x.places[1], 0.5);
  EXPECT_FLOAT_EQ(x.places[3], 1);
  EXPECT_TRUE(numeric_dimension("y", {1, 2, 4}).dyadic.empty());
  EXPECT_FLOAT_EQ(numeric_dimension("z", {0, 1, 2, 4}).places[1], 0.25);
}

TEST(DiscreteSpace, FindsItsPointsAndNoOthers) {
  const DiscreteSpace space = discrete_space(seven_points());
  for (std::size_t i = 0; i < space.size(); ++i) EXPECT_EQ(space.find(space.levels(i)), i);
  const std::uint16_t missing[] = {3, 1};
  EXPECT_FALSE(space.find(missing));
}

TEST(DiscreteSpace, NeighboursDifferInOneDimension) {
  const DiscreteSpace space = discrete_space(seven_points());
  EXPECT_THAT(space.neighbours(2), UnorderedElementsAre(0, 4, 3));        // (32, a)
  EXPECT_THAT(space.neighbours(2, 2), UnorderedElementsAre(0, 4, 6, 3));  // and (64, a)
  EXPECT_THAT(space.neighbours(5), UnorderedElementsAre(3, 4));           // (48, b): (64, b) is no point
}

TEST(DiscreteSpace, OfSchedulesHasOnePointPerSchedule) {
  const SearchSpace schedules(task_of("1024x1024", "1", "sm_80"));
  const DiscreteSpace points = discrete_space(schedules);
  ASSERT_EQ(points.size(), schedules.size());
  EXPECT_EQ(points.guess().size(), points.size());
  for (std::size_t i = 0; i < points.size(); i += 97) {
    EXPECT_EQ(points.find(points.levels(i)), i);
    for (std::size_t neighbour : points.moves(i)) EXPECT_LT(neighbour, schedules.size());
  }
}

TEST(DiscreteSpace, MayBeEmptyOrASinglePoint) {
  EXPECT_EQ(DiscreteSpace(0, {}, {}).size(), 0u);
  const DiscreteSpace one(1, {}, {});
  EXPECT_EQ(one.size(), 1u);
  EXPECT_TRUE(one.moves(0).empty());
}

}  // namespace
}  // namespace redtune
