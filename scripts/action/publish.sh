#!/usr/bin/env bash
# Runs the publisher for action.yml. It works with bash 3.2 on macOS, and with Git Bash on Windows.
set -euo pipefail

directory=$GITHUB_ACTION_PATH
cache=${RUNNER_TOOL_CACHE:-}
# Both bash and Node understand Windows paths with forward slashes.
if command -v cygpath >/dev/null; then
  directory=$(cygpath -m "$directory")
  [ -z "$cache" ] || cache=$(cygpath -m "$cache")
fi
publisher=$directory/dist/slipway.mjs

# Uses the Node of the job when that Node is new enough. Does not change the Node of the job.
find_node() {
  local candidate
  for candidate in node \
    "$directory"/node_modules/node/bin/node "$directory"/node_modules/node/bin/node.exe \
    "$cache"/node/*/*/bin/node "$cache"/node/*/*/node.exe; do
    if "$candidate" "$directory/src/check-node.js" >/dev/null 2>&1; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

# "npm ci" also installs a Node that is new enough, in node_modules of this action.
install() {
  if ! command -v npm >/dev/null; then
    echo '::error title=Slipway::This action needs Node with npm on the machine of the job. Add the step actions/setup-node before it.'
    exit 1
  fi
  echo '::group::Install the packages of the publisher'
  (cd "$directory" && npm ci --no-audit --no-fund)
  echo '::endgroup::'
}

# Generated files are not in the repository. When the tag does not contain the publisher, this script builds it.
[ -f "$publisher" ] || [ -d "$directory/node_modules" ] || install
if ! node=$(find_node); then
  install
  node=$(find_node)
fi
[ -f "$publisher" ] || "$node" --disable-warning=ExperimentalWarning "$directory/scripts/build/write.ts" --only-publisher
exec "$node" --disable-warning=ExperimentalWarning "$directory/scripts/action/publish.ts"
