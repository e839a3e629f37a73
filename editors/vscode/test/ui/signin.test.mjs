/** Signing in to an MCP server from the Tools view: a real server, a real OAuth server, the browser's own page. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before } from 'node:test';
import { ACME, FILES, OFFLINE } from '../kit/office.mjs';
import { EXTENSION, PYTHON } from '../kit/paths.mjs';
import { ToolsPage } from '../kit/tools-page.mjs';
import { openWorkbench, sharing } from '../kit/workbench.mjs';

const WAIT = { timeout: 60_000 };
let bench, tools, page, safe;
const { check, state } = sharing(() => bench);

before(async () => {
  safe = spawn(PYTHON, [join(EXTENSION, 'test/kit/oauth.py')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [url] = await new Promise((ok) => createInterface({ input: safe.stdout }).once('line', (line) => ok([line])));
  bench = await openWorkbench({
    name: 'signin',
    size: { width: 1280, height: 1000 },
    settings: { ...OFFLINE, 'caddie.mcp.servers': { acme: ACME, safe: { url } } },
    files: FILES,
  });
  page = bench.page;
  tools = new ToolsPage(bench);
  await tools.open();
}, { timeout: 240_000 });

after(async () => {
  await bench?.close(state.failures > 0);
  safe?.stdin.end();
}, { timeout: 60_000 });

const server = (words) => page.locator(`.customview-tree .monaco-list-row[aria-label*="safe, ${words}"]`);
const waiting = () => bench.notification('Waiting for the sign-in to safe');

/** The page of the sign-in, once the person has said yes to the editor's own question, if it asks one. */
async function openPage(act) {
  const opened = bench.context.waitForEvent('page', WAIT);
  await act();
  const tab = await opened;
  await tab.getByRole('heading', { name: 'May Caddie open the safe?' }).waitFor(WAIT);
  return tab;
}

check('a server that wants a sign-in says so in its row, with the way, and in the status bar', async () => {
  await server('needs a sign-in').waitFor(WAIT);
  const trouble = page.locator('.customview-tree .monaco-list-row[aria-label$=", Sign in"]');
  await trouble.waitFor();
  assert.match(await trouble.getAttribute('aria-label'), /safe|sign/i);
  assert.equal(await tools.row('secret').count(), 0);
  await page.locator('.statusbar-item[aria-label*="MCP servers in trouble: safe"]').waitFor();
  await bench.shot('needs-sign-in');
});

check('a sign-in that is cancelled ends at once, and can be begun again', async () => {
  const tab = await openPage(() => tools.action('safe', 'Authorize MCP Server'));
  await waiting().waitFor();
  await bench.shot('waiting');
  await waiting().hover();
  await waiting().getByRole('button', { name: 'Cancel' }).click();
  await waiting().waitFor({ state: 'detached' });
  await page.locator('.customview-tree .monaco-list-row[aria-label*="the sign-in was cancelled"]').waitFor();
  await tab.close();
  await server('needs a sign-in').waitFor();
});

check('a sign-in that is denied on the page says so', async () => {
  const tab = await openPage(() => tools.action('safe', 'Authorize MCP Server'));
  await tab.getByRole('link', { name: 'Deny' }).click();
  await bench.notification('safe: ').waitFor(WAIT);
  await bench.shot('denied');
  assert.match(await bench.notification('safe: ').innerText(), /denied|access_denied/i);
  await waiting().waitFor({ state: 'detached' });
  await tab.close();
});

check('after the sign-in on its page the server is connected and its tools are there', async () => {
  const tab = await openPage(() => page.locator('.customview-tree .monaco-list-row[aria-label$=", Sign in"]').click());
  await tab.screenshot({ path: join(bench.shots, 'page.png') });
  await tab.getByRole('link', { name: 'Allow' }).click();
  await tab.getByText(/signed in/i).first().waitFor(WAIT);
  await tab.screenshot({ path: join(bench.shots, 'page-done.png') });
  await tab.close();
  await server('ready').waitFor(WAIT);
  await tools.waitFor('secret', 'deferred');
  await waiting().waitFor({ state: 'detached' });
  await page.locator('.statusbar-item[aria-label*="MCP servers in trouble"]').waitFor({ state: 'detached' });
  await bench.shot('signed-in');
});

check('signing out takes the tools away, and the way in is there again', async () => {
  await tools.menu('safe', 'Sign Out of MCP Server');
  await server('needs a sign-in').waitFor(WAIT);
  await tools.row('secret').waitFor({ state: 'detached' });
  await bench.shot('signed-out');
});
