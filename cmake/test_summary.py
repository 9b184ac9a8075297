"""Prints what a ctest run came to: passed, failed and skipped by label, why tests were skipped, and what was built.

test_summary.py BUILD_DIR reads BUILD_DIR/tests.xml (ctest --output-junit). Exits 1 when a test failed or
none ran at all; that all were skipped is no failure.
"""
import collections
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

LABELS = ("cpu", "abi", "clients", "gpu")


def labels_by_test(build):
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, check=True)
    labels = {}
    for test in json.loads(listing.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        labels[test["name"]] = properties.get("LABELS", [])
    return labels


def verdict(case):
    """passed, failed or skipped. A test whose program is missing didn't skip: it failed."""
    if case.get("status") == "run":
        return "passed"
    skipped = case.find("skipped")
    asked_for = skipped is not None and skipped.get("message", "").startswith(("SKIP_", "Disabled"))
    return "skipped" if asked_for else "failed"


def skip_reason(case):
    """GoogleTest prints the reason after 'FILE:LINE: Skipped'; other programs end with it."""
    lines = [line.strip() for line in (case.findtext("system-out") or "").splitlines() if line.strip()]
    for i, line in enumerate(lines[:-1]):
        if line.endswith(": Skipped"):
            return lines[i + 1]
    return lines[-1] if lines else "no reason given"


def skips_inside(case):
    """Reasons of the single tests that a GoogleTest program skipped while others of it ran."""
    lines = [line.strip() for line in (case.findtext("system-out") or "").splitlines()]
    return [reason for line, reason in zip(lines, lines[1:]) if line.endswith(": Skipped")]


def gpu_part(build):
    with open(f"{build}/configure.log") as log:
        found = re.findall(r"^-- skgemm: (GPU part .*)$", log.read(), re.M)
    return found[-1] if found else "GPU part: see configure.log"


def main(build):
    labels = labels_by_test(build)
    counts, reasons, inside, failed = collections.Counter(), collections.Counter(), collections.Counter(), []
    for case in xml.parse(f"{build}/tests.xml").getroot().iter("testcase"):
        result = verdict(case)
        label = next((name for name in LABELS if name in labels.get(case.get("name"), [])), "other")
        counts[label, result] += 1
        counts["all", result] += 1
        if result == "skipped":
            reasons[label, skip_reason(case)] += 1
            continue
        if result == "failed":
            failed.append(case.get("name"))
        inside.update((case.get("name"), reason) for reason in skips_inside(case))
    print(f"\n{'label':<8} {'passed':>7} {'failed':>7} {'skipped':>8}")
    for label in (*LABELS, "other"):
        row = [counts[label, result] for result in ("passed", "failed", "skipped")]
        if any(row) or label != "other":
            print(f"{label:<8} {row[0]:>7} {row[1]:>7} {row[2]:>8}")
    for (label, reason), count in reasons.most_common():
        print(f"skipped {label}: {count} x {reason}")
    for (name, reason), count in inside.most_common():
        print(f"skipped inside {name}: {count} x {reason}")
    for name in failed:
        print(f"failed: {name}")
    print(gpu_part(build))
    passed, bad, skipped = (counts["all", result] for result in ("passed", "failed", "skipped"))
    print(f"{passed} passed, {bad} failed, {skipped} skipped")
    return 1 if bad or not passed + skipped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
