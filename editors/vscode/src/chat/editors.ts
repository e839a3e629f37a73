/** What the panel does in editors: code inserted, links followed, diffs and whole texts shown. */
import * as path from 'node:path';
import * as vscode from 'vscode';
import { linkOf } from '../../webview/src/links';
import { existingFile, fileOf } from '../folders';
import { shownPath } from './attachments';

/** The editor that the person used last: while the panel has the focus there may be no active one. */
export class LastEditor implements vscode.Disposable {
  private last = vscode.window.activeTextEditor;
  private readonly listening = vscode.window.onDidChangeActiveTextEditor((editor) => {
    if (editor) this.last = editor;
  });

  get editor(): vscode.TextEditor | undefined {
    const isOpen = this.last && vscode.window.visibleTextEditors.includes(this.last);
    return vscode.window.activeTextEditor ?? (isOpen ? this.last : vscode.window.visibleTextEditors[0]);
  }

  dispose(): void {
    this.listening.dispose();
  }
}

/** At the cursor, or instead of what is selected; without an editor in a new one. */
export async function insertCode(editor: vscode.TextEditor | undefined, code: string, language: string): Promise<void> {
  if (!editor) {
    const known = await vscode.languages.getLanguages();
    const document = await vscode.workspace.openTextDocument({
      content: code,
      ...(known.includes(language) ? { language } : {}),
    });
    await vscode.window.showTextDocument(document);
    return;
  }
  const went = await editor.edit((edit) => {
    for (const selection of editor.selections) edit.replace(selection, code);
  });
  if (!went) throw new Error(vscode.l10n.t('{0} cannot be changed.', shownPath(editor.document.uri)));
  await vscode.window.showTextDocument(editor.document, editor.viewColumn);
}

/** Only what `links.ts` lets through; a file outside of the workspace only after a question. */
export async function followLink(href: string): Promise<void> {
  const link = linkOf(href);
  if (!link) return;
  if (link.kind === 'web') {
    await vscode.env.openExternal(vscode.Uri.parse(link.href, true));
    return;
  }
  const uri = await existingFile(link.path);
  if (!uri) throw new Error(vscode.l10n.t('There is no file {0} here.', link.path));
  if (!vscode.workspace.getWorkspaceFolder(uri) && !(await isWanted(uri))) return;
  const at = new vscode.Position(Math.max((link.line ?? 1) - 1, 0), 0);
  const options = link.line ? { selection: new vscode.Range(at, at) } : {};
  await vscode.commands.executeCommand('vscode.open', uri, options);
}

async function isWanted(uri: vscode.Uri): Promise<boolean> {
  const open = vscode.l10n.t('Open');
  const words = vscode.l10n.t('Open this file? It is outside of the workspace.');
  return (await vscode.window.showWarningMessage(words, { modal: true, detail: uri.fsPath }, open)) === open;
}

/** The file itself on the right: VS Code's own arrows take single changes back. */
export async function openChange(name: string, before?: vscode.Uri, after?: vscode.Uri): Promise<void> {
  const uri = after ?? fileOf(name);
  if (!before) return void (await vscode.commands.executeCommand('vscode.open', uri));
  const title = vscode.l10n.t('{0} (before ↔ now)', path.basename(name));
  await vscode.commands.executeCommand('vscode.diff', before, uri, title, { preview: true });
}
