#!/usr/bin/env python3
"""Measures search and import with the release build, in a directory that is removed afterwards:

    history_bench.py [--messages N] [--mebibytes M] [--directory DIR]

Search: a store of N messages (1,000,000) in 1,000 threads, texts of 10 to 60 words whose frequencies
fall as those of a language do (Zipf), from a vocabulary of 50,000. Told are the messages a second that
the first search takes in, and the times of whole `threadstore search` processes, the median of 9.
Import: a Codex rollout of M mebibytes (1024) made by make_rollout.py. Told are messages and MiB a
second and the peak memory of the process.
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(ROOT, "build/release/cli/threadstore")
SYLLABLES = [first + vowel + last for first in "bcdfghjklmnprstvw" for vowel in "aeiou"
             for last in ("", "", "n", "r", "s", "t", "l")]
THREADS = 1000


def vocabulary(count):
    """That many words, the most frequent first, which are mostly the short ones."""
    made = random.Random(7)
    words, seen = [], set()
    while len(words) < count:
        word = "".join(made.choice(SYLLABLES) for _ in range(made.randint(1, 4)))
        if word not in seen:
            seen.add(word)
            words.append(word)
    order = {word: len(word) + 6 * number / count for number, word in enumerate(words)}
    return sorted(words, key=order.get)


def texts(count, words):
    """The messages: lines for `append --jsonl`."""
    made = random.Random(42)
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    pool = made.choices(words, weights=weights, k=4_000_000)
    at = 0
    for number in range(count):
        length = made.randint(10, 60)
        if at + length > len(pool):
            at = made.randint(0, 50)
        text = " ".join(pool[at:at + length])
        at += length
        yield json.dumps({"role": "user" if number % 2 == 0 else "assistant",
                          "content": f"{text} item_{number}"}) + "\n"


def processor_time():
    """Seconds that the programs started so far were computing: what a busy machine changes least."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(arguments, **more):
    """Seconds, and what the program printed."""
    start = time.monotonic()
    done = subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True, **more)
    return time.monotonic() - start, done.stdout


def run_alone(arguments):
    """Seconds, peak memory in MiB, and what the program printed."""
    start = time.monotonic()
    child = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, text=True)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(arguments)}: it ended with status {status}")
    return time.monotonic() - start, usage.ru_maxrss / 1024, out


def measure_search(home, count):
    words = vocabulary(50_000)
    lines = texts(count, words)
    made = 0
    while made < count:
        thread = run(["--home", home, "new"])[1].strip()
        share = "".join(line for _, line in zip(range(-(-count // THREADS)), lines))
        made += share.count("\n")
        run(["--home", home, "append", thread, "--jsonl", "-"], input=share)
    before = processor_time()
    seconds = run(["--home", home, "search", "item_1"])[0]
    print(f"catching up with {made:,} messages: {seconds:.1f} s ({processor_time() - before:.1f} s of a "
          f"processor), {made / seconds:,.0f} messages/s")
    sizes = [os.path.getsize(os.path.join(home, name)) for name in ("state.db", "search.db")]
    print(f"state.db {sizes[0] >> 20} MiB, search.db {sizes[1] >> 20} MiB")
    queries = {
        "one identifier": [f"item_{count // 2}"],
        "a rare word": [words[-1]],
        "a word of rank 1,000": [words[1000]],
        "a word of rank 100": [words[100]],
        "the most frequent word of three letters": [next(w for w in words if len(w) > 2)],
        "two words": [words[50], words[200]],
        "a phrase": [f'"{words[5]} {words[10]}"'],
        "part of an identifier": [f"tem_{count // 2}"],
        "newest first, a frequent word": ["--newest", words[20]],
        "nothing to find": ["xyzzyplugh"],
    }
    for what, query in queries.items():
        before = processor_time()
        took = [run(["--home", home, "search", *query])[0] for _ in range(9)]
        print(f"{what}: {statistics.median(took) * 1000:.0f} ms "
              f"({(processor_time() - before) / 9 * 1000:.0f} ms of a processor)", flush=True)


def measure_import(directory, mebibytes):
    rollout = os.path.join(directory, "rollout.jsonl")
    subprocess.run([os.path.join(ROOT, "scripts/make_rollout.py"), str(mebibytes), rollout], check=True)
    home = os.path.join(directory, "import")
    before = processor_time()
    seconds, peak, out = run_alone(["--home", home, "import", rollout, "--json"])
    computed = processor_time() - before
    count = json.loads(out)["messages"]
    print(f"import of {mebibytes} MiB: {count:,} messages, {seconds:.1f} s, {count / seconds:,.0f} messages/s, "
          f"{mebibytes / seconds:.0f} MiB/s ({computed:.1f} s of a processor), peak memory {peak:.0f} MiB")
    seconds, peak, _ = run_alone(["--home", home, "import", rollout, "--json"])
    print(f"the same once more: {seconds:.1f} s, peak memory {peak:.0f} MiB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--mebibytes", type=int, default=1024)
    parser.add_argument("--directory", help="where; the file system is what is measured")
    options = parser.parse_args()
    subprocess.run([os.path.join(ROOT, "scripts/build.sh"), "release", "threadstore_program"], check=True)
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        # First: a new process is said to have had the memory of the one that started it.
        if options.mebibytes > 0:
            measure_import(directory, options.mebibytes)
        if options.messages > 0:
            measure_search(os.path.join(directory, "search"), options.messages)


if __name__ == "__main__":
    main()
