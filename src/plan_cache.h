// Plans by everything that decides them, so that a repeated shape costs a look-up instead of a search. Direct-mapped:
// two shapes that fall on one place take turns, which costs a select() and nothing else. Safe for any number of
// threads.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "heuristics/select.h"

namespace skgemm {

struct PlanKey {
  Shape shape;  // with its alignments: a plan for aligned operands is wrong for others
  Limits limits;
  int device;

  bool operator==(const PlanKey&) const = default;
};

uint64_t hash_of(const PlanKey& key);

class PlanCache {
 public:
  static constexpr size_t kPlaces = 1024;

  PlanCache();
  // The plan of `key`; make() gives it when it isn't here.
  template <class Make>
  Plan get(const PlanKey& key, Make&& make) {
    if (const std::optional<Plan> known = find(key)) return *known;
    const Plan plan = make();
    put(key, plan);
    return plan;
  }
  std::optional<Plan> find(const PlanKey& key);
  void put(const PlanKey& key, const Plan& plan);

 private:
  struct Place {
    std::mutex mutex;
    bool filled = false;
    PlanKey key;
    Plan plan;
  };
  Place& place_of(const PlanKey& key);

  std::unique_ptr<std::array<Place, kPlaces>> places_;
};

}  // namespace skgemm
