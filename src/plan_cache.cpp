#include "src/plan_cache.h"

namespace skgemm {

uint64_t hash_of(const PlanKey& key) {
  const Shape& s = key.shape;
  const Limits& l = key.limits;
  uint64_t h = 0;
  // Multiply and fold (the finaliser of MurmurHash3's 64-bit mixer), a field at a time.
  const auto mix = [&h](uint64_t value) {
    h = (h ^ value) * 0xff51afd7ed558ccd;
    h ^= h >> 32;
  };
  for (const int64_t extent : {s.m, s.n, s.k, s.batch, l.forced_parameter}) mix(static_cast<uint64_t>(extent));
  mix(l.workspace_bytes);
  mix(static_cast<uint64_t>(l.forced_width) << 32 | static_cast<uint32_t>(l.forced_orientation));
  mix(static_cast<uint64_t>(l.forced_cluster.m) << 32 | static_cast<uint32_t>(l.forced_cluster.n));
  mix(static_cast<uint64_t>(l.sms) << 32 | static_cast<uint32_t>(key.device));
  uint64_t small = 0;
  const int flags = s.a_k_major | s.b_k_major << 1 | s.small_extents << 2 | s.a_shared << 3 | s.b_shared << 4;
  for (const int field : {static_cast<int>(s.in), static_cast<int>(s.out), flags, s.a_align, s.b_align, s.c_align,
                          static_cast<int>(l.forced)}) {
    small = small << 8 | static_cast<uint8_t>(field);
  }
  mix(small);
  return h;
}

PlanCache::PlanCache() : places_(std::make_unique<std::array<Place, kPlaces>>()) {}

PlanCache::Place& PlanCache::place_of(const PlanKey& key) { return (*places_)[hash_of(key) % kPlaces]; }

std::optional<Plan> PlanCache::find(const PlanKey& key) {
  Place& place = place_of(key);
  const std::lock_guard lock(place.mutex);
  if (!place.filled || !(place.key == key)) return std::nullopt;
  return place.plan;
}

void PlanCache::put(const PlanKey& key, const Plan& plan) {
  Place& place = place_of(key);
  const std::lock_guard lock(place.mutex);
  place.key = key;
  place.plan = plan;
  place.filled = true;
}

}  // namespace skgemm
