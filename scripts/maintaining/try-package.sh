#!/usr/bin/env bash
# Installs the package in an empty directory, as a user does, and runs the demo and the updater for applications with
# the Node of the machine.
set -euo pipefail

work=$(mktemp -d)
npm pack --silent --pack-destination "$work" >"$work/name"
cd "$work"
echo '{ "private": true }' >package.json
npm install --silent --no-fund --no-audit "./$(tail -n 1 name)"
npx --no-install slipway --version
PORT=0 npx --no-install slipway demo --once
npx --no-install slipway skill | grep '^name: slipway$'
node -e "if (typeof require('slipway/client').createUpdater !== 'function') process.exit(1)"
node --input-type=module -e "import { createUpdater } from 'slipway/client'; if (typeof createUpdater !== 'function') process.exit(1)"
echo "The package works with Node $(node --version)."
