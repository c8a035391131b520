#!/usr/bin/env bash
# Publishes with the command line in a container, and asks the service in another one, as docs/operations/containers.md
# shows. Needs .env with the settings.
set -euo pipefail

build=$(mktemp -d)
echo 'I am version 1.0.0' >"$build/app"
docker compose up --build --detach --wait --wait-timeout 120 slipway
docker compose run --rm --volume "$build:/build:ro" cli \
  publish 1.0.0 /build/app,os=linux,arch=x64,format=binary --create
docker compose run --rm cli doctor
for _ in $(seq 30); do
  # The service sees a release within five seconds.
  if curl -sSf http://127.0.0.1:8080/api/v1/desktop/latest-version | grep '"version":"1.0.0"'; then break; fi
  sleep 1
done
# The link leads to the store, at the address that this machine reaches.
curl -sSfL http://127.0.0.1:8080/api/v1/desktop/download/linux | diff - "$build/app"
echo 'The containers published and served a release.'
