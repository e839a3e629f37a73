import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { answer } from '../../src/editor/query';
import type { EditorQuery } from '../../src/protocol';
import { file, until, write } from './kit';

const CODE = `export function overdue(days: number): boolean {
  return days > 30;
}

export const late = overdue(31);
`;
const ask = (query: Partial<EditorQuery> & Pick<EditorQuery, 'kind'>) => answer({ limit: 200, ...query });

describe('what only the editor knows', () => {
  let path: string;

  before(async () => {
    path = (await write('late.ts', CODE)).fsPath;
    await vscode.window.showTextDocument(file('late.ts'));
  });

  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('problems are told with the worst first, and cut when there are many', async () => {
    const collection = vscode.languages.createDiagnosticCollection('office');
    const at = (line: number) => new vscode.Range(line, 0, line, 4);
    const warning = new vscode.Diagnostic(at(1), 'This is odd', vscode.DiagnosticSeverity.Warning);
    const error = new vscode.Diagnostic(at(4), 'This is wrong', vscode.DiagnosticSeverity.Error);
    error.source = 'office';
    error.code = { value: 'E1', target: vscode.Uri.parse('https://example.com') };
    collection.set(file('late.ts'), [warning, error]);
    const { diagnostics, isCut } = await ask({ kind: 'diagnostics', path });
    const ours = diagnostics?.filter((one) => /odd|wrong/.test(one.message));
    assert.deepEqual(ours?.map((one) => [one.severity, one.message, one.code, one.place.line]), [
      ['error', 'This is wrong', 'E1', 5],
      ['warning', 'This is odd', undefined, 2],
    ]);
    assert.equal(isCut, false);
    const cut = await ask({ kind: 'diagnostics', limit: 1 });
    assert.deepEqual([cut.diagnostics?.length, cut.isCut], [1, true]);
    collection.dispose();
  });

  it('the selection is told with its place', async () => {
    const editor = await vscode.window.showTextDocument(file('late.ts'));
    editor.selection = new vscode.Selection(0, 16, 0, 23);
    const { selection } = await ask({ kind: 'selection' });
    assert.deepEqual(selection, { place: { path, line: 1, column: 17, endLine: 1, endColumn: 24 }, text: 'overdue' });
  });

  it('open files are told, the active one and unsaved ones marked', async () => {
    await write('other.md', '# Other\n');
    const editor = await vscode.window.showTextDocument(file('other.md'), { preview: false });
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), 'unsaved '));
    const { files } = await ask({ kind: 'openFiles' });
    const other = files?.find((one) => one.path.endsWith('other.md'));
    assert.deepEqual(other, { path: file('other.md').fsPath, language: 'markdown', isActive: true, isDirty: true });
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await vscode.window.showTextDocument(file('late.ts'));
  });

  it('another language server’s definition, references, hover, symbols and rename are told', async () => {
    const use = { path, line: 5, column: 22 };
    const definition = await until('TypeScript answers', async () => {
      const { places } = await ask({ kind: 'definition', ...use });
      return places?.length ? places : undefined;
    });
    assert.deepEqual(definition[0], { path, line: 1, column: 17, endLine: 1, endColumn: 24 });
    const references = await ask({ kind: 'references', ...use });
    assert.deepEqual(references.places?.map((place) => place.line).sort(), [1, 5]);
    const { hover } = await ask({ kind: 'hover', ...use });
    assert.match(hover ?? '', /function overdue\(days: number\): boolean/);
    const { symbols } = await ask({ kind: 'symbols', path });
    assert.deepEqual(symbols?.map((one) => [one.kind, one.name]), [['variable', 'late'], ['function', 'overdue']].sort(byLine(symbols)));
    const { changes } = await ask({ kind: 'rename', ...use, newName: 'isLate' });
    assert.deepEqual(changes?.map((one) => [one.place.line, one.newText]).sort(), [[1, 'isLate'], [5, 'isLate']]);
    assert.equal((await vscode.workspace.openTextDocument(path)).getText(), CODE, 'asking changes nothing');
  });

  it('what cannot be answered is refused with a reason', async () => {
    await assert.rejects(ask({ kind: 'definition', path }), /needs path, line and column/);
    const { places } = await ask({ kind: 'definition', path: (await write('plain.txt', 'plain')).fsPath, line: 1, column: 1 });
    assert.deepEqual(places, []);
  });

  it('a change is shown in the editor’s own diff view', async () => {
    await vscode.commands.executeCommand('caddie.diff.open', { path, before: 'a\n', after: 'b\n' });
    const tab = await until('the diff is there', () => vscode.window.tabGroups.activeTabGroup.activeTab);
    assert.ok(tab.input instanceof vscode.TabInputTextDiff);
    assert.equal(tab.label, 'late.ts (proposed)');
    const modified = await vscode.workspace.openTextDocument(tab.input.modified);
    assert.deepEqual([modified.getText(), modified.languageId], ['b\n', 'typescript']);
  });
});

/** The order in which the language server gave them. */
function byLine(symbols: { name: string }[] | null | undefined): (a: string[], b: string[]) => number {
  const order = (symbols ?? []).map((one) => one.name);
  return (a, b) => order.indexOf(a[1] ?? '') - order.indexOf(b[1] ?? '');
}
