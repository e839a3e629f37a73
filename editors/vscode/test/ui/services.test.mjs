/** What the editor does for the server: changes as one undo step, problems, and what other language servers know. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { conversing } from '../kit/conversing.mjs';
import { callTool, say } from '../kit/model.mjs';
import { FILES } from '../kit/office.mjs';
import { Panel } from '../kit/panel.mjs';
import { PYTHON, REPOSITORY } from '../kit/paths.mjs';
import { openWorkbench, sharing, until } from '../kit/workbench.mjs';

const WAIT = { timeout: 60_000 };
const TERMS = '{\n  "days": 30\n}\n';

async function openFile({ page, quickPick }, name, words) {
  await page.locator('.part.statusbar').click({ position: { x: 400, y: 8 } });
  await page.keyboard.press('Control+P');
  await page.locator('.quick-input-widget input').first().fill(name);
  await quickPick(name).click();
  await page.locator('.editor-instance .view-lines').filter({ hasText: words }).first().waitFor(WAIT);
  await page.locator('.editor-instance .native-edit-context, .editor-instance textarea').first().focus();
}

describe('with the real server', () => {
  let bench, chat, page, model;
  const check = conversing({
    name: 'services',
    settings: { 'files.autoSave': 'off', 'caddie.permissions.mode': 'acceptEdits' },
    files: { ...FILES, 'terms.json': TERMS },
    size: { width: 1280, height: 800 },
  }, (all) => ({ bench, chat, page, model } = all));

  const open = (name, words) => openFile({ page, quickPick: (text) => bench.quickPick(text) }, name, words);
  const lines = () => page.locator('.editor-instance .view-lines').first();
  const answers = () => model.requests.at(-1).body.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);

  check('an edit of a file with unsaved changes is read as it stands, made in the editor, and undone by one Ctrl+Z', async () => {
    await open('invoices.py', 'overdue');
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('# mine, not saved\n');
    const path = `${bench.workspace}/invoices.py`;
    model.play(
      callTool('Read', { path }),
      callTool('Edit', { path, old_string: 'return []', new_string: 'late = sorted(invoices)\n    return late' }),
      say('Changed.'),
    );
    await chat.ask('Sort them');
    await chat.says('Changed.');
    await chat.isIdle();
    assert.match(answers()[0], /# mine, not saved/);
    await lines().filter({ hasText: 'late = sorted(invoices)' }).waitFor();
    await lines().filter({ hasText: '# mine, not saved' }).waitFor();
    await bench.shot('edited');
    await page.locator('.editor-instance .native-edit-context, .editor-instance textarea').first().focus();
    await page.keyboard.press('Control+Z');
    await lines().filter({ hasText: 'return []' }).waitFor();
    assert.match((await lines().innerText()).replaceAll('\u00a0', ' '), /# mine, not saved/);
    await page.keyboard.press('Control+Shift+Z');
    await lines().filter({ hasText: 'return late' }).waitFor();
    await bench.command('File: Revert File');
  });

  check('problems that an edit makes are in its result, as the editor’s own language server found them', async () => {
    await open('terms.json', 'days');
    const path = `${bench.workspace}/terms.json`;
    model.play(
      callTool('Read', { path }),
      callTool('Edit', { path, old_string: '30', new_string: '30 days' }),
      callTool('Edit', { path, old_string: '30 days', new_string: '30' }),
      say('Mended.'),
    );
    await chat.ask('Say it in days');
    await chat.says('Mended.');
    const [, broken, mended] = answers().slice(-3);
    assert.match(broken, /terms\.json/);
    assert.match(broken, /Expected comma|Value expected|Expected/);
    assert.doesNotMatch(mended, /Expected/);
  });
});

describe('over the wire', () => {
  const CODE = 'export function overdue(days: number) {\n  return days > 30;\n}\n\nexport const late = overdue(31);\n';
  const log = join(tmpdir(), `caddie-services-${process.pid}.jsonl`);
  const script = join(tmpdir(), `caddie-services-${process.pid}.json`);
  let bench, chat, page;
  const { check, state } = sharing(() => bench);

  before(async () => {
    const use = { path: 'PATH', line: 5, column: 22, limit: 200 };
    const ask = (kind, more = {}) => ({ request: 'caddie/editor/query', id: kind, params: { kind, ...use, ...more } });
    const kinds = ['definition', 'references', 'hover', 'symbols', 'openFiles', 'selection', 'diagnostics'];
    const turn = [...kinds.map((kind) => ask(kind)), ask('rename', { newName: 'isLate' })];
    bench = await openWorkbench({
      name: 'wire',
      command: [PYTHON, join(REPOSITORY, 'tests/fixtures/scripted_lsp_server.py'), script, log],
      files: { 'late.ts': CODE },
      settings: { 'files.autoSave': 'off' },
      open: false,
    });
    const path = join(bench.workspace, 'late.ts');
    const said = [{ event: { kind: 'text', text: 'Asked.' } }, { event: { kind: 'done', stopReason: 'endTurn', text: 'Asked.' } }];
    const turns = [[...turn, ...said]];
    writeFileSync(script, JSON.stringify({ turns }).replaceAll('"PATH"', JSON.stringify(path)));
    await bench.open();
    page = bench.page;
    chat = new Panel(bench);
    await chat.open();
  }, { timeout: 240_000 });

  after(async () => {
    await bench?.close(state.failures > 0);
    for (const file of [log, script]) rmSync(file, { force: true });
  }, { timeout: 60_000 });

  function answered() {
    const messages = readFileSync(log, 'utf8').split('\n').filter((line) => line.endsWith('}')).map((line) => JSON.parse(line));
    return Object.fromEntries(messages.filter(({ method, id }) => !method && id).map(({ id, result, error }) => [id, result ?? error]));
  }

  check('definition, references, hover, symbols and rename of the TypeScript server, the selection and open files', async () => {
    await openFile({ page, quickPick: (text) => bench.quickPick(text) }, 'late.ts', 'overdue');
    // The language server answers once it has read the file: then the editor's own command goes there.
    await page.keyboard.press('Control+End');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('End');
    for (let n = 0; n < 6; n += 1) await page.keyboard.press('ArrowLeft');
    await until('TypeScript knows the place', async () => {
      await page.keyboard.press('F12');
      return (await page.locator('.part.statusbar').getByText('Ln 1,').count()) > 0;
    }, 60_000);
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Shift+End');
    await chat.ask('Ask the editor');
    await chat.says('Asked.');
    const path = join(bench.workspace, 'late.ts');
    const { definition, references, hover, symbols, openFiles, selection, diagnostics, rename } = answered();
    assert.deepEqual(definition.places, [{ path, line: 1, column: 17, endLine: 1, endColumn: 24 }]);
    assert.deepEqual(references.places.map(({ line }) => line).sort(), [1, 5]);
    assert.match(hover.hover, /function overdue\(days: number\): boolean/);
    assert.deepEqual(symbols.symbols.map(({ name }) => name).sort(), ['late', 'overdue']);
    assert.deepEqual(openFiles.files, [{ path, language: 'typescript', isActive: true, isDirty: false }]);
    assert.equal(selection.selection.text, 'export function overdue(days: number) {');
    assert.deepEqual(diagnostics.diagnostics, []);
    assert.deepEqual(rename.changes.map(({ place, newText }) => [place.line, newText]).sort(), [[1, 'isLate'], [5, 'isLate']]);
    assert.equal(bench.read('late.ts'), CODE, 'asking changes nothing');
  });
});
