#!/usr/bin/env bash
# Moves what users follow to a published release: with "action" the tag of the action, such as v0, and with "image" the
# tags of the image. Runs in a checkout with all tags, of any commit.
set -euo pipefail

version=${TAG#v}
major=${version%%.*}
minor=${version%.*}

# The newest published release whose version begins so. Drafts and abandoned tags do not count, and a correction of an
# older version must not move a name back.
released=$(gh release list --repo "$GITHUB_REPOSITORY" --exclude-drafts --exclude-pre-releases --limit 1000 \
  --json tagName --jq '.[].tagName')
if ! grep -Fqx "$TAG" <<<"$released"; then
  echo "::error::$TAG is not a published release, or it is a pre-release. If you have just published it, run this job again."
  exit 1
fi
newest() { grep -E "^v$1" <<<"$released" | sort --version-sort | tail -n 1; }

# npm must have the package of this release, and no other.
gh release download "$TAG" --repo "$GITHUB_REPOSITORY" --pattern slipway.mjs --pattern "slipway-$version.tgz" \
  --dir dist --clobber
integrity=sha512-$(openssl dgst -sha512 -binary "dist/slipway-$version.tgz" | base64 --wrap=0)
published=$(npm view "slipway@$version" dist.integrity 2>/dev/null || true)
if [ -z "$published" ]; then
  echo "::error::npm does not have slipway $version. Approve the staged package, and run this job again."
  exit 1
elif [ "$published" != "$integrity" ]; then
  echo "::error::npm has another package than the release. Find out who published it: docs/maintaining/release.md, \"A bad release\"."
  exit 1
fi

move_action() {
  if [ "$(newest "$major\.")" != "$TAG" ]; then
    echo "::notice::v$major stays: there is a newer release."
    return
  fi
  # The attestation says that the release workflow built this file from this tag.
  gh attestation verify dist/slipway.mjs --repo "$GITHUB_REPOSITORY" \
    --signer-workflow "$GITHUB_REPOSITORY/.github/workflows/release.yml" --source-ref "refs/tags/$TAG"
  export GIT_AUTHOR_NAME='github-actions[bot]' GIT_AUTHOR_EMAIL='41898282+github-actions[bot]@users.noreply.github.com'
  export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
  # The same commit again, when this runs again.
  GIT_AUTHOR_DATE=$(git log -1 --format=%cI "refs/tags/$TAG^{commit}")
  export GIT_AUTHOR_DATE GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
  # The files of the release, the publisher so that no job has to build it, and no workflows: the token of a job may not
  # push a tag whose workflows differ from the ones that it had.
  GIT_INDEX_FILE=$(git rev-parse --git-dir)/index-of-action
  export GIT_INDEX_FILE
  git read-tree "refs/tags/$TAG"
  git rm -r --quiet --cached --force --ignore-unmatch .github
  publisher=$(git hash-object -w --no-filters dist/slipway.mjs)
  git update-index --add --cacheinfo "100644,$publisher,dist/slipway.mjs"
  tree=$(git write-tree)
  commit=$(git commit-tree "$tree" -p "refs/tags/$TAG^{commit}" -m "Add the publisher of $version for the action")
  rm -f "$GIT_INDEX_FILE"
  unset GIT_INDEX_FILE
  # The second tag keeps this commit for publishers who name its hash.
  git push --force origin "$commit:refs/tags/v$major" "$commit:refs/tags/action-v$version"
  echo "v$major is $version now."
}

move_image() {
  image=ghcr.io/$(tr '[:upper:]' '[:lower:]' <<<"$GITHUB_REPOSITORY")
  tags=()
  if [ "$(newest "$minor\.")" = "$TAG" ]; then tags+=(--tag "$image:$minor"); fi
  if [ "$(newest "$major\.")" = "$TAG" ]; then tags+=(--tag "$image:$major"); fi
  if [ "$(newest '')" = "$TAG" ]; then
    tags+=(--tag "$image:latest")
    # The website follows the newest release.
    echo 'latest=true' >>"$GITHUB_OUTPUT"
  fi
  if [ ${#tags[@]} -eq 0 ]; then
    echo "::notice::No tag of the image moves: there are newer releases."
    return
  fi
  docker buildx imagetools create "${tags[@]}" "$image:$version"
  echo "The image $version has these tags now: ${tags[*]}"
}

case $1 in
  action) move_action ;;
  image) move_image ;;
esac
