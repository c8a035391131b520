#!/usr/bin/env bash
# Installs the package in an empty directory, as a user does, and goes through its story with the Node of the machine:
# the demo, a publish, a running service, a rollout, a stop, and the updater for applications.
set -euo pipefail

work=$(mktemp -d)
serving=
finish() {
  code=$?
  if [ -n "$serving" ]; then kill "$serving" || true; fi
  cd / && rm -rf "$work"
  exit "$code"
}
trap finish EXIT

npm pack --silent --pack-destination "$work" >"$work/packed"
cd "$work"
echo '{ "private": true }' >package.json
npm install --silent --no-fund --no-audit --prefer-offline "./$(tail -n 1 packed)"
slipway() { node node_modules/slipway/dist/scripts/slipway.js "$@"; }
# What a command must print.
prints() { grep -F -- "$1" >/dev/null || { echo "Not printed: $1" && exit 1; }; }

npx --no-install slipway --version
slipway skill | prints 'name: slipway'
DATA_DIR=demo PORT=0 slipway demo --once
export DATA_DIR=data PORT=0 METRICS_PORT=0 SLIPWAY_ACTOR=ci
echo 'I am version 1.0.0' >app-1
echo 'I am version 1.1.0' >app-2
words=os=linux,arch=x64,format=binary
if slipway publish 1.0.0 "app-1,$words" 2>refused; then
  echo 'The first publish must need --create.'
  exit 1
elif [ $? -ne 3 ]; then
  cat refused
  exit 1
fi
slipway publish 1.0.0 "app-1,$words" --create --json | prints '"created_channel": true'
slipway publish 1.1.0 "app-2,$words" --rollout 0 | prints 'Published desktop 1.1.0'

node node_modules/slipway/dist/scripts/slipway.js serve >serve.log &
serving=$!
for _ in $(seq 150); do
  address=$(sed -n 's/.*slipway is listening on \(http:[^"]*\)".*/\1/p' serve.log)
  [ -z "$address" ] || break
  sleep 0.2
done
check() {
  curl -sS --fail-with-body "$address/api/v1/desktop/check-update" -H 'content-type: application/json' \
    -d '{"current_version":"1.0.0","platform":"linux","arch":"x64"}'
}
# The service sees a change within five seconds.
until_checked() {
  for _ in $(seq 40); do
    if check | grep -F -- "$1" >/dev/null; then return; fi
    sleep 0.5
  done
  echo "No answer had $1: $(check)"
  exit 1
}
check | prints '"reason":"held_by_rollout"'
slipway rollout 1.1.0 --complete | prints '1.1.0'
until_checked '"version":"1.1.0"'
curl -sSL --fail-with-body "$address/api/v1/desktop/download/linux" | diff - app-2
# What browsers load is in the package.
curl -sS --fail-with-body "$address/elements/download.js" | prints 'slipway-download'
curl -sS --fail-with-body -L "$address/" | prints '<h1'
curl -sS --fail-with-body "$address$(curl -sS "$address/console" | grep -o '/assets/console-[^"]*js')" >/dev/null
slipway yank 1.1.0 --reason 'a test' | prints 'Yanked'
until_checked '"reason":"up_to_date"'
slipway explain --version 1.0.0 --platform linux --arch x64 | prints '1.0.0'
slipway verify --deep >/dev/null
slipway doctor >/dev/null
kill -TERM "$serving"
# Windows has no signals, so the service cannot stop by itself there.
wait "$serving" || [ "${OS:-}" = Windows_NT ]
serving=

node -e "if (typeof require('slipway/client').createUpdater !== 'function') process.exit(1)"
node --input-type=module -e "import { createUpdater } from 'slipway/client'; if (typeof createUpdater !== 'function') process.exit(1)"
echo "The package works with Node $(node --version)."
