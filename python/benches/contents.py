"""Contents of an installed distribution, by its metadata and the names in its sources; a child
process of `packages.py`.

    python contents.py DISTRIBUTION

Prints JSON: the licence, the number of test files installed, and for every subject the public names
of classes, functions and parameters that speak of it. Nothing is imported. Compiled modules without
sources are not seen.
"""

from __future__ import annotations

import ast
import importlib.metadata
import json
import pathlib
import re
import sys

SUBJECTS = {
    "position-based": r"(?i)pbm|position_?based|examination",
    "cascade": r"(?i)cascad",
    "DCM": r"(?i)dcm|dependent_?click",
    "rank-one": r"(?i)rank_?(1|one)(_|elim|bandit|$)",
    "dueling": r"(?i)duel|condorcet|copeland",
    "fixed confidence": r"(?i:fixed_?confidence|track_?and_?stop|best_?arm_?ident)|(^|[^Kk])LUCB|BAI$|PAC([A-Z]|$)|Pac[A-Z]",
    "click models": r"(?i)click_?model|user_?browsing",
    "confidence bounds": r"(?i:kl_?ucb|confidence_(radius|bound|interval)|(hoeffding|bernstein)_?(confidence|radius|bound)|_ci$)|[a-z]CI$",
    "lists": r"(?i)len_list|(^|_)top_?k|top_?n$|choiceMultiple|slate|n_recommend",
    "seed": r"^(random_)?(seed|state|rng)$|^rngs$",
    "saved state": r"(?i)^(save|load|get_state|from_state|save_model|load_model|to_json|from_json)$",
    "parallel": r"(?i)^n_?jobs$|^processes$|n_workers|multiprocess",
    "off-policy": r"(?i)off_?policy|offline|doubly_?robust|inverse_?prop",
}


def public_names(source: str) -> set[str]:
    """Public names of classes and functions, and of the parameters of functions."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        if isinstance(node, ast.FunctionDef):
            names.update(argument.arg for argument in node.args.args + node.args.kwonlyargs)
    return {name for name in names if not name.startswith("_")}


def main() -> None:
    found = importlib.metadata.distribution(sys.argv[1])
    files = [file for file in found.files or [] if file.suffix in (".py", ".pyi", ".pyx")]
    names: set[str] = set()
    for file in files:
        path = pathlib.Path(str(found.locate_file(file)))
        try:
            names |= public_names(path.read_text(errors="replace"))
        except (OSError, SyntaxError):  # an extension's source, or a file of Python 2
            continue
    data = found.metadata
    licence = (data.get("License-Expression") or data.get("License") or "").strip().splitlines()
    classifiers = [one.split(" :: ")[-1] for one in data.get_all("Classifier") or [] if one.startswith("License")]
    known = licence and licence[0] not in ("UNKNOWN", "")
    subjects = {
        subject: sorted((name for name in names if re.search(pattern, name)), key=lambda name: (len(name), name))
        for subject, pattern in SUBJECTS.items()
    }
    tests = sum(bool(re.search(r"(^|/)tests?/|(^|/)test_[^/]*$", str(file))) for file in files)
    print(json.dumps({"licence": licence[0] if known else ", ".join(classifiers), "tests": tests, "subjects": subjects}))


if __name__ == "__main__":
    main()
