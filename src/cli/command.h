// What the subcommands share with main: each adds itself to the command line; its callback returns by setting `status`.
#pragma once
#include <CLI/CLI.hpp>
#include <stdexcept>

namespace skgemm::cli {

// Something the user asked for that can't be done: one clear line, exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void add_info(CLI::App& app, int& status);
void add_plan(CLI::App& app, int& status);
void add_bench(CLI::App& app, int& status);

}  // namespace skgemm::cli
