#!/usr/bin/env bash
# Stages the package on npm. A maintainer with 2FA approves it: until then, no user can install it.
set -euo pipefail

# Staging needs npm 11.15, and Node brings an older one.
npm install --global --ignore-scripts npm@11.19.1
if [ -n "$STAGE_TOKEN" ]; then
  # The configuration names the variable, so that the token is in no file.
  npm config set --location=project "$(npm config get registry | sed 's/^https://'):_authToken" "\${STAGE_TOKEN}"
fi
package=$(ls "$1"/slipway-*.tgz)
# Without "./", npm would take the path for the name of a package.
npm stage publish "./$package" --access public --provenance --tag "$NPM_TAG"
