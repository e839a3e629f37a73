/** Prompts while the panel is hidden: seen, never in the way. Keys: kept secret, handed to the server. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { ChatPage } from '../kit/chat-page.mjs';
import { callTool, gate, say, startModel } from '../kit/model.mjs';
import { ACME, FILES } from '../kit/office.mjs';
import { openWorkbench, sharing, until } from '../kit/workbench.mjs';

const WAIT = { timeout: 60_000 };
let bench, chat, page, model;
const { check, state } = sharing(() => bench);

before(async () => {
  model = await startModel();
  bench = await openWorkbench({
    name: 'prompts',
    settings: { ...model.settings, 'caddie.mcp.servers': { acme: ACME } },
    files: FILES,
    size: { width: 1400, height: 800 },
  });
  page = bench.page;
  chat = new ChatPage(bench);
  await chat.open();
}, { timeout: 240_000 });
after(async () => {
  await bench?.close(state.failures > 0);
  await model?.close();
}, { timeout: 60_000 });

const editor = () => page.locator('.editor-instance .native-edit-context, .editor-instance textarea').first();
const focusIsInEditor = () => page.evaluate(() => Boolean(document.activeElement?.closest('.editor-instance')));

async function openFile() {
  await page.keyboard.press('Control+P');
  await page.locator('.quick-input-widget input').first().fill('invoices.py');
  await bench.quickPick('invoices.py').click();
  await page.locator('.editor-instance .view-lines').filter({ hasText: 'overdue' }).waitFor(WAIT);
  await editor().focus();
}

check('D17, D18: a prompt while the panel is hidden is announced and takes nothing away from who is typing', async () => {
  const held = gate();
  model.play(callTool('ExecuteTool', { tool_name: 'mcp__acme__send_reminder', params: { invoice: 'INV-1042' } }, held.promise), say('The reminder is on its way.'));
  await chat.send('Send a reminder for INV-1042');
  await until('the model was asked', () => model.requests.length > 0, 30_000);
  await chat.hide();
  await openFile();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('# before ');
  held.open();
  await bench.notification('Caddie waits for you: send_reminder').waitFor(WAIT);
  assert.ok(await focusIsInEditor());
  await page.keyboard.type('and after');
  await page.locator('.editor-instance .view-lines').filter({ hasText: '# before and after' }).waitFor();
  await page.locator('.statusbar-item[aria-label*="1 waiting for you"]').waitFor();
  await bench.shot('prompt-hidden');
});

check('D18: the notification leads to the prompt, which says the real tool and its arguments', async () => {
  await bench.notification('Caddie waits for you').getByRole('button', { name: 'Show' }).click();
  await chat.frame.getByText('INV-1042').last().waitFor(WAIT);
  await bench.shot('prompt-shown');
  await chat.frame.getByRole('button', { name: /Allow once/i }).click();
  await chat.frame.getByText('The reminder is on its way.').waitFor(WAIT);
  await page.locator('.statusbar-item[aria-label*="waiting for you"]').waitFor({ state: 'detached' });
});

check('C17: the editor stays quick while a tool’s result of 1 MB is shown', async () => {
  await chat.open();
  model.play(callTool('ExecuteTool', { tool_name: 'mcp__acme__big_report', params: { kilobytes: 1024 } }), say('The report is long.'));
  await chat.send('Write the yearly report');
  await chat.frame.getByRole('button', { name: /Allow once/i }).click({ timeout: 60_000 });
  await chat.frame.getByText('The report is long.').waitFor(WAIT);
  await editor().focus();
  await page.keyboard.press('Control+End');
  const began = Date.now();
  await page.keyboard.type('# quick');
  await page.locator('.editor-instance .view-lines').filter({ hasText: '# quick' }).waitFor();
  assert.ok(Date.now() - began < 5000, `typing took ${Date.now() - began} ms`);
  await chat.frame.getByText('big_report').last().click();
  await chat.frame.getByRole('button', { name: /show all/i }).first().waitFor(WAIT);
  await bench.shot('big-result');
});

check('a key goes into the secret storage and to the server, and nowhere else', async () => {
  const asked = model.requests.length;
  await bench.command('Caddie: Set API Key');
  await bench.quickPick('OPENAI_API_KEY').click();
  await bench.typeIn('Stored in VS Code', 'sk-office-secret-4711');
  model.play(say('With a key.'));
  await chat.open();
  await until('the server is back', () => page.locator('.statusbar-item[aria-label*="office-model"]').count(), 60_000);
  await chat.send('Are you there?');
  await until('the model was asked', () => model.requests.length > asked, 60_000);
  assert.equal(model.requests.at(-1).headers.authorization, 'Bearer sk-office-secret-4711');
  assert.deepEqual(filesWith(join(bench.run, 'data'), 'sk-office-secret-4711'), []);
  assert.deepEqual(filesWith(bench.workspace, 'sk-office-secret-4711'), []);
});

function filesWith(folder, words) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path, 'latin1').includes(words));
}
