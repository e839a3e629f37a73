/** What is to be reviewed, in the editors: above each change what can be done with it, at its lines a mark. */
import * as vscode from 'vscode';
import { messageOf } from '../client';
import { fileOf } from '../folders';
import type { FileChanges, FileChoice, Hunk, UndoResult } from '../protocol';
import { noLinks, oneLine } from '../text';
import type { Changes } from './changes';
import { hasConflict } from './said';

const SETTLE_MS = 400;

export class EditorReview implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly moved = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.moved.event;
  private readonly marks = { added: markOf('added'), modified: markOf('modified'), deleted: markOf('deleted') };
  private files = new Map<string, FileChanges>();
  private readonly parts: vscode.Disposable;
  private settling: NodeJS.Timeout | undefined;

  constructor(private readonly changes: Changes) {
    changes.onChange(() => this.follow());
    const perhaps = (uris: readonly vscode.Uri[]) => uris.some((uri) => this.files.has(uri.toString())) && this.later();
    this.parts = vscode.Disposable.from(
      ...[this.moved, ...Object.values(this.marks)],
      vscode.languages.registerCodeLensProvider({ scheme: 'file' }, this),
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => perhaps([document.uri])),
      vscode.workspace.onDidSaveTextDocument(({ uri }) => perhaps([uri])),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => perhaps([uri])),
      vscode.workspace.onDidDeleteFiles(({ files }) => perhaps(files)),
      vscode.workspace.onDidRenameFiles(({ files }) => perhaps(files.map(({ oldUri }) => oldUri))),
      // Another program may have been at work meanwhile.
      vscode.window.onDidChangeWindowState(({ focused }) => focused && this.files.size > 0 && this.later()),
      ...this.commands(),
    );
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const file = this.files.get(document.uri.toString());
    if (!file || document.lineCount === 0) return [];
    if (file.hunks.length === 0) return lenses(new vscode.Range(0, 0, 0, 0), { path: file.path }, file.blocked);
    return file.hunks.flatMap((hunk) =>
      lenses(rangeOf(hunk, document), { path: file.path, hunks: [hunk.id] }, file.blocked),
    );
  }

  dispose(): void {
    clearTimeout(this.settling);
    this.parts.dispose();
  }

  private commands(): vscode.Disposable[] {
    const on = (name: string, act: (choice?: FileChoice) => Promise<UndoResult | void>) =>
      vscode.commands.registerCommand(`caddie.changes.${name}`, async (choice?: FileChoice) => {
        try {
          const result = await act(choice);
          if (!result) return;
          if (hasConflict(result)) void vscode.window.showWarningMessage(noLinks(oneLine(result.message)));
          else vscode.window.setStatusBarMessage(oneLine(result.message), 4000);
        } catch (error) {
          void vscode.window.showWarningMessage(noLinks(oneLine(messageOf(error))));
        }
      });
    return [
      on('keep', (choice) => this.changes.keep([choice ?? this.here()])),
      on('takeBack', (choice) => this.changes.takeBack([choice ?? this.here()])),
      on('keepAll', () => this.changes.keep()),
      on('takeBackAll', async () => this.changes.takeBackAll()),
    ];
  }

  /** The change at the cursor. */
  private here(): FileChoice {
    const editor = vscode.window.activeTextEditor;
    const file = editor && this.files.get(editor.document.uri.toString());
    if (file && file.hunks.length === 0) return { path: file.path };
    const isHere = (hunk: Hunk) => editor && rangeOf(hunk, editor.document).contains(editor.selection.active);
    const hunk = file?.hunks.find(isHere);
    if (!file || !hunk) throw new Error(vscode.l10n.t('At the cursor is no change that is to be reviewed.'));
    return { path: file.path, hunks: [hunk.id] };
  }

  /** Once typing has paused. */
  private later(): void {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => void this.changes.refresh(), SETTLE_MS);
  }

  private follow(): void {
    this.files = new Map(this.changes.files.map((file) => [fileOf(file.path).toString(), file]));
    const paths = this.changes.files.map(({ path }) => fileOf(path).fsPath);
    void vscode.commands.executeCommand('setContext', 'caddie.changes.files', paths);
    void vscode.commands.executeCommand('setContext', 'caddie.changes.count', paths.length);
    this.moved.fire();
    this.draw();
  }

  private draw(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const hunks = this.files.get(editor.document.uri.toString())?.hunks ?? [];
      for (const kind of ['added', 'modified', 'deleted'] as const) {
        const wanted = hunks.filter((hunk) => kindOf(hunk) === kind);
        editor.setDecorations(this.marks[kind], wanted.map((hunk) => rangeOf(hunk, editor.document)));
      }
    }
  }
}

function lenses(range: vscode.Range, choice: FileChoice, blocked: string | undefined): vscode.CodeLens[] {
  const lens = (command: string, title: string) => new vscode.CodeLens(range, { command, title, arguments: [choice] });
  const keep = lens('caddie.changes.keep', `$(check)\u00a0${vscode.l10n.t('Keep')}`);
  return blocked ? [keep] : [keep, lens('caddie.changes.takeBack', `$(discard)\u00a0${vscode.l10n.t('Take back')}`)];
}

/** Whole lines; where lines are gone, the one that follows. */
function rangeOf({ newStart, newLines }: Hunk, document: vscode.TextDocument): vscode.Range {
  const last = document.lineCount - 1;
  const first = Math.min(newLines > 0 ? newStart - 1 : newStart, last);
  const end = Math.min(first + Math.max(newLines, 1) - 1, last);
  return new vscode.Range(first, 0, end, document.lineAt(end).text.length);
}

type Kind = 'added' | 'modified' | 'deleted';

function kindOf({ oldLines, newLines }: Hunk): Kind {
  if (newLines === 0) return 'deleted';
  return oldLines === 0 ? 'added' : 'modified';
}

function markOf(kind: Kind): vscode.TextEditorDecorationType {
  // High contrast has no background for it, and where lines are gone there is nothing to colour.
  const background = kind === 'deleted' ? {} : { backgroundColor: new vscode.ThemeColor('diffEditor.insertedLineBackground') };
  return vscode.window.createTextEditorDecorationType({
    ...background,
    ...{ borderStyle: 'solid', borderWidth: kind === 'deleted' ? '1px 0 0 0' : '0 0 0 2px', isWholeLine: true },
    borderColor: new vscode.ThemeColor(`editorGutter.${kind}Background`),
    overviewRulerColor: new vscode.ThemeColor(`editorOverviewRuler.${kind}Foreground`),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
}
