// A CTA's life, once for every kernel and for the host executor of the tests: walk the units, sum, fix up, store.
#pragma once
#include "kernels/fixup.h"

namespace skgemm {

// Ops adds to the fixup's operations (fixup.h):
//   void mainloop(unit)   accumulators = op(A)*op(B) over the unit's k-steps of its tile (algorithm 3, MacLoop)
//   void epilogue(unit)   C tile = alpha*accumulators + beta*C
// and, if it likes, three that keep this function's own state elsewhere while the sums have the registers:
//   void park(cursor, unit), void unpark(unit&) after the mainloop, void unpark(cursor&) after the unit
template <class Ops>
inline constexpr bool kParks = requires(Ops& ops, UnitCursor& cursor, Unit& u) {
  ops.park(cursor, u), ops.unpark(u), ops.unpark(cursor);
};

template <class Ops>
SKGEMM_HD void cta_main(Ops& ops, const Schedule& s, int64_t cta) {
  UnitCursor cursor(s, cta);
  Unit u{};
  while (cursor.next(u)) {
    if constexpr (kParks<Ops>) ops.park(cursor, u);
    ops.mainloop(u);
    if constexpr (kParks<Ops>) ops.unpark(u);
    if (u.contributors == 1 || fixup(ops, s, u)) ops.epilogue(u);
    if constexpr (kParks<Ops>) ops.unpark(cursor);
  }
}

}  // namespace skgemm
