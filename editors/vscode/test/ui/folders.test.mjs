/** A window of two folders: files of both are found, changed and shown; a folder comes and goes without a restart. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { conversing } from '../kit/conversing.mjs';
import { callTool, said, say } from '../kit/model.mjs';
import { PYTHON } from '../kit/paths.mjs';
import { until } from '../kit/workbench.mjs';

const WAIT = { timeout: 60_000 };
let bench, chat, page, model;
const mark = { command: PYTHON, args: ['-c', "open('started', 'w')"] };
const check = conversing({
  name: 'folders',
  settings: { 'caddie.permissions.mode': 'acceptEdits', 'workbench.colorTheme': 'Default Dark Modern' },
  files: { 'prices.py': 'TOTAL = 1\n', 'notes.md': 'of the shop\n' },
  further: {
    api: {
      'routes.py': 'ROUTES = []\n',
      'notes.md': 'of the api\n',
      '.mcp.json': JSON.stringify({ mcpServers: { evil: mark } }),
      '.vscode/settings.json': JSON.stringify({ 'caddie.tools.disabled': ['Read'] }),
    },
  },
  size: { width: 1280, height: 900 },
}, (all) => ({ bench, chat, page, model } = all));

const system = ({ body }) => body.messages[0].content;

/** How often the extension has started a server. */
function starts() {
  const logs = readdirSync(join(bench.run, 'data/logs'), { recursive: true }).filter((name) => name.endsWith('Caddie.log'));
  const text = logs.map((name) => readFileSync(join(bench.run, 'data/logs', name), 'utf8')).join('');
  return text.split('starting (').length - 1;
}

check('# finds the files of both folders and says which folder each is in', async () => {
  await chat.type('#notes');
  const rows = chat.frame.locator('.completion');
  await until('both are offered', async () => (await rows.count()) === 2);
  const texts = (await rows.allInnerTexts()).map((text) => text.split(/\s+/).filter(Boolean).join(' '));
  assert.deepEqual(texts.sort(), ['notes.md api', 'notes.md ws']);
  await bench.shot('completion');
  await chat.input.fill('');
  await chat.type('#api/no');
  await until('one is offered', async () => (await rows.count()) === 1);
  await page.keyboard.press('Enter');
  await chat.frame.locator('.composer .chip').filter({ hasText: 'api/notes.md' }).waitFor(WAIT);
  model.play(say('It is [the notes](api/notes.md).'));
  await chat.ask('What is this?');
  await chat.says('the notes');
  const { text } = said(model.requests.at(-1));
  assert.ok(text.includes(`<attachment name="api/notes.md" path="${join(bench.folder('api'), 'notes.md')}">\nof the api`), text);
  await chat.isIdle();
});

check('the model is told of both folders, and a link leads into the right one', async () => {
  assert.ok(system(model.requests.at(-1)).includes(`Workspace: ${bench.workspace}\n`));
  assert.ok(system(model.requests.at(-1)).includes(`\n- ${bench.folder('api')}\n`));
  await chat.frame.getByRole('link', { name: 'the notes' }).click();
  await page.locator('.tab.active').filter({ hasText: 'notes.md' }).waitFor(WAIT);
  await page.locator('.view-lines').filter({ hasText: 'of the api' }).first().waitFor(WAIT);
});

check('files of both folders are changed unasked, listed with their folder, opened and taken back', async () => {
  const path = join(bench.folder('api'), 'notes.md');
  model.play(
    callTool('Grep', { pattern: 'of the', output_mode: 'files_with_matches' }),
    callTool('Read', { path }),
    callTool('Write', { path, content: 'of the api, new\n' }),
    callTool('Read', { path: 'notes.md' }),
    callTool('Write', { path: 'notes.md', content: 'of the shop, new\n' }),
    say('Both are new.'),
  );
  await chat.ask('Renew the notes');
  await chat.says('Both are new.');
  await chat.isIdle();
  assert.equal(bench.read('notes.md'), 'of the shop, new\n');
  const names = chat.frame.locator('.changed-name');
  const told = (await names.allInnerTexts()).map((name) => name.split(/\s+/).slice(1).join(' '));
  assert.deepEqual(told.sort(), ['notes.md api', 'notes.md ws']);
  const found = model.requests.map(said).find(({ text }) => text.includes(`notes.md\n${path}`));
  assert.ok(found || JSON.stringify(model.requests.at(-1).body).includes(`notes.md\\n${path}`), 'Grep looked in both');
  await names.filter({ hasText: 'ws' }).click();
  await page.locator('.view-lines').filter({ hasText: 'of the shop, new' }).first().waitFor(WAIT);
  await names.filter({ hasText: 'api' }).click();
  await page.locator('.view-lines').filter({ hasText: 'of the api, new' }).first().waitFor(WAIT);
  await bench.shot('changes');
  await chat.button('Take back all').click();
  await until('both are as before', () => bench.read('notes.md') === 'of the shop\n');
});

check('a folder is added to the window and removed again, and the server goes on', async () => {
  const [before, prefix] = [starts(), system(model.requests.at(-1))];
  assert.ok(before > 0);
  bench.write(join(bench.folder('web'), 'page.html'), '<p>web</p>\n');
  bench.openFolders(['api', 'web']);
  await until('# finds its file', async () => {
    await chat.input.fill('');
    await chat.type('#page');
    await page.waitForTimeout(300);
    return (await chat.frame.locator('.completion').count()) === 1;
  }, 30_000);
  await chat.input.fill('');
  const path = join(bench.folder('web'), 'new.html');
  model.play(callTool('Write', { path, content: 'x' }), say('Written.'));
  await chat.ask('Write a page');
  await chat.says('Written.');
  await chat.isIdle();
  assert.ok(existsSync(path));
  assert.match(JSON.stringify(model.requests.at(-1).body.messages), /added to the workspace: [^"]*\/web/);
  await bench.shot('added');
  bench.openFolders(['api']);
  const other = join(bench.folder('web'), 'other.html');
  await until('# finds it no longer', async () => {
    await chat.input.fill('');
    await chat.type('#page');
    await page.waitForTimeout(300);
    return (await chat.frame.locator('.completion').count()) === 0;
  }, 30_000);
  await chat.input.fill('');
  model.play(callTool('Write', { path: other, content: 'x' }), say('Not written.'));
  await chat.ask('Write another');
  await chat.card.waitFor(WAIT);
  assert.match(await chat.card.innerText(), /is outside the workspace/);
  await bench.shot('outside');
  await chat.card.getByRole('button', { name: 'Reject' }).click();
  await chat.card.getByRole('button', { name: 'Reject' }).click(); // without a reason
  await chat.says('Not written.');
  assert.ok(!existsSync(other));
  assert.match(JSON.stringify(model.requests.at(-1).body.messages), /no longer in the workspace: [^"]*\/web/);
  assert.equal(system(model.requests.at(-1)), prefix, 'the beginning of the conversation never moves');
  assert.equal(starts(), before, 'the server was not started anew');
});

check('nothing is read from a folder because it is in the window', async () => {
  assert.ok(!existsSync(join(bench.folder('api'), 'started')) && !existsSync(join(bench.workspace, 'started')));
  assert.ok(model.requests.at(-1).body.tools.some(({ function: tool }) => tool.name === 'Read'));
});
