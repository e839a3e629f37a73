/** Opens the place where a state was decided. */
import * as vscode from 'vscode';
import type { StateSource } from '../protocol';
import type { WriteScope } from './view';
import { noLinks } from '../text';

const FILE_SCOPES = ['user', 'workspace'];

export async function openSetting(source: StateSource, fallback: WriteScope): Promise<void> {
  if (source.kind === 'setting' && source.origin && FILE_SCOPES.includes(source.scope ?? '')) {
    await openFile(source.origin, source.pattern ?? source.setting ?? '');
    return;
  }
  const scope = { editorUser: 'user', editorWorkspace: 'workspace' }[source.scope ?? ''] ?? fallback;
  const command = scope === 'user' ? 'workbench.action.openSettingsJson' : 'workbench.action.openWorkspaceSettingsFile';
  const key = `caddie.${source.setting ?? 'tools.profile'}`;
  await vscode.commands.executeCommand(command, { revealSetting: { key } });
}

async function openFile(path: string, words: string): Promise<void> {
  try {
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(path));
    const at = editor.document.getText().indexOf(JSON.stringify(words));
    if (at < 0) return;
    const start = editor.document.positionAt(at);
    editor.selection = new vscode.Selection(start, start);
    editor.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.InCenter);
  } catch {
    void vscode.window.showWarningMessage(noLinks(vscode.l10n.t('The file {0} cannot be opened.', path)));
  }
}
