/** What goes with a message, and what a slash and an `@` do: each seen in the request that reaches the model. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { conversing } from '../kit/conversing.mjs';
import { callTool, said, say } from '../kit/model.mjs';
import { ACME, FILES } from '../kit/office.mjs';
import { PYTHON, REPOSITORY } from '../kit/paths.mjs';
import { until } from '../kit/workbench.mjs';

const WAIT = { timeout: 60_000 };
const PROMPTING = { command: PYTHON, args: [join(REPOSITORY, 'tests/fixtures/mcp_servers/prompting.py'), 'handshake'] };
/** A red point. */
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
let bench, chat, page, model;
const check = conversing({
  name: 'attach',
  settings: { 'files.autoSave': 'off', 'caddie.mcp.servers': { acme: ACME, office: PROMPTING } },
  files: { ...FILES, 'broken.json': '{\n  "paid": \n}\n', 'docs/terms.md': '# Payable within 30 days\n' },
  size: { width: 1400, height: 900 },
}, (all) => ({ bench, chat, page, model } = all));

const chip = (name) => chat.frame.locator('.composer .chip').filter({ hasText: name });

async function openFile(name, words) {
  await page.locator('.part.statusbar').click({ position: { x: 400, y: 8 } });
  await page.keyboard.press('Control+P');
  await page.locator('.quick-input-widget input').first().fill(name);
  await bench.quickPick(name.split('/').at(-1)).click();
  await page.locator('.editor-instance .view-lines').filter({ hasText: words }).first().waitFor(WAIT);
  await page.locator('.editor-instance .native-edit-context, .editor-instance textarea').first().focus();
}

/** Sends it and gives what the model heard. */
async function heard(message, answer = say('Heard.')) {
  const before = model.requests.length;
  model.play(answer);
  await chat.ask(message);
  await until('the model is asked', () => model.requests.length > before, 30_000);
  await chat.isIdle();
  return said(model.requests.at(before));
}

check('the selected text goes along by its key, with its place', async () => {
  await openFile('invoices.py', 'overdue');
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Shift+End');
  await page.keyboard.press('Control+Alt+A');
  await chip('invoices.py:1').waitFor(WAIT);
  await bench.shot('selection');
  const { text } = await heard('What does this do?');
  assert.ok(text.includes('<attachment name="invoices.py:1">\ndef overdue(invoices):\n</attachment>'), text);
  assert.ok(text.endsWith('What does this do?'));
  assert.equal(await chip('invoices.py').count(), 0);
  assert.match(await chat.frame.locator('.item-user').last().innerText(), /What does this do\?\s+invoices\.py:1/);
});

check('the problems of the open file go along by a slash command, as the editor has them', async () => {
  await openFile('broken.json', 'paid');
  await page.locator('.editor-instance .squiggly-error').first().waitFor({ ...WAIT, state: 'attached' });
  await chat.ask('/problems');
  await chip('problems of broken.json').waitFor(WAIT);
  const { text } = await heard('Mend it');
  assert.match(text, /<attachment name="problems of broken\.json">\nbroken\.json:3:1: error: Value expected/);
});

check('the + button offers files, the selection and the problems', async () => {
  await openFile('invoices.py', 'overdue');
  await page.keyboard.press('Control+A');
  await chat.button('Attach files').click();
  await bench.quickPick('Selected text').waitFor(WAIT);
  await bench.shot('plus');
  await bench.quickPick('Selected text').click();
  await chip('invoices.py:1-2').waitFor(WAIT);
  await chip('invoices.py:1-2').getByRole('button', { name: 'Remove invoices.py:1-2' }).click();
  await chip('invoices.py:1-2').waitFor({ state: 'detached' });
  await chat.button('Attach files').click();
  await bench.quickPick('Files…').click();
  await bench.quickPick('docs').click();
  await bench.quickPick('terms.md').click();
  await chip('docs/terms.md').waitFor(WAIT);
  const { text } = await heard('Are these right?');
  assert.ok(text.includes('<attachment name="docs/terms.md">\n# Payable within 30 days\n\n</attachment>'), text);
});

check('#file finds by any part of its path, and an open file goes along as it stands in the editor', async () => {
  await openFile('invoices.py', 'overdue');
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('# not saved yet\n');
  await chat.input.fill('');
  await chat.type('compare #TERM');
  await chat.frame.locator('.completion').filter({ hasText: 'terms.md' }).waitFor(WAIT);
  await bench.shot('file');
  await page.keyboard.press('Tab');
  await chip('docs/terms.md').waitFor(WAIT);
  await page.keyboard.type('and #invo');
  await chat.frame.locator('.completion').filter({ hasText: 'invoices.py' }).first().click();
  await chip('invoices.py').waitFor(WAIT);
  assert.equal(await chat.input.inputValue(), 'compare and ');
  const { text } = await heard('compare these');
  assert.match(text, /<attachment name="docs\/terms\.md">/);
  assert.match(text, /<attachment name="invoices\.py">\n# not saved yet\ndef overdue/);
  await bench.command('File: Revert File');
});

check('a picture is pasted from the clipboard, seen small, and reaches the model', async () => {
  await page.evaluate(async (data) => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    const picture = new Blob([bytes], { type: 'image/png' });
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': picture })]);
  }, PICTURE);
  await chat.input.click();
  await page.keyboard.press('Control+V');
  await chat.frame.locator('.composer .chip img').waitFor(WAIT);
  await bench.shot('picture');
  const { pictures } = await heard('What is on it?');
  assert.equal(pictures.length, 1);
  assert.match(pictures[0], /^data:image\/png;base64,iVBOR/);
});

check('a file is dragged from the explorer onto the input, with Shift as the editor wants it', async () => {
  await page.keyboard.press('Control+Shift+E');
  const row = page.locator('.explorer-folders-view .monaco-list-row').filter({ hasText: 'invoices.py' });
  await row.waitFor(WAIT);
  const [from, to] = [await row.boundingBox(), await chat.input.boundingBox()];
  await page.mouse.move(from.x + 40, from.y + 10);
  await page.mouse.down();
  await page.mouse.move(from.x + 60, from.y + 20, { steps: 3 });
  await page.keyboard.down('Shift');
  await page.mouse.move(to.x + 30, to.y + 8, { steps: 12 });
  await bench.shot('dragging');
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await chip('invoices.py').waitFor(WAIT);
  const { text } = await heard('And this?');
  assert.match(text, /<attachment name="invoices\.py">\ndef overdue/);
});

check('a picture is dropped from outside; what is none is refused with the way', async () => {
  const drop = (name, type, data) => chat.input.evaluate((field, file) => {
    const bytes = Uint8Array.from(atob(file.data), (letter) => letter.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], file.name, { type: file.type }));
    field.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }, { name, type, data });
  await drop('report.pdf', 'application/pdf', '');
  await chat.says('report.pdf is no picture');
  await drop('receipt.png', 'image/png', PICTURE);
  await chip('receipt.png').waitFor(WAIT);
  const { pictures } = await heard('Is it paid?');
  assert.deepEqual(pictures, [`data:image/png;base64,${PICTURE}`]);
});

check('@server narrows: the model is told, and its search finds only tools of that server', async () => {
  await chat.input.fill('');
  await chat.type('@ac');
  await chat.frame.locator('.completion').filter({ hasText: '@acme' }).waitFor(WAIT);
  await page.keyboard.press('Enter');
  assert.equal(await chat.input.inputValue(), '@acme ');
  const before = model.requests.length;
  model.play(callTool('ToolSearch', { query: 'add invoices' }), say('Found.'));
  await chat.input.fill('@acme which tools add to invoices?');
  await chat.frame.locator('.hint').first().waitFor(WAIT);
  const servers = await chat.frame.locator('.hint-server').allInnerTexts();
  assert.deepEqual([...new Set(servers)], ['acme']);
  await bench.shot('narrowed');
  await chat.input.press('Enter');
  await until('the search is answered', () => model.requests.length > before + 1, 30_000);
  await chat.isIdle();
  assert.match(said(model.requests[before]).text, /<servers>\n[^<]*: acme\n<\/servers>/);
  const found = model.requests[before + 1].body.messages.at(-1);
  assert.equal(found.role, 'tool');
  assert.match(found.content, /mcp__acme__find_invoices/);
  assert.doesNotMatch(found.content, /mcp__office__/);
});

check('a prompt of a server asks for its arguments, and its words come into the input', async () => {
  await chat.input.fill('');
  await chat.type('/review');
  await chat.frame.locator('.completion').filter({ hasText: 'office:review' }).waitFor(WAIT);
  await page.keyboard.press('Enter');
  const box = page.locator('.quick-input-widget');
  await box.filter({ hasText: 'Of the code.' }).waitFor();
  await page.keyboard.press('Enter');
  await box.filter({ hasText: 'This one is needed.' }).waitFor();
  await bench.shot('prompt-argument');
  await page.keyboard.type('ledger');
  await page.keyboard.press('Enter');
  await box.filter({ hasText: 'tone (may be empty)' }).waitFor();
  await page.keyboard.press('Enter');
  await until('the words are in the input', async () => (await chat.input.inputValue()) === 'Review this ledger.');
  await chat.input.fill('/office:review');
  await chat.input.press('Enter');
  await bench.typeIn('Of the code.', 'invoice');
  await bench.typeIn('tone (may be empty)', 'friendly');
  const words = 'Review this invoice in a friendly tone.';
  await until('the words are in the input', async () => (await chat.input.inputValue()) === words);
  await until('the input has the keyboard', () => chat.input.evaluate((field) => field === document.activeElement));
  const { text } = await heard(words);
  assert.ok(text.endsWith(words));
});

check('/rename and /compact do it; the model goes on with its notes', async () => {
  await chat.ask('/rename late invoices');
  await page.locator('.part.statusbar').getByText('The conversation is called “late invoices” now.').waitFor(WAIT);
  await chat.ask('/sessions');
  await bench.quickPick('late invoices').waitFor(WAIT);
  await bench.quickPick('late invoices').locator('.codicon-check').waitFor();
  await page.keyboard.press('Escape');
  const before = model.requests.length;
  model.play(say('The person looked at invoices and terms.'), say('We looked at invoices.'));
  await chat.ask('/compact');
  await chat.says('Shortened from about');
  assert.equal(model.requests.length, before + 1);
  await bench.shot('compacted');
  await chat.ask('What did we do?');
  await chat.says('We looked at invoices.');
  const { messages } = model.requests.at(-1).body;
  assert.match(said(model.requests.at(-1)).text, /<conversation-so-far>\n[\s\S]*looked at invoices and terms[\s\S]*What did we do\?$/);
  assert.equal(messages.filter(({ role }) => role === 'user').length, 1);
});

check('/plan, /agent and /tools do what the buttons do', async () => {
  await chat.ask('/plan');
  await chat.button('Plan').waitFor(WAIT);
  await chat.ask('/agent');
  await chat.button('Agent').waitFor(WAIT);
  await chat.ask('/tools');
  await page.locator('.customview-tree .label-name').getByText('Built-in', { exact: true }).waitFor(WAIT);
});
