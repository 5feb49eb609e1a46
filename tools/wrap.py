#!/usr/bin/env python3
"""Wraps comments of Rust and CUDA sources, and paragraphs of Markdown pages, at the width of CONTRIBUTING.md.

    tools/wrap.py [--check] [FILE...]

Without files it wraps all files of the repository. Only paragraphs with a line that is too long change; tables, code
blocks, headings and links that cannot be broken stay. With --check it changes nothing, prints the
lines that are too long and ends with exit code 1 if there are any.
"""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

WIDTH = 110
SOURCES = {".rs": ("///", "//!", "//"), ".cu": ("///", "//"), ".cuh": ("///", "//"), ".hpp": ("///", "//")}
ITEM = re.compile(r"(\s*)([-*+]|\d+[.)])\s+")
# Words with another meaning at the start of a line than inside one.
MARKS = re.compile(r"([-*+#>|=]|\d+[.)]$|```)")


def fill(first, rest, words):
    """Lines of at most WIDTH characters; no line starts with a word that Markdown reads as a mark."""
    lines, line = [], first
    empty = True
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        joined = line + word if empty else line + " " + word
        # Keep a mark with the word before it.
        needed = joined + (" " + following if MARKS.match(following) and following else "")
        if not empty and len(needed) > WIDTH:
            lines.append(line)
            line = rest + word
        else:
            line = joined
        empty = False
    lines.append(line)
    return lines


def wrap_text(prefix, texts):
    """Wraps the lines of one run of comment lines (or of a page): `texts` are the lines without the prefix."""
    out, paragraph, fenced = [], [], False

    def flush():
        if not paragraph:
            return
        if all(len(prefix + text) <= WIDTH for text in paragraph):
            out.extend((prefix + text).rstrip() for text in paragraph)
        else:
            item = ITEM.match(paragraph[0])
            lead = item.group(0) if item else re.match(r"\s*", paragraph[0]).group(0)
            hang = " " * len(lead)
            if item and len(paragraph) > 1:
                hang = re.match(r"\s*", paragraph[1]).group(0) or hang
            words = [word for text in [paragraph[0][len(lead):], *paragraph[1:]] for word in words_of(text)]
            out.extend(fill(prefix + lead, prefix + hang, join_code(words)))
        paragraph.clear()

    for text in texts:
        bare = text.strip()
        if bare.startswith("```"):
            flush()
            fenced = not fenced
            out.append((prefix + text).rstrip())
        elif fenced or not bare or bare.startswith(("|", "#", ">", "<!--")) or (
            text.startswith("    ") and not paragraph and not ITEM.match(text)
        ):
            flush()
            out.append((prefix + text).rstrip())
        else:
            if ITEM.match(text):
                flush()
            paragraph.append(text)
            if text.endswith("  ") or text.endswith("\\"):
                flush()
    flush()
    return out


def words_of(text):
    return text.split()


def join_code(words):
    """Words of one span of code, or of one formula in it, stay on one line where that is short."""
    joined, open_code = [], False
    for word in words:
        if open_code and len(joined[-1]) + len(word) < 60:
            joined[-1] += " " + word
        else:
            joined.append(word)
        if word.count("`") % 2:
            open_code = not open_code
    return joined


def wrapped(path, text):
    lines = text.split("\n")
    if path.suffix == ".md":
        return "\n".join(wrap_text("", lines))
    marks = SOURCES[path.suffix]
    comment = re.compile(r"^(\s*)(" + "|".join(re.escape(mark) for mark in marks) + r")(?!/)( ?)(.*)$")
    out, run, head, fenced = [], [], None, False

    def flush():
        nonlocal head
        if run:
            if any(len(head + text) > WIDTH for text in run):
                out.extend(line.rstrip() for line in wrap_text(head, run))
            else:
                out.extend((head + text).rstrip() for text in run)
            run.clear()
        head = None

    for line in lines:
        found = comment.match(line)
        if not found:
            flush()
            out.append(line)
            continue
        indent, mark, space, rest = found.groups()
        this = indent + mark + " "
        if head is not None and this != head:
            flush()
        head = this
        run.append(rest)
    flush()
    return "\n".join(out)


def too_long(path, text):
    """Lines that the rule forbids: comments, and text of pages, over the width, that could be broken."""
    found, fenced = [], False
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if path.suffix == ".md":
            if bare.startswith("```"):
                fenced = not fenced
            if fenced or bare.startswith(("|", "#", "<", "[")):
                continue
        elif not bare.startswith("//") or bare.lstrip("/! ").startswith("|"):
            continue
        if len(line) > WIDTH and max(map(len, bare.split())) < WIDTH - 20:
            found.append(f"{path}:{number}: {len(line)} characters")
    return found


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    check = "--check" in sys.argv
    if not arguments:
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True)
        arguments = listed.stdout.split("\n")
    long = []
    for name in arguments:
        path = Path(name)
        if path.name == "code-map.md":  # generated, one line a file
            continue
        if path.suffix not in SOURCES and path.suffix != ".md" or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        if not check:
            new = wrapped(path, text)
            if new != text:
                path.write_text(new, encoding="utf-8")
            text = new
        long += too_long(path, text)
    print("\n".join(long))
    sys.exit(1 if long else 0)


if __name__ == "__main__":
    main()
