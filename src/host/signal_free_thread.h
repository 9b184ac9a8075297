// A thread that takes none of the process's signals: their handlers are the program's, and expect its own threads.
#pragma once
#include <csignal>
#include <thread>
#include <utility>

namespace skgemm {

template <class Body>
std::jthread signal_free_thread(Body body) {
  struct Blocked {  // a new thread inherits the mask
    sigset_t before;
    Blocked() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  };
  const Blocked signals;
  return std::jthread(std::move(body));
}

}  // namespace skgemm
