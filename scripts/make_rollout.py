#!/usr/bin/env python3
"""Writes a Codex rollout of about SIZE mebibytes to FILE, to measure an import with:

    make_rollout.py SIZE FILE
    /usr/bin/time -v threadstore --db /tmp/t.db import FILE
"""

import json
import sys

WORDS = "parser token error branch file line test value index cache write read".split()
SESSION = "01990000-0000-7000-8000-0000000000ff"


def lines():
    """The lines of an endless session: turns of an input, a tool's call and output, an answer."""
    ordinal = 0

    def line(kind, payload):
        nonlocal ordinal
        text = json.dumps({"timestamp": "2026-03-01T10:00:00.000Z", "ordinal": ordinal,
                           "type": kind, "payload": payload}, separators=(",", ":"))
        ordinal += 1
        return text + "\n"

    def message(role, kind, text):
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    yield line("session_meta", {"id": SESSION, "timestamp": "2026-03-01T10:00:00.000Z",
                                "cwd": "/w/demo", "cli_version": "0.171.0", "source": "cli"})
    turn = 0
    while True:
        turn += 1
        words = " ".join(WORDS[(turn * step) % len(WORDS)] for step in range(1, 40))
        question = f"question {turn} {words}"
        answer = f"answer {turn} {words} {words}"
        yield line("event_msg", {"type": "task_started", "turn_id": str(turn)})
        yield line("response_item", message("user", "input_text", question))
        yield line("event_msg", {"type": "user_message", "message": question})
        call = f"call_{turn}"
        yield line("response_item", {"type": "function_call", "name": "shell", "call_id": call,
                                     "arguments": json.dumps({"command": ["ls", words]})})
        yield line("response_item", {"type": "function_call_output", "call_id": call,
                                     "output": "\n".join([words] * 5)})
        yield line("event_msg", {"type": "agent_message", "message": answer})
        yield line("response_item", message("assistant", "output_text", answer))
        yield line("event_msg", {"type": "task_complete", "turn_id": str(turn)})


def main():
    size, name = int(sys.argv[1]) << 20, sys.argv[2]
    written = 0
    with open(name, "w", encoding="utf-8") as file:
        for line in lines():
            written += file.write(line)
            if written >= size:
                break


if __name__ == "__main__":
    main()
