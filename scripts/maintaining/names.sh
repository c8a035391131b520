#!/usr/bin/env bash
# Prints the names of a release as outputs of a step: its version, its image, and its tag on npm.
set -euo pipefail

version=${GITHUB_REF_NAME#v}
# Names of images have lower case.
image=ghcr.io/$(tr '[:upper:]' '[:lower:]' <<<"$GITHUB_REPOSITORY")
# A pre-release must not become what "npm install slipway" installs.
case $version in
  *-*) npm_tag=next ;;
  *) npm_tag=latest ;;
esac
printf 'version=%s\nimage=%s\nnpm-tag=%s\n' "$version" "$image" "$npm_tag"
