/** A folder that is not trusted: no servers of it, no settings that run things, said plainly; then trust. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { ACME, FILES, OFFLINE } from '../kit/office.mjs';
import { PYTHON } from '../kit/paths.mjs';
import { ToolsPage } from '../kit/tools-page.mjs';
import { openWorkbench, sharing, until } from '../kit/workbench.mjs';

const WAIT = { timeout: 60_000 };
let bench, tools, page, marks;
const { check, state } = sharing(() => bench);

before(async () => {
  marks = join(process.env.TMPDIR ?? '/tmp', `caddie-trust-${process.pid}`);
  const touch = (name) => ({ command: PYTHON, args: ['-c', `open(${JSON.stringify(`${marks}-${name}`)}, 'w')`] });
  bench = await openWorkbench({
    name: 'trust',
    trust: false,
    settings: OFFLINE,
    workspaceSettings: { 'caddie.mcp.servers': { evil: touch('settings') }, 'caddie.permissions.mode': 'auto', 'caddie.tools.disabled': ['Grep'] },
    files: {
      ...FILES,
      '.vscode/mcp.json': JSON.stringify({ servers: { acme: ACME, mark: touch('vscode') } }),
      '.mcp.json': JSON.stringify({ mcpServers: { other: touch('mcp') } }),
    },
  });
  page = bench.page;
  tools = new ToolsPage(bench);
  await tools.open();
}, { timeout: 240_000 });
after(() => bench?.close(state.failures > 0), { timeout: 60_000 });

const started = () => ['settings', 'vscode', 'mcp'].filter((name) => existsSync(`${marks}-${name}`));

check('nothing of the folder runs, and the view says so in plain words', async () => {
  await tools.message.filter({ hasText: 'This folder is not trusted: its MCP servers do not run' }).waitFor(WAIT);
  await tools.waitFor('Bash', 'enabled');
  const labels = await tools.labels();
  for (const name of ['acme', 'evil', 'other', 'mark']) assert.ok(!labels.includes(name), name);
  assert.deepEqual(started(), []);
  await bench.shot('untrusted');
});

check('settings that start nothing hold all the same', async () => {
  await tools.waitFor('Grep', 'disabled, workspace');
});

check('the status bar shows it and leads to the editor’s own trust', async () => {
  await page.locator('.statusbar-item[aria-label*="This folder is not trusted"]').first().click();
  await bench.quickPick('Manage Workspace Trust').click();
  await page.locator('.workspace-trust-editor').waitFor(WAIT);
});

check('after trust the folder’s servers run, those of .vscode/mcp.json too', async () => {
  await page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).first().click();
  await page.locator('.customview-tree .monaco-list-row[aria-label*="acme, ready"]').waitFor({ timeout: 90_000 });
  await until('the servers of all three files were started', () => started().length === 3, 30_000);
  assert.doesNotMatch(await tools.message.innerText(), /not trusted/);
  await bench.shot('trusted');
});
