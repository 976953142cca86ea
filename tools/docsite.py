"""Build the site of the documentation in build/site: ``make docs``. ``--serve`` shows it, and builds nothing else.

The site is made of the pages in docs/ and of pages that are rendered here. These are the reference of the SQL API, of
the Python API, of the command line and of options. In the repository a link to one of those leads to the source that it
is rendered from. All pages are laid in build/docs first, with links that hold there, and with diagrams drawn.

Zensical refuses links between pages that lead nowhere. The rest is checked here: pages that are in no navigation, files
that are missing, and whatever a reader's browser would fetch from another host.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import cli_pages
import option_pages
import python_pages

from howdah.procedures import reference

ROOT = Path(__file__).parent.parent
PAGES, SITE = Path("build/docs"), Path("build/site")

_FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[((?:[^][]|\[[^][]*\])*)\]\(([^()\s]+)\)")
_ITEM = re.compile(r"( *)([-*]|\d+\.) +(?=\S)")
_DIAGRAM = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sources() -> dict[str, str]:
    """The pages that are rendered: by their path in the site, the source that stands for them."""
    sql = {f"sql/{group}.md": f"procedures/{group}" for group in reference.TITLES}
    python = {f"python/{page.name}.md": page.source for page in python_pages.PAGES}
    cli = {f"cli/{page.name}.md": page.source for page in cli_pages.PAGES}
    return {**sql, **python, **cli, **{f"options/{owner.name}.md": owner.source for owner in option_pages.OWNERS}}


@cache
def rendered() -> dict[str, tuple[str, str]]:
    """The same pages: by their path in the site, the source and their text. It takes seconds."""
    parts = {
        "sql": reference.render(),
        "python": python_pages.render(),
        "cli": cli_pages.render(),
        "options": option_pages.render(),
    }
    return {page: (source, parts[Path(page).parent.name][Path(page).stem]) for page, source in sources().items()}


def written(root: Path) -> dict[str, str]:
    """The pages that people write: by their path in the repository, that in the site."""
    pages = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
    for page in sorted((root / "docs").rglob("*.md")):
        pages[page.relative_to(root).as_posix()] = page.relative_to(root / "docs").as_posix()
    return pages


def decisions(root: Path) -> str:
    """The page of the decisions, which in the repository is their folder."""
    lines = []
    for page in sorted((root / "docs" / "decisions").glob("*.md")):
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        lines.append(f"- [{title}]({page.name})")
    return "# Decisions\n\nThese pages say why Howdah is built as it is.\n\n" + "\n".join(lines) + "\n"


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with what is not in a fenced block changed."""
    parts = _FENCED.split(text)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))


def linked(text: str, page: str, here: str, places: dict[str, str], root: Path) -> str:
    """The text of a page with its links as they are in the site.

    A link to a file that the site does not have becomes its text: the site does not know where the repository is. A
    link that leads nowhere stays, so that the build refuses it.
    """

    def change(match: re.Match[str]) -> str:
        words, target = match[1], match[2]
        path, _, anchor = target.partition("#")
        if not path or urlsplit(target).scheme:
            return match[0]
        found = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if found in places:
            path = os.path.relpath(places[found], os.path.dirname(here) or ".")
            return f"[{words}]({path}{'#' if anchor else ''}{anchor})"
        return words if (root / found).exists() else match[0]

    return outside_code(text, lambda part: _LINK.sub(change, part))


def indented(text: str) -> str:
    """The text with its lists indented by fours. Zensical's Markdown takes less for no depth, CommonMark for some."""
    lines, inside = [], list[int]()  # where the text of each open item begins
    empty = fenced = False
    shift = 0
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        fence = line.lstrip(" ").startswith("```")
        if fenced:
            # Code keeps its own indents, and what looks like a list there is none.
            lines.append(" " * shift + line if line else line)
            fenced = not fence
            continue
        item = _ITEM.match(line)
        # A line without an indent goes on with a paragraph, or ends the lists after an empty line.
        if line and (item or indent or empty):
            while inside and inside[-1] > indent:
                inside.pop()
        shift = 4 * len(inside) - inside[-1] if inside and indent else 0
        if line:
            line = " " * (indent + shift) + line.lstrip(" ")
        fenced = fence
        if item:
            inside.append(len(item[0]))
        empty = not line
        lines.append(line)
    return "\n".join(lines)


def drawn(text: str, folder: Path, here: str) -> str:
    """The text with its diagrams as pictures, one for each palette."""

    def draw(match: re.Match[str]) -> str:
        # Rendered only here, for it takes a second for each picture.
        import mermaidx

        pictures = []
        for theme, scheme in (("default", "light"), ("dark", "dark")):
            name = f"diagrams/{hashlib.sha256(match[1].encode()).hexdigest()[:16]}-{scheme}.svg"
            picture = folder / name
            if not picture.exists():
                picture.parent.mkdir(exist_ok=True)
                picture.write_text(mermaidx.render(match[1], theme=theme).svg(), encoding="utf-8")
            source = os.path.relpath(name, os.path.dirname(here) or ".")
            pictures.append(f"![Diagram]({source}#only-{scheme})")
        return "\n".join(pictures)

    return _DIAGRAM.sub(draw, text)


def lay(root: Path, folder: Path) -> None:
    """Lay all pages into the folder that the site is built from."""
    made = rendered()
    files = {
        file: file.relative_to(root / "docs")
        for file in (root / "docs").rglob("*")
        if file.is_file() and file.suffix != ".md"
    }
    # Programs to copy lie beside docs/, and readers of the site want them, too.
    files |= {file: file.relative_to(root) for file in (root / "examples").iterdir()}
    places = {file.relative_to(root).as_posix(): path.as_posix() for file, path in files.items()}
    places |= {**written(root), **{source: here for here, (source, _) in made.items()}}
    places["docs/decisions"] = "decisions/index.md"
    if folder.exists():
        for old in folder.iterdir():
            # Diagrams are named after what they show, and take long to draw.
            if old.name != "diagrams":
                shutil.rmtree(old) if old.is_dir() else old.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    for file, path in files.items():
        copy = folder / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    texts = {here: (page, (root / page).read_text(encoding="utf-8")) for page, here in written(root).items()}
    texts |= {here: (f"docs/{here}", text) for here, (_, text) in made.items()}
    texts["decisions/index.md"] = ("docs/decisions/index.md", decisions(root))
    for here, (page, text) in texts.items():
        target = folder / here
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(drawn(indented(linked(text, page, here, places, root)), folder, here), encoding="utf-8")


class _Page(HTMLParser):
    """What a page of the site refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.linked: list[str] = []
        self.navigation: list[str] = []
        self.mermaid = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        classes = values.get("class", "").split()
        # The theme's script fetches Mermaid from another host for an element of this class.
        self.mermaid |= "mermaid" in classes
        if "src" in values:
            self.fetched.append(values["src"])
        if "href" in values:
            if tag == "link" and values.get("rel") not in ("canonical", "next", "prev"):
                self.fetched.append(values["href"])
            self.linked.append(values["href"])
            if "md-nav__link" in classes:
                self.navigation.append(values["href"])


def wrong(site: Path) -> Iterator[str]:
    """What is wrong with a site that was built."""
    named: set[Path] = set()
    pages = sorted(page for page in site.rglob("*.html") if page.name != "404.html")
    for page in pages:
        parsed = _Page(page.read_text(encoding="utf-8"))
        name = page.relative_to(site).as_posix()
        if parsed.mermaid:
            yield f"{name} has a diagram that was not drawn"
        for target in parsed.fetched:
            if urlsplit(target).netloc:
                yield f"{name} fetches {target}"
        for target in {*parsed.fetched, *parsed.linked}:
            parts = urlsplit(target)
            if not parts.scheme and not parts.netloc and parts.path:
                file = (page.parent / unquote(parts.path)).resolve()
                if not (file / "index.html" if file.is_dir() else file).is_file():
                    yield f"{name} links to {target}, which is not there"
        named |= {(page.parent / unquote(urlsplit(target).path)).resolve() for target in parsed.navigation}
    for page in pages:
        if page.resolve() not in named:
            yield f"{page.relative_to(site)} is in no navigation: docs/.nav.yml"


def build(root: Path = ROOT) -> list[str]:
    """Build the site anew; what is wrong with it, if anything is."""
    lay(root, root / PAGES)
    shutil.rmtree(root / SITE, ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        # Its traceback says nothing about the pages.
        return [(done.stdout + done.stderr).partition("Traceback")[0].strip()]
    return sorted(set(wrong(root / SITE)))


def main() -> None:
    """Build or serve the site."""
    if sys.argv[1:] == ["--serve"]:
        lay(ROOT, ROOT / PAGES)
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "zensical", "serve"])
    problems = build()
    if problems:
        sys.exit("\n".join(problems))
    print(f"The site is in {SITE}: open {SITE / 'index.html'}")


if __name__ == "__main__":
    main()
