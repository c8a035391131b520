#!/usr/bin/env bash
# Makes one image of the images of all platforms, whose digests are the names of the files in a directory. Prints the
# digest of the new image as an output of a step.
set -euo pipefail

sources=()
for file in "$1"/*; do
  sources+=("$IMAGE@sha256:$(basename "$file")")
done
if [ ${#sources[@]} -ne 2 ]; then
  echo "The directory $1 names ${#sources[@]} of the 2 images (amd64 and arm64). Run the failed job \"Image\" again." >&2
  exit 1
fi
docker buildx imagetools create --tag "$IMAGE:$VERSION" "${sources[@]}" >&2
digest=$(docker buildx imagetools inspect "$IMAGE:$VERSION" --format '{{.Manifest.Digest}}')
printf 'digest=%s\n' "$digest"
