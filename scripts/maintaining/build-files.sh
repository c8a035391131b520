#!/usr/bin/env bash
# Builds the files of a release into a directory: the package, the publisher in one file, what the package contains
# (SBOM), and the SHA-256 of each.
set -euo pipefail

mkdir -p "$1"
npm pack --pack-destination "$1"
cp dist/slipway.mjs "$1"
node scripts/maintaining/sbom.ts >"$1/slipway.cdx.json"
cd "$1"
sha256sum -- * >SHA256SUMS
cat SHA256SUMS
