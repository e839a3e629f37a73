/** The chat panel in the real workbench: the whole road with a model double and the real server. */
import assert from 'node:assert/strict';
import { conversing } from '../kit/conversing.mjs';
import { callTool, gate, say } from '../kit/model.mjs';
import { ACME } from '../kit/office.mjs';
import { until } from '../kit/workbench.mjs';

const WAIT = { timeout: 60_000 };
let bench, chat, page, model;
const check = conversing({
  name: 'chat',
  settings: { 'caddie.mcp.servers': { acme: ACME }, 'workbench.colorTheme': 'Default Dark Modern' },
  size: { width: 1280, height: 900 },
}, (all) => ({ bench, chat, page, model } = all));

const lastBody = () => JSON.stringify(model.requests.at(-1)?.body);

check('a deferred tool is hinted, picked, found, permitted and run, by its real name', async () => {
  model.play(
    callTool('ToolSearch', { query: 'payment reminder' }),
    callTool('ExecuteTool', { tool_name: 'mcp__acme__send_reminder', params: { invoice: 'INV-1042', message: 'Please pay.' } }),
    say('The reminder for **INV-1042** is on its way.\n\n```python\nprint("paid")\n```'),
  );
  await page.locator('.statusbar-item[aria-label*="office-model"]').waitFor(WAIT);
  await chat.type('Send a payment reminder for an invoice');
  await chat.frame.locator('.hint').first().waitFor(WAIT);
  assert.match(await chat.frame.locator('.hint').first().innerText(), /send_reminder[\s\S]*acme/);
  await bench.shot('hints');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await chat.frame.locator('.composer .chip').waitFor();
  await page.keyboard.press('Enter');
  await chat.card.waitFor(WAIT);
  const asked = await chat.card.innerText();
  assert.match(asked, /Run this tool\?\s+send_reminder · acme\s+mcp__acme__send_reminder[\s\S]*INV-1042/);
  assert.doesNotMatch(await chat.text(), /ExecuteTool/);
  await bench.shot('permission');
  await chat.frame.locator('.status .row').click();
  await page.waitForTimeout(350);
  await page.keyboard.press('a');
  const said = await chat.says('is on its way');
  assert.match(said, /Looked for tools[\s\S]*send_reminder/);
  await chat.isIdle();
  assert.equal(await chat.frame.locator('.ask').count(), 0);
  await bench.shot('answer');
  assert.match(JSON.stringify(model.requests[0].body), /send_reminder/);
});

check('an edit is permitted by its diff, lands in the file, is looked at and taken back', async () => {
  const path = `${bench.workspace}/invoices.py`;
  model.play(
    callTool('Read', { path }),
    callTool('Edit', { path, old_string: 'return []', new_string: 'return sorted(invoices)' }),
    say('Changed.'),
  );
  await chat.ask('Sort the invoices');
  await chat.card.waitFor(WAIT);
  assert.match(await chat.card.innerText(), /Change this file\?[\s\S]*-\s+return \[\][\s\S]*\+\s+return sorted\(invoices\)/);
  await chat.button('Open diff').click();
  await page.locator('.monaco-diff-editor').first().waitFor(WAIT);
  await bench.shot('diff');
  await chat.card.getByRole('button', { name: 'Allow once' }).click();
  await chat.says('Changed.');
  await chat.isIdle();
  assert.match(bench.read('invoices.py'), /sorted/);
  await chat.frame.locator('.changes').waitFor();
  assert.match(await chat.frame.locator('.changes').innerText(), /1 file changed[\s\S]*invoices\.py[\s\S]*\+1[\s\S]*−1/);
  await chat.frame.locator('.changed-name').click();
  await page.locator('.tab').filter({ hasText: 'before' }).waitFor(WAIT);
  await bench.shot('changes');
  await chat.button('Take back all').click();
  await until('the file is as before', () => /return \[\]/.test(bench.read('invoices.py')));
  await chat.button('Undo the undo').click();
  await until('the change is there again', () => /sorted/.test(bench.read('invoices.py')));
  await chat.ask('/undo');
  await until('the file is as before', () => /return \[\]/.test(bench.read('invoices.py')));
  await until('no file is listed', async () => (await chat.frame.locator('.changed-name').count()) === 0);
});

check('code is inserted where the cursor stands', async () => {
  await page.keyboard.press('Control+P');
  await page.locator('.quick-input-widget input').fill('invoices.py');
  await bench.quickPick('invoices.py').click();
  await page.locator('.tab.active').filter({ hasText: 'invoices.py' }).waitFor(WAIT);
  await page.keyboard.press('Control+Home');
  await chat.frame.locator('.code').getByRole('button', { name: 'Insert at the cursor' }).last().click();
  await page.locator('.view-lines').filter({ hasText: 'print("paid")' }).first().waitFor(WAIT);
  await bench.command('File: Revert File');
});

check('a stalled model is stopped with Esc, what waited comes back, and the next message works', async () => {
  const held = gate();
  model.play(say('Too late.', held.promise), say('I am here.'));
  await chat.ask('Are you there?');
  await chat.frame.locator('.status').filter({ hasText: 'working' }).waitFor(WAIT);
  await chat.ask('and then this');
  assert.match(await chat.frame.locator('.queue').innerText(), /and then this/);
  await bench.shot('queued');
  await chat.input.click();
  await page.keyboard.press('Escape');
  await chat.says('stopped');
  assert.equal(await chat.input.inputValue(), 'and then this');
  held.open();
  await chat.input.press('Enter');
  await chat.says('I am here.');
  await chat.isIdle();
});

check('a permission that nobody sees has a badge and a notification; a rejection tells why', async () => {
  const held = gate();
  model.play(callTool('Bash', { command: 'rm -rf build', description: 'Remove the build' }, held.promise), say('Understood.'));
  await chat.ask('Clean up');
  await chat.hide();
  held.open();
  await bench.notification('Caddie waits for you').waitFor(WAIT);
  await bench.shot('notification');
  await bench.notification('Caddie waits for you').getByRole('button', { name: 'Show' }).click();
  await chat.card.waitFor(WAIT);
  await page.waitForTimeout(350);
  await until('the card has the focus', () => chat.card.evaluate((card) => card === document.activeElement));
  await page.keyboard.press('r');
  await page.keyboard.type('Keep the build.');
  await page.keyboard.press('Enter');
  await chat.says('Understood.');
  assert.match(lastBody(), /Keep the build\./);
});

check('a question of the model is answered with an option by keyboard', async () => {
  const question = { question: 'Where should the ledger be kept?', header: 'Storage', multi_select: false };
  const options = [{ label: 'SQLite', description: 'One file' }, { label: 'PostgreSQL', description: 'A server' }];
  model.play(callTool('AskUserQuestion', { questions: [{ ...question, options }] }), say('PostgreSQL it is.'));
  await chat.ask('Keep a ledger');
  await chat.card.waitFor(WAIT);
  assert.match(await chat.card.innerText(), /Where should the ledger be kept\?[\s\S]*SQLite[\s\S]*One file/);
  await bench.shot('question');
  await chat.card.focus();
  await page.keyboard.press('2');
  await chat.button('Answer').click();
  await chat.says('PostgreSQL it is.');
  assert.match(lastBody(), /PostgreSQL/);
});

check('plan mode and another model are chosen, and the next message has them', async () => {
  await chat.isIdle();
  await chat.button('Agent').click();
  await chat.button('Plan').waitFor(WAIT);
  model.play(say('A plan.'));
  await chat.ask('Plan the year');
  await chat.says('A plan.');
  assert.match(lastBody(), /plan/i);
  await chat.button('Plan').click();
  await chat.frame.locator('.foot-model').click();
  await bench.quickPick('office-model').waitFor(WAIT);
  await bench.shot('models');
  await page.keyboard.type('other-model');
  await bench.quickPick('use this name').click();
  await until('the setting has it', () => bench.settings('user')['caddie.model'] === 'other-model');
  model.play(say('Another voice.'));
  await chat.ask('Who are you?');
  await chat.says('Another voice.');
  assert.equal(model.requests.at(-1).body.model, 'other-model');
});

check('files are attached by name, and the selection by its command', async () => {
  model.play(say('Seen.'));
  await chat.type('look at #invo');
  await chat.frame.locator('.completion').first().waitFor(WAIT);
  await page.keyboard.press('Enter');
  await chat.frame.locator('.composer .chip').filter({ hasText: 'invoices.py' }).waitFor(WAIT);
  await page.keyboard.press('Enter');
  await chat.says('Seen.');
  assert.match(lastBody(), /attachment name=.{1,4}invoices\.py/);
});

check('the same conversation is in an editor tab', async () => {
  await bench.command('Caddie: Open Chat in Editor');
  const tab = page.locator('.tab').filter({ hasText: 'Caddie' });
  await tab.first().waitFor(WAIT);
  await chat.hide();
  await chat.says('is on its way');
  await bench.shot('tab');
  for (const theme of ['Default High Contrast', 'Default Light Modern']) {
    bench.set({ 'workbench.colorTheme': theme });
    await chat.frame.locator(theme.includes('Light') ? 'body.vscode-light' : 'body.vscode-high-contrast').waitFor({ ...WAIT, state: 'attached' });
    await bench.shot(`tab-${theme.split(' ')[1].toLowerCase()}`);
  }
  bench.set({ 'workbench.colorTheme': undefined });
  await bench.command('View: Close Editor');
  await tab.first().waitFor({ state: 'detached' });
  await chat.open();
});

check('conversations are listed, renamed and gone on with; a reload keeps conversation and draft', async () => {
  await chat.isIdle();
  await chat.type('half a thought');
  await page.waitForTimeout(500);
  const reloaded = page.waitForEvent('load');
  await bench.command('Developer: Reload Window');
  await reloaded;
  await page.locator('.monaco-workbench .activitybar').waitFor(WAIT);
  await chat.open();
  await chat.says('Seen.');
  assert.equal(await chat.input.inputValue(), 'half a thought');
  await bench.shot('reloaded');
  await bench.command('Caddie: New Conversation');
  await chat.isEmpty();
  await bench.command('Caddie: Show Conversations');
  await bench.quickPick('payment reminder').waitFor(WAIT);
  await bench.shot('conversations');
  await bench.quickPick('payment reminder').hover();
  await bench.quickPick('payment reminder').locator('.codicon-edit').click();
  await page.locator('.quick-input-widget').filter({ hasText: 'New title' }).waitFor(WAIT);
  await page.keyboard.press('Control+A');
  await page.keyboard.type('late invoices');
  await page.keyboard.press('Enter');
  await bench.quickPick('late invoices').click();
  await chat.says('is on its way');
  await chat.input.fill('/new');
  await chat.input.press('Enter');
  await chat.isEmpty();
  await bench.command('Caddie: Show Conversations');
  await bench.quickPick('late invoices').hover();
  await bench.quickPick('late invoices').locator('.codicon-trash').click();
  await page.locator('.monaco-dialog-box').getByRole('button', { name: 'Delete' }).click();
  await bench.quickPick('No earlier conversation').waitFor(WAIT);
  await page.keyboard.press('Escape');
});

check('nothing of the page was refused by its policy', async () => {
  assert.deepEqual(bench.log.filter((line) => /Refused to|violates the following Content Security Policy/.test(line)), []);
});
