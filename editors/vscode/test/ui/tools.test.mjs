/** The Tools view: every change is in settings.json at once and effective without reload, and the other way round. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { ACME, FILES, JIRA, OFFLINE } from '../kit/office.mjs';
import { ToolsPage } from '../kit/tools-page.mjs';
import { openWorkbench, sharing, until } from '../kit/workbench.mjs';

const WAIT = { timeout: 60_000 };
let bench, tools, page;
const { check, state } = sharing(() => bench);
const disabled = (scope) => bench.settings(scope)['caddie.tools.disabled'] ?? [];
const enabled = (scope) => bench.settings(scope)['caddie.tools.enabled'] ?? [];

before(async () => {
  bench = await openWorkbench({
    name: 'tools',
    settings: { ...OFFLINE, 'caddie.mcp.servers': { acme: ACME, jira: JIRA } },
    files: FILES,
    size: { width: 1280, height: 1000 },
  });
  page = bench.page;
  tools = new ToolsPage(bench);
  await tools.open();
  await tools.row('find_invoices').waitFor(WAIT);
}, { timeout: 240_000 });

after(() => bench?.close(state.failures > 0), { timeout: 60_000 });

check('servers, groups, states, tokens and reasons are there, in words and in shapes', async () => {
  await tools.waitFor('Bash', 'enabled');
  await tools.waitFor('find_invoices', 'deferred');
  await page.locator('.customview-tree .monaco-list-row[aria-label*="JIRA_TOKEN"]').first().waitFor(WAIT);
  assert.match(await tools.said('acme'), /acme, ready · 6 tools · 0 \/ \d+/);
  assert.match(await tools.said('jira'), /jira, failed/);
  assert.match(await tools.message.innerText(), /\d+ ✓ · \d+ ◐ · \d+ ✗ · [\d.k]+ of [\d.k]+ tokens/);
  await bench.shot('light');
});

check('F08: a click goes on to the next state, in the workspace’s settings.json at once, without reload', async () => {
  await tools.click('find_invoices');
  await tools.waitFor('find_invoices', 'enabled, workspace');
  assert.deepEqual(enabled('workspace'), ['mcp__acme__find_invoices']);
  await tools.click('find_invoices');
  await tools.waitFor('find_invoices', 'disabled, workspace');
  assert.deepEqual(disabled('workspace'), ['mcp__acme__find_invoices']);
  assert.deepEqual(enabled('workspace'), []);
});

check('what is written into settings.json is in the view at once', async () => {
  bench.write('.vscode/settings.json', JSON.stringify({ 'caddie.tools.disabled': ['mcp__acme__delete_*'] }, null, 2));
  await tools.waitFor('delete_customer', 'disabled, mcp__acme__delete_* · workspace');
  await tools.waitFor('find_invoices', 'deferred');
});

check('several tools are selected and changed in one act', async () => {
  await tools.click('export_ledger');
  await tools.waitFor('export_ledger', 'enabled');
  await tools.click('send_reminder', ['Control']);
  await tools.menu('send_reminder', 'Disable');
  await tools.waitFor('export_ledger', 'disabled, workspace');
  await tools.waitFor('send_reminder', 'disabled, workspace');
  await bench.shot('states', { x: 0, y: 0, width: 720, height: 860 });
  assert.deepEqual(disabled('workspace').sort(), ['mcp__acme__delete_*', 'mcp__acme__export_ledger', 'mcp__acme__send_reminder']);
});

check('a whole server is deferred by its glob with its inline action', async () => {
  await tools.action('acme', 'Enable');
  await tools.waitFor('big_report', 'enabled, mcp__acme__* · workspace');
  assert.ok(enabled('workspace').includes('mcp__acme__*'));
});

check('explain says who decided and opens the setting', async () => {
  await tools.action('delete_customer', 'Explain Tool');
  const dialog = page.locator('.monaco-dialog-box');
  await dialog.waitFor();
  assert.match(await dialog.innerText(), /delete_customer is \w+/);
  await bench.shot('explain');
  await dialog.getByRole('button', { name: 'Open Setting' }).click();
  await page.locator('.editor-instance .view-lines').filter({ hasText: 'caddie.tools.enabled' }).first().waitFor();
  await page.keyboard.press('Escape'); // newer editors open settings in a modal
  await bench.command('View: Close All Editors');
});

check('the scope is switched, and changes go to the user’s settings', async () => {
  await tools.more('Change User Settings');
  await tools.message.filter({ hasText: 'user settings' }).waitFor();
  await tools.click('Bash');
  await tools.waitFor('Bash', 'disabled, user');
  await until('the user’s settings.json has it', () => disabled('user').includes('Bash'));
  assert.ok(!disabled('workspace').includes('Bash'));
});

check('F04: all off and reset all are one act each; the bridge stays and says so', async () => {
  await tools.more('Disable All Tools');
  await tools.waitFor('Grep', 'disabled, * · user');
  await bench.shot('all-off');
  await tools.more('Reset All Tools');
  await tools.waitFor('Grep', 'enabled');
  assert.deepEqual(disabled('user'), []);
  await tools.more('Change Workspace Settings');
  await tools.more('Reset All Tools');
  await tools.waitFor('delete_customer', 'deferred');
  assert.deepEqual([...disabled('workspace'), ...enabled('workspace')], []);
});

check('all of it works by keyboard: arrows, Space, and the menu key', async () => {
  await bench.command('Caddie: Focus on Tools View');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  await tools.waitFor('Read', 'disabled, workspace');
  await page.keyboard.press('Shift+F10');
  await page.locator('.monaco-menu .action-label').getByText('Reset to Default', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Space');
  await tools.waitFor('Read', 'deferred, workspace');
  await tools.menu('Read', 'Reset to Default');
  await tools.waitFor('Read', 'enabled');
});

check('a filter narrows the view while it is typed, and Escape takes it back', async () => {
  await page.locator('.part.sidebar').getByRole('button', { name: 'Filter Tools' }).first().click();
  const box = page.locator('.quick-input-widget input').first();
  await box.waitFor();
  await box.fill('invoice');
  await until('only fitting tools are left', async () => {
    const labels = await tools.labels();
    return !labels.includes('Bash') && labels.includes('find_invoices');
  });
  await bench.shot('filter');
  await page.keyboard.press('Escape');
  await tools.row('Bash').waitFor();
});

check('a server is stopped and started from its row', async () => {
  await tools.menu('acme', 'Stop MCP Server');
  await page.locator('.customview-tree .monaco-list-row[aria-label*="acme, not started"]').waitFor(WAIT);
  await tools.action('acme', 'Start MCP Server');
  await page.locator('.customview-tree .monaco-list-row[aria-label*="acme, ready"]').waitFor(WAIT);
});

check('a failed server’s log says why', async () => {
  await tools.action('jira', 'Show MCP Server Log');
  await page.locator('.editor-instance .view-lines').filter({ hasText: 'JIRA_TOKEN' }).waitFor(WAIT);
  await bench.shot('log');
});

check('resources of a server are browsed and read', async () => {
  await tools.menu('acme', 'Browse MCP Resources');
  await bench.quickPick('Terms of payment').click();
  await page.locator('.editor-instance .view-lines').filter({ hasText: 'Payable' }).waitFor(WAIT);
});

check('a server is added by the form and runs without reload', async () => {
  await page.locator('.part.sidebar').getByRole('button', { name: 'Add MCP Server' }).first().click();
  await bench.quickPick('a program on this machine').click();
  await bench.typeIn('Command with its arguments', `${ACME.command} "${ACME.args[0]}"`);
  await bench.typeIn('Environment', 'OFFICE="Berlin North"');
  await page.locator('.quick-input-widget').filter({ hasText: 'A short name' }).waitFor();
  await page.locator('.quick-input-widget input').first().fill('second');
  await page.keyboard.press('Enter');
  await page.locator('.customview-tree .monaco-list-row[aria-label*="second, ready"]').waitFor(WAIT);
  const { second } = bench.settings('workspace')['caddie.mcp.servers'];
  assert.deepEqual(second, { command: ACME.command, args: ACME.args, env: { OFFICE: 'Berlin North' } });
});

check('the status bar says provider, mode and the server in trouble; a click opens the menu', async () => {
  const item = page.locator('.statusbar-item[id="caddie.caddie.caddie.status"], .statusbar-item').filter({ hasText: 'offline · agent' }).first();
  await item.waitFor();
  assert.match(await item.innerText(), /1/);
  await item.click();
  await bench.quickPick('Review Permissions').waitFor();
  await bench.shot('menu');
  await page.keyboard.press('Escape');
});

check('every key of Caddie is in the settings editor with its description', async () => {
  await bench.command('Caddie: Open Settings');
  const editor = page.locator('.settings-editor');
  await editor.getByText('The named default for tools that no list mentions').first().waitFor(WAIT);
  await bench.shot('settings');
  await bench.clear();
});

check('the walkthrough begins with the server and leads through', async () => {
  await bench.command('Caddie: Get Started');
  await page.getByText('Decide about your tools').first().waitFor(WAIT);
  await bench.shot('walkthrough');
  await bench.clear();
  await bench.command('View: Close All Editors');
});

check('it can be read in dark and in high contrast', async () => {
  for (const [theme, name] of [['Dark Modern', 'dark'], ['Default High Contrast', 'contrast']]) {
    bench.set({ 'workbench.colorTheme': theme });
    await page.locator(`.monaco-workbench.${name === 'dark' ? 'vs-dark' : 'hc-black'}`).waitFor(WAIT);
    await bench.shot(name);
  }
});
