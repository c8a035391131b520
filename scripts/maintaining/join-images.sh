#!/usr/bin/env bash
# Makes one image of the images of all platforms, whose digests are the names of the files in a directory. Prints the
# digest of the new image as an output of a step.
set -euo pipefail

sources=()
for file in "$1"/*; do
  sources+=("$IMAGE@sha256:$(basename "$file")")
done
if [ ${#sources[@]} -ne 2 ]; then
  echo "There are ${#sources[@]} digests in $1, and there must be one for each of the two platforms." >&2
  exit 1
fi
docker buildx imagetools create --tag "$IMAGE:$VERSION" "${sources[@]}" >&2
digest=$(docker buildx imagetools inspect "$IMAGE:$VERSION" --format '{{.Manifest.Digest}}')
printf 'digest=%s\n' "$digest"
