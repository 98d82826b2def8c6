#!/usr/bin/env python3
"""Holds the rules of docs/architecture.md that a compiler does not: who may include whom, which
library is confined to which files, how long a file may be and what it may not be called.

    check_layers.py [ROOT]     prints every violation as file:line: why; exit code 1 when there is one
"""

import os
import re
import sys

MAX_LINES = 320

CONTRACT = "threadstore/"

# Folder -> what its files may include by quotes. The longest matching folder counts, so that a
# sub-folder has its own row; a folder may always include itself.
MAY_INCLUDE = {
    "include/threadstore": [],
    "base": [],
    "paths": ["base/"],
    "session_index": ["base/"],
    "state/db": ["base/"],
    "state/schema": ["state/db/", "base/"],
    "state/leases": ["state/store_context.h", "state/schema/", "state/db/", "base/"],
    "state/threads": [
        "state/store_context.h", "state/leases/", "state/schema/", "state/db/", "base/"],
    "state/search": ["state/store_context.h", "state/threads/", "state/db/", "base/"],
    "state/runs": [
        "state/store_context.h", "state/threads/", "state/leases/", "state/schema/", "state/db/",
        "base/"],
    "state/maintenance": ["state/", "base/"],
    "state/transfer": ["state/", "base/"],
    "state": ["state/", "base/"],
    # A foreign SQLite file is read with state/db; the store itself only through the contract.
    "exchange": ["state/db/", "base/"],
    "cli": [],
}
# The one file that composes the parts.
COMPOSER = re.compile(r"state/state_store\.cpp$")
COMPOSER_MAY_INCLUDE = ["state/", "session_index/", "paths/", "base/"]

# Library header -> the product files that may include it. Tests may include what they like.
CONFINED = [
    (re.compile(r"SQLiteCpp/|sqlite3\.h$"), re.compile(r"state/db/"), "state/db"),
    (re.compile(r"boost/interprocess/"), re.compile(r"base/file_lock|state/db/\w*gate\w*\."),
     "base/file_lock and the gate's mapping"),
    (re.compile(r"CLI/"), re.compile(r"cli/"), "cli"),
    (re.compile(r"histedit\.h$|editline/"), re.compile(r"cli/"), "cli"),
    (re.compile(r"openssl/"), re.compile(r"base/sha256\.cpp$"), "base/sha256.cpp"),
    (re.compile(r"zstd\.h$"), re.compile(r"exchange/byte_source\.cpp$"), "exchange/byte_source.cpp"),
    (re.compile(r"md4c"), re.compile(r"exchange/html_markdown\.cpp$"), "exchange/html_markdown.cpp"),
    (re.compile(r"spdlog/"), re.compile(r"base/log\.cpp$"), "base/log.cpp"),
]
# The contract needs nothing but the standard library and this.
CONTRACT_LIBRARY = re.compile(r"nlohmann/json_fwd\.hpp$|[a-z_]+(\.h)?$")

FORBIDDEN_NAMES = {"util", "utils", "helper", "helpers", "common", "misc", "types"}
SOURCES = (".h", ".cpp", ".py", ".sh", ".cmake")
PRODUCT = ("include", "base", "paths", "session_index", "state", "exchange", "cli")
CHECKED = PRODUCT + ("tests", "scripts", "cmake")

INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')
SQLITE_CALL = re.compile(r"\bsqlite3_\w+\s*\(|\bSQLite::")
# What another database engine would not take; state/db speaks SQLite and is exempt.
UNPORTABLE_SQL = re.compile(
    r"\bINSERT OR REPLACE\b|\bjson_extract\s*\(|\bstrftime\s*\(|\bunixepoch\s*\("
    r"|\bOFFSET [?:\d]", re.IGNORECASE)


def files(root):
    """Every source of the checked folders, as a path relative to the root with '/' in it."""
    for top in CHECKED:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(SOURCES) or name == "CMakeLists.txt":
                    yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def folder_of(path):
    """The row of MAY_INCLUDE that governs the file."""
    matches = [folder for folder in MAY_INCLUDE if path.startswith(folder + "/")]
    return max(matches, key=len, default=None)


def include_problem(path, quote, target):
    """Why this file must not include that header; nothing when it may."""
    folder = folder_of(path)
    for library, where, words in CONFINED:
        if library.match(target) and not where.match(path):
            return f"<{target}> stays in {words}"
    if quote == "<":
        if folder == "include/threadstore" and not CONTRACT_LIBRARY.match(target):
            return f"the contract may include std and nlohmann/json_fwd.hpp only, not <{target}>"
        if path.endswith(".h") and folder != "cli" and target == "nlohmann/json.hpp":
            return "headers include nlohmann/json_fwd.hpp: the whole library costs seconds"
        return None
    if target.startswith(CONTRACT):
        return None
    allowed = MAY_INCLUDE[folder] + [folder + "/"]
    if COMPOSER.match(path):
        allowed = COMPOSER_MAY_INCLUDE
    if not any(target.startswith(prefix) for prefix in allowed):
        return f'{folder} may not include "{target}"'
    return None


def line_problem(path, line):
    """A violation in one line of a product source; nothing when there is none."""
    include = INCLUDE.match(line)
    if include:
        return include_problem(path, *include.groups())
    code = line.split("//")[0]
    if not path.startswith("state/db/"):
        call = SQLITE_CALL.search(code)
        if call:
            return f"SQLite is used only in state/db, not here: {call.group(0).strip()}"
        if path.startswith("state/"):
            sql = UNPORTABLE_SQL.search(code)
            if sql:
                return f"not in the portable subset of SQL: {sql.group(0)}"
    return None


def problems(root):
    """Every violation as (file, line number, why)."""
    for path in files(root):
        with open(os.path.join(root, path), encoding="utf-8") as source:
            lines = source.read().splitlines()
        if len(lines) > MAX_LINES:
            yield path, len(lines), f"longer than {MAX_LINES} lines: give a group of operations away"
        for part in re.split(r"[/.]", path):
            if FORBIDDEN_NAMES & set(part.split("_")):
                yield path, 1, f"'{part}' names no idea: say what it holds"
        if path.startswith(PRODUCT) and path.endswith((".h", ".cpp")):
            for number, line in enumerate(lines, 1):
                problem = line_problem(path, line)
                if problem:
                    yield path, number, problem


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..")
    found = list(problems(root))
    for path, number, why in found:
        print(f"{path}:{number}: {why}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
