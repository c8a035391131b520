#!/usr/bin/env bash
# Creates the draft of a release with its files. A draft is visible to maintainers only.
set -euo pipefail

prerelease=()
case $GITHUB_REF_NAME in
  *-*) prerelease=(--prerelease) ;;
esac
# A run that is repeated replaces its own draft.
if [ "$(gh release view "$GITHUB_REF_NAME" --repo "$GITHUB_REPOSITORY" --json isDraft --jq .isDraft 2>/dev/null)" = true ]; then
  gh release delete "$GITHUB_REF_NAME" --repo "$GITHUB_REPOSITORY" --yes
fi
# ${…[@]+…}: bash 3.2 takes an empty list for an unset variable.
gh release create "$GITHUB_REF_NAME" "$1"/* --repo "$GITHUB_REPOSITORY" --draft --verify-tag \
  --title "Slipway ${GITHUB_REF_NAME#v}" --notes-file "$2" ${prerelease[@]+"${prerelease[@]}"}
