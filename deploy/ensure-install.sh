#!/bin/sh
# Installs the locked dependencies if they are missing or older than the lockfile. npm writes
# node_modules/.package-lock.json last, so an interrupted install does not look complete.
set -e
cd "$(dirname "$0")/.."
stamp=node_modules/.package-lock.json
if [ ! -f "$stamp" ] || [ package-lock.json -nt "$stamp" ]; then
  npm ci
  touch "$stamp"
fi
