// The `skgemm` tool: shows the machine, draws plans and measures. One file per subcommand; see command.h.
#include <fmt/format.h>

#include <cstdio>

#include "skgemm.h"
#include "src/cli/command.h"

namespace {

// CLI11 would only say that a command is missing, also after an unknown option.
void check_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) return;
  if (argv[1][0] == '-') {
    for (const char* known : {"-h", "--help", "--version"}) {
      if (std::string_view(argv[1]) == known) return;
    }
    throw skgemm::cli::UsageError(fmt::format("unknown option '{}' (skgemm --help shows the options)", argv[1]));
  }
  std::string names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->check_name(argv[1])) return;
    names += " " + command->get_name();
  }
  throw skgemm::cli::UsageError(fmt::format("no command '{}': there are{}", argv[1], names));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"skgemm: matrix products on NVIDIA GPUs by one Stream-K kernel per precision", "skgemm"};
  app.set_version_flag(
      "--version", fmt::format("skgemm {}.{}.{}", SKGEMM_VERSION_MAJOR, SKGEMM_VERSION_MINOR, SKGEMM_VERSION_PATCH));
  app.require_subcommand(1);
  app.footer(
      "Examples:\n  skgemm info\n  skgemm plan 4096 4096 1024 --type h --op NT\n  skgemm bench --domain --type h "
      "--every 64\n"
      "Each command has its own --help.");
  int status = 0;
  skgemm::cli::add_info(app, status);
  skgemm::cli::add_plan(app, status);
  skgemm::cli::add_bench(app, status);
  try {
    check_command(app, argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& wrong) {
    fmt::print(stderr, "skgemm: {} (skgemm {}--help shows the options)\n", wrong.what(),
               app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name() + " ");
    return 2;
  } catch (const skgemm::cli::UsageError& wrong) {
    fmt::print(stderr, "skgemm: {}\n", wrong.what());
    return 2;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "skgemm: {}\n", failure.what());
    return 1;
  }
  return status;
}
