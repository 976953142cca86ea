"""A Python that runs one block after the other, with the names of those before.

Blocks come on stdin, each with an end.
"""

import ast
import asyncio
import inspect
import sys
import traceback


def main(end: str) -> None:
    names: dict[str, object] = {"__name__": "page"}
    lines: list[str] = []
    with asyncio.Runner() as runner:
        for line in sys.stdin:
            if line.rstrip("\n") != end:
                lines.append(line)
                continue
            failed = 0
            try:
                code = compile("".join(lines), "<page>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
                ran = eval(code, names)
                if code.co_flags & inspect.CO_COROUTINE:
                    runner.run(ran)
            except Exception:  # noqa: BLE001 - whatever a page raises is shown as Python shows it
                traceback.print_exc()
                failed = 1
            lines.clear()
            sys.stderr.flush()
            print(end, failed, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
