// A worker's life, once for every kernel and for the host executor of the tests: walk the units, sum, fix up, store.
#pragma once
#include "kernels/fixup.h"

namespace skgemm {

// Ops adds to the fixup's operations (fixup.h):
//   void mainloop(unit)   accumulators = op(A)*op(B) over the unit's k-steps of its tile (algorithm 3, MacLoop)
//   void epilogue(unit)   C tile = alpha*accumulators + beta*C
// Units is where the worker's units come from:
//   bool next()           on to the next unit; false when there is none
//   const U& unit()       it: at least contributors, position and counter, as in Unit
//   const S& slots()      where partial sums of it lie, as Schedule::slot and slot_stride say
//   void summed()         its mainloop is over
//   void finished()       and all the rest
template <class Ops, class Units>
SKGEMM_HD void cta_main(Ops& ops, Units& units) {
  while (units.next()) {
    ops.mainloop(units.unit());
    units.summed();
    if (units.unit().contributors == 1 || fixup(ops, units.slots(), units.unit())) ops.epilogue(units.unit());
    units.finished();
  }
}

// Ops can keep the walk's state elsewhere while the sums have the registers, by three operations more:
//   void park(cursor, unit), void unpark(unit&) after the mainloop, void unpark(cursor&) after the unit
template <class Ops, class Int>
inline constexpr bool kParks = requires(Ops& ops, BasicUnitCursor<Int>& cursor, BasicUnit<Int>& u) {
  ops.park(cursor, u), ops.unpark(u), ops.unpark(cursor);
};

// The units of a schedule, walked by whoever does them.
template <class Ops, class Int>
class WalkedUnits {
 public:
  SKGEMM_HD WalkedUnits(Ops& ops, const BasicSchedule<Int>& s, Int worker) : ops_(ops), s_(s), cursor_(s, worker) {}

  SKGEMM_HD bool next() {
    if (!cursor_.next(u_)) return false;
    if constexpr (kParks<Ops, Int>) ops_.park(cursor_, u_);
    return true;
  }
  SKGEMM_HD const BasicUnit<Int>& unit() const { return u_; }
  SKGEMM_HD const BasicSchedule<Int>& slots() const { return s_; }
  SKGEMM_HD void summed() {
    if constexpr (kParks<Ops, Int>) ops_.unpark(u_);
  }
  SKGEMM_HD void finished() {
    if constexpr (kParks<Ops, Int>) ops_.unpark(cursor_);
  }

 private:
  Ops& ops_;
  const BasicSchedule<Int>& s_;
  BasicUnitCursor<Int> cursor_;
  BasicUnit<Int> u_{};
};

template <class Ops, class Int>
SKGEMM_HD void cta_main(Ops& ops, const BasicSchedule<Int>& s, Int worker) {
  WalkedUnits<Ops, Int> units(ops, s, worker);
  cta_main(ops, units);
}

}  // namespace skgemm
