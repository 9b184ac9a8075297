// Runs a schedule on host threads: the same cta_main, fixup and schedule code as the kernels, on small tiles and exact
// integers or floats. A CTA is a job; at most `resident` run at once, in any order.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "kernels/cta_main.h"

namespace skgemm::host {

inline constexpr int kTile = 2;  // a tile is 2x2 elements, a step one k

template <class T>
struct Problem {
  int64_t m, n, k, batch;
  std::vector<T> a, b;  // per batch entry: a is m x k, b is k x n, column-major

  Problem(int64_t m_, int64_t n_, int64_t k_, int64_t batch_, uint64_t seed) : m(m_), n(n_), k(k_), batch(batch_) {
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<int> value(-9, 9);
    a.resize(static_cast<size_t>(m * k * batch));
    b.resize(static_cast<size_t>(k * n * batch));
    // Odd fractions make the float sum depend on its order, so that bit comparisons mean something.
    for (T& x : a) x = static_cast<T>(value(random)) / (std::is_integral_v<T> ? 1 : static_cast<T>(7));
    for (T& x : b) x = static_cast<T>(value(random));
  }
  TileSpace space(int64_t group) const { return {ceil_div(m, kTile), ceil_div(n, kTile), batch, k, group}; }

  std::vector<T> reference() const {
    std::vector<T> c(static_cast<size_t>(m * n * batch));
    for (int64_t e = 0; e < batch; ++e)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i) {
          T sum{};
          for (int64_t p = 0; p < k; ++p) sum += a[index(e, i, p, m, k)] * b[index(e, p, j, k, n)];
          c[index(e, i, j, m, n)] = sum;
        }
    return c;
  }
  static size_t index(int64_t entry, int64_t row, int64_t column, int64_t rows, int64_t columns) {
    return static_cast<size_t>(row + rows * (column + columns * entry));
  }
};

// The outcome of one run.
template <class T>
struct Result {
  std::vector<T> c;
  std::vector<int> visits;  // per (tile, step)
  std::vector<int> stores;  // per tile
  bool counters_zero;
};

template <class T>
class Launch {
 public:
  Launch(const Problem<T>& problem, const Schedule& schedule)
      : problem_(problem),
        schedule_(schedule),
        counters_(static_cast<size_t>(schedule.counters())),
        slots_(static_cast<size_t>(schedule.slots() * kTile * kTile), poison()),
        visits_(static_cast<size_t>(schedule.tiles() * schedule.space.steps)),
        stores_(static_cast<size_t>(schedule.tiles())),
        c_(static_cast<size_t>(problem.m * problem.n * problem.batch), poison()) {}

  // Every CTA once, in `order`, on `resident` threads.
  Result<T> run(const std::vector<int64_t>& order, int resident) {
    std::atomic<size_t> next{0};
    auto worker = [&] {
      for (size_t i = next++; i < order.size(); i = next++) {
        Ops ops{*this};
        cta_main(ops, schedule_, order[i]);
      }
    };
    if (resident == 1) {
      worker();
    } else {
      std::vector<std::jthread> threads;
      for (int i = 0; i < resident; ++i) threads.emplace_back(worker);
    }
    return {c_, plain(visits_), plain(stores_),
            std::all_of(counters_.begin(), counters_.end(), [](const auto& x) { return x.load() == 0; })};
  }

 private:
  static constexpr T poison() {
    return std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN()
                                                 : std::numeric_limits<T>::max() / 1000;
  }
  static std::vector<int> plain(const std::vector<std::atomic<int>>& v) { return {v.begin(), v.end()}; }

  // The operations of fixup.h and cta_main.h for one CTA.
  struct Ops {
    Launch& l;
    T acc[kTile * kTile] = {};

    void mainloop(const Unit& u) {
      std::fill(std::begin(acc), std::end(acc), T{});
      const Problem<T>& p = l.problem_;
      const TileCoord at = l.schedule_.space.coord(u.tile);
      for (int64_t step = u.step_begin; step < u.step_end; ++step) {
        l.visits_[static_cast<size_t>(u.tile * l.schedule_.space.steps + step)]++;
        each_element(at, [&](int e, int64_t i, int64_t j) {
          acc[e] += p.a[p.index(at.batch, i, step, p.m, p.k)] * p.b[p.index(at.batch, step, j, p.k, p.n)];
        });
      }
    }
    uint32_t arrivals(int64_t counter) {
      return l.counters_[static_cast<size_t>(counter)].load(std::memory_order_acquire);
    }
    void clear(int64_t counter) { l.counters_[static_cast<size_t>(counter)].store(0, std::memory_order_relaxed); }
    void publish(int64_t slot) { std::copy(std::begin(acc), std::end(acc), l.slot(slot)); }
    uint32_t arrive(int64_t counter, uint32_t last) {
      auto& c = l.counters_[static_cast<size_t>(counter)];
      uint32_t old = c.load(std::memory_order_relaxed);
      while (!c.compare_exchange_weak(old, old >= last ? 0 : old + 1, std::memory_order_acq_rel)) {
      }
      return old;
    }
    void collect(const Schedule& s, const Unit& u) {
      for (int e = 0; e < kTile * kTile; ++e) {
        T sum{};
        for (int64_t p = 0; p < u.contributors; ++p) sum += p == u.position ? acc[e] : l.slot(s.slot(u, p))[e];
        acc[e] = sum;
      }
    }
    void epilogue(const Unit& u) {
      const Problem<T>& p = l.problem_;
      const TileCoord at = l.schedule_.space.coord(u.tile);
      l.stores_[static_cast<size_t>(u.tile)]++;
      each_element(at, [&](int e, int64_t i, int64_t j) { l.c_[p.index(at.batch, i, j, p.m, p.n)] = acc[e]; });
    }
    template <class F>
    void each_element(const TileCoord& at, F&& f) {
      for (int e = 0; e < kTile * kTile; ++e) {
        const int64_t i = at.m * kTile + e % kTile, j = at.n * kTile + e / kTile;
        if (i < l.problem_.m && j < l.problem_.n) f(e, i, j);
      }
    }
  };

  T* slot(int64_t s) { return &slots_[static_cast<size_t>(s * kTile * kTile)]; }

  const Problem<T>& problem_;
  const Schedule& schedule_;
  std::vector<std::atomic<uint32_t>> counters_;
  std::vector<T> slots_;
  std::vector<std::atomic<int>> visits_, stores_;
  std::vector<T> c_;
};

inline std::vector<int64_t> shuffled(int64_t ctas, uint64_t seed) {
  std::vector<int64_t> order(static_cast<size_t>(ctas));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  return order;
}

}  // namespace skgemm::host
