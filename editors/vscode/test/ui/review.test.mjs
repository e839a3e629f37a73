/** What the model did is looked at, accepted and taken back; what was asked is asked anew. */
import assert from 'node:assert/strict';
import { conversing } from '../kit/conversing.mjs';
import { callTool, say } from '../kit/model.mjs';
import { until } from '../kit/workbench.mjs';

const WAIT = { timeout: 60_000 };
const LINES = Array.from({ length: 30 }, (_, at) => `line_${at + 1} = ${at + 1}`);
let bench, chat, page, model;
const check = conversing({
  name: 'review',
  settings: { 'caddie.permissions.mode': 'acceptEdits', 'workbench.colorTheme': 'Default Dark Modern' },
  files: { 'numbers.py': `${LINES.join('\n')}\n`, 'old.txt': 'Not needed any more.\n' },
  size: { width: 1280, height: 900 },
}, (all) => ({ bench, chat, page, model } = all));

const messages = () => model.requests.at(-1).body.messages.filter(({ role }) => role === 'user').map(({ content }) => JSON.stringify(content));
const read = (path) => callTool('Read', { path: `${bench.workspace}/${path}` });
const edit = (path, old_string, new_string) => callTool('Edit', { path: `${bench.workspace}/${path}`, old_string, new_string });
const editing = () => chat.frame.locator('.editing');
const pencil = async (words) => {
  const said = chat.frame.locator('.said').filter({ hasText: words });
  await said.hover();
  await said.getByRole('button', { name: 'Edit and send again' }).click();
};

check('a message that is edited replaces its turn and what followed, with their changes to files', async () => {
  model.play(say('Hello.'), read('numbers.py'), edit('numbers.py', 'line_2 = 2', 'line_2 = "wrong"'), say('The wrong thing.'), say('Not so.'));
  await chat.ask('Greet me');
  await chat.says('Hello.');
  await chat.isIdle();
  await chat.ask('Do the wrong thing');
  await chat.says('The wrong thing.');
  await chat.isIdle();
  await chat.ask('What was that?');
  await chat.says('Not so.');
  await chat.isIdle();
  await chat.type('half a thought');
  await pencil('Do the wrong thing');
  await editing().waitFor();
  assert.equal(await chat.input.inputValue(), 'Do the wrong thing');
  assert.match(await editing().innerText(), /Sending replaces this message[\s\S]*1 file/);
  await bench.shot('editing');
  await chat.input.press('Escape');
  await editing().waitFor({ state: 'detached' });
  assert.equal(await chat.input.inputValue(), 'half a thought');
  await pencil('Do the wrong thing');
  await editing().waitFor();
  model.play(say('The right thing.'));
  await chat.ask('Do the right thing');
  await chat.says('The right thing.');
  await chat.isIdle();
  const text = await chat.text();
  assert.match(text, /Greet me[\s\S]*Do the right thing/);
  assert.doesNotMatch(text, /wrong thing|What was that/);
  assert.match(messages().join(), /Greet me.*Do the right thing/);
  assert.doesNotMatch(JSON.stringify(model.requests.at(-1).body.messages), /wrong thing|What was that/);
  assert.equal(bench.read('numbers.py'), `${LINES.join('\n')}\n`);
  await bench.shot('edited');
});

const changes = () => chat.frame.locator('.changes');
const files = () => chat.frame.locator('.changed-file .changed-base').allInnerTexts();
const listed = (...names) => until(`${names} are listed`, async () => String(await files()) === String(names));
const lines = (changed) => `${LINES.map((line, at) => changed[at + 1] ?? line).join('\n')}\n`;
const lens = (words) => page.locator('.codelens-decoration a').filter({ hasText: words });
const openFile = async (name) => {
  await page.keyboard.press('Control+P');
  await page.locator('.quick-input-widget input').fill(name);
  await bench.quickPick(name).click();
  await page.locator('.tab.active').filter({ hasText: name }).waitFor(WAIT);
};

check('what a turn changed is kept and taken back by file and by hunk', async () => {
  model.play(
    read('numbers.py'),
    edit('numbers.py', 'line_3 = 3', 'line_3 = 33\nline_3b = 34'),
    edit('numbers.py', 'line_15 = 15', 'line_15 = 155'),
    edit('numbers.py', 'line_25 = 25\n', ''),
    callTool('Write', { path: `${bench.workspace}/made.txt`, content: 'Made by the model.\n' }),
    say('All changed.'),
  );
  await chat.ask('Change the numbers');
  await chat.says('All changed.');
  await listed('made.txt', 'numbers.py');
  assert.match(await changes().innerText(), /2 files changed[\s\S]*made\.txt[\s\S]*\+1[\s\S]*numbers\.py[\s\S]*\+3[\s\S]*−3/);
  await chat.button('Changes in numbers.py').click();
  assert.deepEqual(await chat.frame.locator('.changed-place > span').allInnerTexts(), ['lines 3–4', 'line 16', 'line 25']);
  await bench.shot('hunks');
  await chat.button('Take back lines 3–4').click();
  await until('one hunk is taken back', () => bench.read('numbers.py') === lines({ 15: 'line_15 = 155' }).replace('line_25 = 25\n', ''));
  await chat.button('Undo the undo').click();
  await until('it is there again', () => /line_3b/.test(bench.read('numbers.py')));
  await chat.button('Keep lines 3–4').click();
  await chat.frame.locator('.changed-place').filter({ hasText: 'lines 3–4' }).waitFor({ state: 'detached' });
  await chat.button('Take back made.txt').click();
  await listed('numbers.py');
  assert.throws(() => bench.read('made.txt'));
  await chat.frame.locator('.changed-name').click();
  await page.locator('.monaco-diff-editor').first().waitFor(WAIT);
  await page.locator('.tab').filter({ hasText: 'before' }).waitFor(WAIT);
  await bench.shot('diff');
  await bench.command('View: Close All Editors');
});

check('in the editor, each change has its lenses, and the command at the cursor does the same', async () => {
  await openFile('numbers.py');
  await lens('Take back').first().waitFor(WAIT);
  await until('each change has its own', async () => (await lens('Keep').count()) === 2);
  await bench.shot('lenses');
  for (const theme of ['Default High Contrast', 'Default Light Modern']) {
    bench.set({ 'workbench.colorTheme': theme });
    await chat.frame.locator(theme.includes('Light') ? 'body.vscode-light' : 'body.vscode-high-contrast').waitFor({ ...WAIT, state: 'attached' });
    await bench.shot(`lenses-${theme.split(' ')[1].toLowerCase()}`);
  }
  bench.set({ 'workbench.colorTheme': undefined });
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('# typed by hand\n');
  await chat.frame.locator('.changed-place').filter({ hasText: 'line 17' }).waitFor(WAIT);
  await lens('Take back').first().click();
  await page.locator('.view-line').filter({ hasText: 'line_15 = 15' }).filter({ hasNotText: '155' }).waitFor(WAIT);
  await until('one lens is left', async () => (await lens('Keep').count()) === 1);
  await page.keyboard.press('Control+S');
  const saved = /^# typed by hand\nline_1 = 1\n[\s\S]*line_15 = 15\n[\s\S]*line_24 = 24\nline_26/;
  await until('it is saved', () => saved.test(bench.read('numbers.py')));
  await page.keyboard.press('Control+G');
  await page.locator('.quick-input-widget input').fill(':27');
  await page.keyboard.press('Enter');
  await bench.command('Caddie: Keep the Change at the Cursor');
  await until('nothing is listed', async () => (await files()).length === 0);
  await until('no lens is left', async () => (await lens('Keep').count()) === 0);
});

check('what is to be reviewed is there again after a reload, and what others changed too is told', async () => {
  model.play(read('old.txt'), edit('old.txt', 'any more', 'at all'), say('Old.'));
  await chat.ask('Change the old one');
  await chat.says('Old.');
  await listed('old.txt');
  await page.waitForTimeout(500);
  const reloaded = page.waitForEvent('load');
  await bench.command('Developer: Reload Window');
  await reloaded;
  await page.locator('.monaco-workbench .activitybar').waitFor(WAIT);
  await chat.open();
  await listed('old.txt');
  bench.write('old.txt', 'Not needed by anybody.\n');
  await chat.button('Take back old.txt').click();
  await chat.says('Left as it is');
  await bench.shot('conflict');
  await chat.frame.locator('.changed-blocked').waitFor(WAIT);
});

check('words are not lost when the conversation cannot go back', async () => {
  model.play(say('Notes of all that was said.'));
  await chat.ask('/compact');
  await chat.says('goes on with its notes');
  await pencil('Greet me');
  await editing().waitFor();
  await chat.ask('Greet me in French');
  await chat.says('summarized since');
  await until('the words are in the input', async () => (await chat.input.inputValue()) === 'Greet me in French');
  await bench.shot('refused');
  await chat.input.fill('');
});
