#!/usr/bin/env bash
# Moves what users follow to a published release: the tag of the action, such as v0, and the tags of the image. Runs in a
# checkout of the release with all tags.
set -euo pipefail

version=${TAG#v}
major=${version%%.*}
minor=${version%.*}
image=ghcr.io/$(tr '[:upper:]' '[:lower:]' <<<"$GITHUB_REPOSITORY")

if [ "$(npm view "slipway@$version" version 2>/dev/null)" != "$version" ]; then
  echo "::error::npm does not have slipway $version. Approve the staged package, and run this job again."
  exit 1
fi

# The newest release of each kind. A correction of an older version must not move v0 or latest back.
newest() { git tag --list "$1" --sort=-v:refname | grep -v -- - | head -n 1; }

# The publisher in one file, as the release has it. The attestation says that the release workflow built it.
gh release download "$TAG" --repo "$GITHUB_REPOSITORY" --pattern slipway.mjs --dir dist --clobber
gh attestation verify dist/slipway.mjs --repo "$GITHUB_REPOSITORY" \
  --signer-workflow "$GITHUB_REPOSITORY/.github/workflows/release.yml" --source-ref "refs/tags/$TAG"

if [ "$(newest "v$major.*")" = "$TAG" ]; then
  git config user.name 'github-actions[bot]'
  git config user.email '41898282+github-actions[bot]@users.noreply.github.com'
  # The action uses this file, so that no job has to build it.
  git add --force dist/slipway.mjs
  git commit --quiet --message "Add the publisher of $version for the action"
  git tag --force "v$major"
  git push --force origin "refs/tags/v$major"
  echo "v$major is $version now."
fi

tags=()
if [ "$(newest "v$minor.*")" = "$TAG" ]; then tags+=(--tag "$image:$minor"); fi
if [ "$(newest "v$major.*")" = "$TAG" ]; then tags+=(--tag "$image:$major"); fi
if [ "$(newest 'v*.*.*')" = "$TAG" ]; then tags+=(--tag "$image:latest"); fi
if [ ${#tags[@]} -gt 0 ]; then
  docker buildx imagetools create "${tags[@]}" "$image:$version"
  echo "The image $version has the tags: ${tags[*]}"
fi
