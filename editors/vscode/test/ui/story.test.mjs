/** The server hears from VS Code what it hears from Neovim that plays the same story (tests/editors/story.json). */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { FILES } from '../kit/office.mjs';
import { Panel } from '../kit/panel.mjs';
import { PYTHON, REPOSITORY } from '../kit/paths.mjs';
import { openWorkbench, sharing, until } from '../kit/workbench.mjs';

const STORY = JSON.parse(readFileSync(join(REPOSITORY, 'tests/editors/story.json'), 'utf8'));
const log = join(tmpdir(), `caddie-story-${process.pid}.jsonl`);
const script = join(tmpdir(), `caddie-story-${process.pid}.json`);
let bench, chat, page;
const { check, state } = sharing(() => bench);

before(async () => {
  writeFileSync(script, JSON.stringify(STORY.script));
  bench = await openWorkbench({
    name: 'story',
    command: [PYTHON, join(REPOSITORY, 'tests/fixtures/scripted_lsp_server.py'), script, log],
    files: FILES,
  });
  page = bench.page;
  chat = new Panel(bench);
  await chat.open();
}, { timeout: 240_000 });
after(() => bench?.close(state.failures > 0), { timeout: 60_000 });

const messages = () => readFileSync(log, 'utf8').split('\n').filter((line) => line.endsWith('}')).map((line) => JSON.parse(line));
const without = (tree, left) => Object.fromEntries(Object.entries(tree).filter(([, value]) => !left(value)));
const isNothing = (value) => value == null || value === 'agent' || (Array.isArray(value) && value.length === 0);

/** What matters: not how fast the person typed, nor what a client leaves to the defaults. */
function heard() {
  let out = [];
  for (const { method, params, id, result } of messages()) {
    if (method === 'caddie/chat/draft' && !out.some(([kind]) => kind === 'turn')) {
      out = [...out.filter(([kind]) => kind !== 'draft'), ['draft', params.text]];
    } else if (method === 'caddie/chat/turn') {
      out.push(['turn', without(params, isNothing)]);
    } else if (method === '$/cancelRequest') {
      out.push(['cancel']);
    } else if (!method && id === 'p1') {
      out.push(['answer', 'p1', without(result, (value) => value == null)]);
    }
  }
  return out;
}

check('F11: VS Code says what every client says', async () => {
  await chat.type('Which invoices are overdue?');
  await chat.frame.locator('.hint').filter({ hasText: 'find_invoices' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await chat.frame.locator('.composer .chip').filter({ hasText: 'find_invoices' }).waitFor();
  await page.keyboard.press('Enter');
  await chat.card.waitFor();
  await page.waitForTimeout(350); // keys struck before the card was in sight answer nothing
  await chat.card.focus();
  await page.keyboard.press('a');
  await chat.says('One invoice is overdue: INV-1042.');
  await chat.isIdle();
  await chat.ask('Send a reminder');
  await chat.says('I am writing the reminder');
  await chat.input.press('Escape');
  await chat.says('stopped');
  await until('all of it is heard', () => heard().length >= STORY.heard.length);
  assert.deepEqual(heard(), STORY.heard);
  await bench.shot('story');
});
