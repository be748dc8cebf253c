#!/usr/bin/env bash
# Makes the archive of a release: both programs, which their profiles strip, and the wheel of the
# Python package.
#
#     service/release.sh OUT
#
# OUT gets click-bandits-VERSION-TARGET.tar.gz and its SHA-256. Without pip and maturin there is no wheel.
set -euo pipefail

out=$(mkdir -p "${1:?an output directory is missing}" && cd "$1" && pwd)
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

target=$(rustc -vV | sed -n 's/^host: //p')
version=$(sed -n 's/^version = "\(.*\)"/\1/p' service/Cargo.toml | head -1)
name=click-bandits-$version-$target
mkdir -p "$scratch/$name/bin"
cargo build --locked --quiet --release
cargo build --locked --quiet --release --manifest-path service/Cargo.toml --target-dir service/target \
    --bin click-bandits-serve
for program in target/release/click-bandits service/target/release/click-bandits-serve; do
    cp "$program" "$scratch/$name/bin"
    "$scratch/$name/bin/${program##*/}" --help >/dev/null
done
if python3 -m venv "$scratch/venv" && "$scratch/venv/bin/pip" download --quiet --disable-pip-version-check \
    --no-deps --dest "$scratch/probe" maturin; then
    "$scratch/venv/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$scratch/$name" ./python
    ls "$scratch/$name"/*.whl
else
    echo 'SKIPPED: maturin cannot be had here, there is no wheel'
fi
cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT service/example.toml service/openapi.json docs/service.md "$scratch/$name"
tar --sort=name --owner=0 --group=0 --numeric-owner -C "$scratch" -czf "$out/$name.tar.gz" "$name"
(cd "$out" && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
