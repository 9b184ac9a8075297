// `skgemm bench`: our products against cuBLAS's and against each forced schedule, every result checked (design D20).
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

#include "bench/domain.h"
#include "commit.h"
#include "src/cli/bench_runner.h"
#include "src/cli/command.h"
#include "src/cli/progress.h"
#include "src/cli/watchdog.h"

namespace skgemm::cli {
namespace {

struct BenchOptions {
  std::vector<int64_t> mnk;
  bool domain = false;
  std::string cases, replay;
  uint64_t seed = 1;
  int64_t align = 8;
  int every = 1;
  std::string type = "s", op = "NN", out;
  std::string cublas;
  bool no_cublas = false, schedules = false, sweep = false;
  int repeats = 3, check = 1;
  unsigned watchdog = 60;
  std::string csv, json, commit = SKGEMM_COMMIT;
};

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);  // a second one ends at once
}

void check(const BenchOptions& o) {
  const int sources =
      (o.mnk.empty() ? 0 : 1) + (o.domain ? 1 : 0) + (o.cases.empty() ? 0 : 1) + (o.replay.empty() ? 0 : 1);
  if (sources != 1) throw UsageError("bench takes one of: M N K, --domain, --cases FILE, --replay FILE");
  if (!o.mnk.empty() && o.mnk.size() != 3) throw UsageError("bench takes three extents: M N K");
  if (o.align < 1 || o.align > bench::kDomainMax)
    throw UsageError("--align takes the number of elements that extents are multiples of, as 8 or 1");
  if (o.every < 1) throw UsageError("--every takes a number from 1 on");
  if (o.repeats < 1 || o.repeats > 100) throw UsageError("--repeats takes a number from 1 to 100");
  if (o.check < 0) throw UsageError("--check takes a number from 0 (never) on");
  if (o.sweep && (o.schedules || !o.cublas.empty() || !o.json.empty()))
    throw UsageError("--sweep goes without --schedules, --cublas and --json: it measures plans of ours, into --csv");
  if (o.no_cublas && !o.cublas.empty()) throw UsageError("--no-cublas and --cublas exclude each other");
}

template <class Read>
auto read_file(const std::string& name, Read read) {
  std::error_code unknown;  // then opening fails too, below
  if (std::filesystem::is_directory(name, unknown))
    throw UsageError(fmt::format("{} is a directory: name a file in it", name));
  std::ifstream file(name);
  if (!file) throw UsageError(fmt::format("can't read {}", name));
  return read(file, name);
}

std::vector<BenchCase> every_nth(std::vector<BenchCase> cases, int every) {
  std::vector<BenchCase> kept;
  for (size_t i = 0; i < cases.size(); i += static_cast<size_t>(every)) kept.push_back(cases[i]);
  return kept;
}

Replay collect_cases(const BenchOptions& o) {
  if (!o.cases.empty()) return {every_nth(read_file(o.cases, read_cases), o.every)};
  if (!o.replay.empty()) {
    Replay replay = read_file(o.replay, read_replay);
    replay.cases = every_nth(std::move(replay.cases), o.every);
    return replay;
  }
  const DataType type = parse_type(o.type);
  const OpPair ops = parse_ops(o.op);
  std::vector<BenchCase> cases;
  if (o.domain) {
    for (const auto& s : bench::domain_shapes(o.seed, o.align, o.every))
      cases.push_back(packed_case(type, ops, s.m, s.n, s.k));
  } else {
    cases.push_back(packed_case(type, ops, o.mnk[0], o.mnk[1], o.mnk[2]));
  }
  for (BenchCase& c : cases) {
    if (!o.out.empty()) c.out = parse_type(o.out);
    check_case(c, "the command line");
  }
  return {std::move(cases)};
}

std::string describe_cases(const BenchOptions& o, size_t count, int64_t illegal) {
  if (o.domain)
    return fmt::format("domain, {} {}, seed {}, align {}, every {}: {} shapes", o.type, o.op, o.seed, o.align, o.every,
                       count);
  if (!o.cases.empty()) return fmt::format("{}, every {}: {} cases", o.cases, o.every, count);
  if (!o.replay.empty()) {
    const std::string left_out = illegal == 0 ? "" : fmt::format(" ({} illegal in the log, left out)", illegal);
    return fmt::format("calls in {}, every {}: {} calls{}", o.replay, o.every, count, left_out);
  }
  return fmt::format("{} {} {}x{}x{}", o.type, o.op, o.mnk[0], o.mnk[1], o.mnk[2]);
}

// Opened before the measurement, so that a bad path is known at once and not after it.
std::ofstream open_output(const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("can't write {}: check the folder and its permissions", path));
  return file;
}

std::string ratio_words(const Result& r) {
  if (!r.ours.failed.empty()) return "failed";
  if (!r.ours.wrong.empty()) return "wrong";
  if (!r.cublas.timed()) return fmt::format("{:.1f} us", r.ours.graph_us);
  return fmt::format("{:.2f}x", r.cublas.graph_us / r.ours.graph_us);
}

// Measures case after case; `measure` returns what is to be said of one. Returns "" or why not all were measured.
std::string measure_all(const std::vector<BenchCase>& cases, const BenchOptions& o,
                        const std::function<std::string(const BenchCase&, bool check)>& measure) {
  Progress progress(cases.size());
  std::string stopped;
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_interrupt);
  for (size_t i = 0; i < cases.size() && stopped.empty(); ++i) {
    const std::string name = to_string(cases[i]);
    try {
      const Watchdog watchdog(name, o.watchdog);
      const std::string words = measure(cases[i], o.check > 0 && i % static_cast<size_t>(o.check) == 0);
      progress.show(i + 1, fmt::format("{}  {}", name, words));
      if (interrupted != 0 && i + 1 < cases.size())
        stopped = fmt::format("interrupted after {} of {} cases", i + 1, cases.size());
    } catch (const std::runtime_error& failure) {
      stopped = fmt::format("stopped at {}: {}", name, failure.what());
    }
  }
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  return stopped;
}

Header header_of(const BenchOptions& o, const std::string& cases, const Runner& runner) {
  Header header = {{"cases", cases}};
  for (auto& entry : runner.header()) header.push_back(std::move(entry));
  header.push_back({"commit", o.commit});
  header.push_back({"date", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)))});
  return header;
}

void add_ending(Header& header, const Runner& runner, const std::string& stopped) {
  header.push_back({"wall", runner.spent()});
  if (!stopped.empty()) header.push_back({"partial", stopped});
}

// Ends with the status that a run deserves.
int status_of(const std::string& stopped, const std::vector<std::string>& bad) {
  if (!stopped.empty()) fmt::print(stderr, "skgemm: {}\n", stopped);
  return stopped.empty() && bad.empty() ? 0 : 1;
}

int compare(const BenchOptions& o, const std::vector<BenchCase>& cases, Runner& runner, Header header) {
  std::ofstream csv, json;
  if (!o.csv.empty()) csv = open_output(o.csv);
  if (!o.json.empty()) json = open_output(o.json);
  std::vector<Result> results;
  const std::string stopped = measure_all(cases, o, [&](const BenchCase& c, bool check) {
    results.push_back(runner.run(c, check));
    return ratio_words(results.back());
  });
  add_ending(header, runner, stopped);
  fmt::print("{}", summary(header, results));
  if (csv.is_open()) csv << to_csv(header, results);
  if (json.is_open()) json << to_json(header, results).dump(1) << "\n";
  return status_of(stopped, failures(results));
}

// The table is written case by case: a long sweep that is ended early leaves what it has.
int sweep(const BenchOptions& o, const std::vector<BenchCase>& cases, Runner& runner, Header header) {
  std::ofstream csv;
  if (!o.csv.empty()) csv = open_output(o.csv);
  if (csv.is_open()) csv << sweep_csv_head(header);
  std::vector<Sweep> sweeps;
  const std::string stopped = measure_all(cases, o, [&](const BenchCase& c, bool check) {
    sweeps.push_back(runner.sweep(c, check));
    if (csv.is_open()) csv << sweep_csv(sweeps.back()) << std::flush;
    return fmt::format("{} plans, regret {:.3f}", sweeps.back().plans.size(), sweeps.back().regret());
  });
  add_ending(header, runner, stopped);
  fmt::print("{}", sweep_summary(header, sweeps));
  return status_of(stopped, failures(sweeps));
}

void run_bench(const BenchOptions& o, int& status) {
  check(o);
  const auto [cases, illegal] = collect_cases(o);
  const std::unique_ptr<Runner> runner = make_runner({.cublas = !o.no_cublas && !o.sweep,
                                                      .cublas_path = o.cublas,
                                                      .schedules = o.schedules,
                                                      .repeats = o.repeats,
                                                      .watchdog_s = o.watchdog},
                                                     cases);
  const Header header = header_of(o, describe_cases(o, cases.size(), illegal), *runner);
  if ((o.sweep ? sweep : compare)(o, cases, *runner, header) != 0) status = 1;
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
  auto options = std::make_shared<BenchOptions>();
  BenchOptions& o = *options;
  CLI::App* bench =
      app.add_subcommand("bench", "measure against cuBLAS and against forced schedules, and check every result");
  bench->add_option("MNK", o.mnk, "one product: M N K")->expected(3);
  bench->add_flag("--domain", o.domain, "the Stream-K paper's 32,824 shapes: m, n, k log-uniform in [128, 8192]");
  bench->add_option("--cases", o.cases,
                    "CSV file with columns type,op,m,n,k and any of lda,ldb,ldc,batch,stride_[abc],alpha,beta,out");
  bench->add_option("--replay", o.replay, "calls that a program logged with SKGEMM_VERBOSE=1");
  bench->add_option("--seed", o.seed, "of the domain")->capture_default_str();
  bench->add_option("--align", o.align, "domain extents are multiples of this: 8 aligned, 1 unaligned")
      ->capture_default_str();
  bench->add_option("--every", o.every, "only every Nth case")->capture_default_str();
  bench->add_option("--type", o.type, "s, d, h or bf")->capture_default_str();
  bench->add_option("--op", o.op, "NN, NT, TN or TT")->capture_default_str();
  bench->add_option("--out", o.out, "the type of C (as --type)");
  bench->add_option("--cublas", o.cublas, "this libcublas.so instead of the loader's");
  bench->add_flag("--no-cublas", o.no_cublas, "ours alone");
  bench->add_flag("--schedules", o.schedules, "also with each schedule forced, where the product can have it");
  bench->add_flag("--sweep", o.sweep,
                  "no comparison: each case by many forced tiles, clusters and schedules, one line of --csv each");
  bench->add_option("--repeats", o.repeats, "replays per case; the median counts (not with --sweep)")
      ->capture_default_str();
  bench->add_option("--check", o.check, "check the results of every Nth case; 0: of none")->capture_default_str();
  bench->add_option("--watchdog", o.watchdog, "seconds after which a case counts as hanging; 0: never")
      ->capture_default_str();
  bench->add_option("--csv", o.csv, "write the results here");
  bench->add_option("--json", o.json, "write the table and the results here");
  bench->add_option("--commit", o.commit, "what was measured, for the header")->capture_default_str();
  bench->footer(
      "Examples:\n  skgemm bench --domain --type h --every 64 --csv h.csv\n  skgemm bench --domain --type h --every "
      "256 --sweep --csv plans.csv\n  skgemm bench 4096 4096 1024 --type d --schedules\n"
      "  SKGEMM_VERBOSE=1 SKGEMM_LOG=calls.log program; skgemm bench --replay calls.log");
  bench->callback([options, &status] { run_bench(*options, status); });
}

}  // namespace skgemm::cli
