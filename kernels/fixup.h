// The fixup protocol: several CTAs each hold a part of one tile's sum, and the last one to arrive finishes the tile.
//
// Invariant: every counter is 0 when a launch starts and 0 when it ends, so there is no clearing between launches and a
// captured graph can be replayed. Nobody ever waits, so any order and any number of resident CTAs makes progress.
// The sum is always taken in slot order (k order), the finisher's own part at its own position, so the bits of C do not
// depend on which CTA came last.
#pragma once
#include <cstddef>

#include "kernels/schedule.h"

namespace skgemm {

// A workspace is this many counters (a fixed place, so that launches of any shape keep each other's zeros), then slots.
inline constexpr int64_t kCounterCapacity = 4096;
inline constexpr size_t kCounterBytes = kCounterCapacity * sizeof(uint32_t);

// Bytes of workspace for a schedule whose partial tile takes `slot_bytes`; 0 when no tile has two contributors.
SKGEMM_HD constexpr size_t workspace_bytes(const Schedule& s, size_t slot_bytes) {
  return s.slots() == 0 ? 0 : kCounterBytes + static_cast<size_t>(s.slots()) * slot_bytes;
}

// Ops, called together by all threads of a team: a CTA, or a warpgroup with its own rows, counters and part of a slot:
//   uint32_t arrivals(counter)          acquire read
//   void     clear(counter)             plain store of 0, by the only team that still uses it
//   void     publish(slot)              store this CTA's partial
//   uint32_t arrive(counter, last)      release+acquire wrapping increment: old >= last ? 0 : old + 1; returns old
//   void     collect(slots, unit)       accumulators = sum of all parts in slot order, the own one from registers
// `slots` says where parts lie, as Schedule::slot and slot_stride do. Returns true when this CTA is the finisher; its
// accumulators then hold the whole tile.
template <class Ops, class Slots, class U>
SKGEMM_HD bool fixup(Ops& ops, const Slots& slots, const U& u) {
  const uint32_t last = static_cast<uint32_t>(u.contributors - 1);
  if (ops.arrivals(u.counter) == last) {
    ops.clear(u.counter);  // all others have arrived: no need to store a partial nobody will read
  } else {
    ops.publish(slots.slot(u, u.position));
    if (ops.arrive(u.counter, last) != last) return false;
  }
  ops.collect(slots, u);
  return true;
}

}  // namespace skgemm
