// Compares the prototypes of a vendor's header with the ones this folder loads at run time (cuda_library,
// cupti_library): enums count as the ints that they are in memory, in callbacks too.
#pragma once

#include <type_traits>

namespace redtune {

template <typename T>
struct PlainType {
  using type = std::conditional_t<std::is_enum_v<T>, int, T>;
};
template <typename R, typename... A>
struct PlainType<R (*)(A...)> {
  using type = typename PlainType<R>::type (*)(typename PlainType<A>::type...);
};

/// Whether `Theirs`, a function of the vendor's header, can be called through `Ours`.
template <auto Theirs, typename Ours>
inline constexpr bool kSamePrototype = std::is_same_v<typename PlainType<decltype(Theirs)>::type, Ours>;

}  // namespace redtune
