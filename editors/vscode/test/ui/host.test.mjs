/** The suites of test/host, inside the extension host: the whole `vscode` API, the real extension and server. */
import { join } from 'node:path';
import { test } from 'node:test';
import { EXTENSION } from '../kit/paths.mjs';
import { FILES, OFFLINE } from '../kit/office.mjs';
import { openWorkbench } from '../kit/workbench.mjs';

/** Of all that the page's console says, the tests' own lines and what failed in them. */
const TAP = /^(ok|not ok|# |  |\d+\.\.\d+)/;

test('the suites inside the extension host', { timeout: 400_000 }, async (t) => {
  const bench = await openWorkbench({ name: 'host', development: true, open: false, settings: OFFLINE, files: FILES });
  let code = -1;
  try {
    code = await bench.runInHost(join(EXTENSION, '.host/index.js'), (line) => TAP.test(line) && t.diagnostic(line));
    if (code !== 0) await bench.shot('failed');
  } finally {
    await bench.close(code !== 0);
  }
  if (code !== 0) throw new Error('tests in the host failed; the lines above say which');
});
