#!/usr/bin/env bash
# Prints the names of a release as outputs of a step: its version, its image, and its tag on npm.
set -euo pipefail

version=${GITHUB_REF_NAME#v}
# Names of images have lower case.
image=ghcr.io/$(tr '[:upper:]' '[:lower:]' <<<"$GITHUB_REPOSITORY")
case $version in
  # A pre-release must not become what "npm install slipway" installs.
  *-*) npm_tag=next ;;
  *)
    answer=$(mktemp)
    if ! latest=$(npm view slipway dist-tags.latest 2>"$answer"); then
      # Only a package that does not exist has no latest version.
      grep -q E404 "$answer" || { cat "$answer" >&2 && exit 1; }
      latest=
    fi
    # Of a new package, npm may call a pre-release or its placeholder the latest.
    case $latest in *-*) latest= ;; esac
    newest=$(printf '%s\n' "$latest" "$version" | sort --version-sort | tail -n 1)
    # A correction of an older minor version must not become it either. npm refuses tags that are versions, such as 0.1.
    if [ "$newest" = "$version" ]; then npm_tag=latest; else npm_tag=release-${version%.*}; fi
    ;;
esac
printf 'version=%s\nimage=%s\nnpm-tag=%s\n' "$version" "$image" "$npm_tag"
