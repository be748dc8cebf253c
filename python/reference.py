"""Writes every class and function of the installed package with its docstring, as a page of the book:
`python python/reference.py python/target/python-api.md`."""

import inspect
import pathlib
import re
import sys

import click_bandits

HEAD = """# Every class and function

The docstrings of the [Python package](../python/README.md), as `help(click_bandits.fit)` shows them.
"""
SECTIONS = ("Args:", "Returns:", "Raises:", "Examples:")
WIDTH = 100


def public(of):
    return [name for name in vars(of) if not name.startswith("_")]


def signature(name, value):
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    line = f"{name}{found}"
    if len(line) <= WIDTH:
        return line
    parameters, previous = [], None
    for parameter in found.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and previous not in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL):
            parameters.append("*")
        parameters.append(str(parameter))
        previous = parameter.kind
    returns = str(found.replace(parameters=[]))[2:]
    return "\n".join([f"{name}(", *(f"    {one}," for one in parameters), f"){returns}"])


def section(title, lines):
    if title == "Examples:":
        return ["```pycon", *lines, "```"]
    if title == "Returns:":
        return [f"**Returns** {' '.join(lines)}"]
    # A line without indent begins the next name.
    named = [re.sub(r"^([*\w, ]+):", r"- `\1`:", line) if line[:1] != " " else line[2:] for line in lines]
    return [f"**{title[:-1]}**", "", *named]


def documented(value):
    """The docstring in Markdown."""
    out, title, inside = [], None, []
    for line in [*inspect.cleandoc(value.__doc__ or "").splitlines(), None]:
        if title and (line is None or line and not line.startswith("    ")):
            out += [*section(title, inspect.cleandoc("\n".join(inside)).splitlines()), ""]
            title, inside = None, []
        if line in SECTIONS:
            title = line
        elif title:
            inside.append(line)
        elif line is not None:
            out.append(re.sub(r"(?<![`\w])(__\w+__)(?![`\w])", r"`\1`", line))
    return "\n".join(out).rstrip() + "\n"


def entry(name, value, level):
    text = f"\n{'#' * level} `{name}`\n\n"
    if callable(value):
        text += f"```py\n{signature(name.rsplit('.', 1)[-1], value)}\n```\n\n"
    text += documented(value)
    if inspect.isclass(value):
        for member in sorted(public(value)):
            text += entry(f"{name}.{member}", getattr(value, member), level + 1)
    return text


def module(name, of, names):
    first = documented(of) if name != "click_bandits" else ""
    return f"\n## {name}\n\n{first}" + "".join(entry(one, getattr(of, one), 3) for one in sorted(names))


def page():
    submodules = ["models", "confidence", "bounds", "distributed"]
    own = [name for name in click_bandits.__all__ if name not in submodules and not name.startswith("_")]
    text = HEAD + module("click_bandits", click_bandits, own)
    for name in submodules:
        of = getattr(click_bandits, name)
        text += module(f"click_bandits.{name}", of, getattr(of, "__all__", ["simulate", "sweep"]))
    return re.sub(r"\n{3,}", "\n\n", text)


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page())
