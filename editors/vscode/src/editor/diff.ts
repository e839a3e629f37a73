/** A change shown in the editor's own diff view. */
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { DiffPreview } from '../protocol';
import type { VirtualTexts } from './virtual';

export interface DiffRequest extends Pick<DiffPreview, 'path' | 'before' | 'after'> {
  readonly title?: string;
}

/** `caddie.diff.open` and `caddie.text.keep`: the chat panel's cards lead here. */
export function registerDiff(texts: VirtualTexts): vscode.Disposable {
  const keep = vscode.commands.registerCommand('caddie.text.keep', (text: { name: string; text: string }) =>
    texts.keep(text.name, text.text),
  );
  const open = vscode.commands.registerCommand('caddie.diff.open', async (diff: DiffRequest) => {
    const name = path.basename(diff.path);
    const [before, after] = [texts.keep(name, diff.before), texts.keep(name, diff.after)];
    const title = diff.title ?? vscode.l10n.t('{0} (proposed)', name);
    await vscode.commands.executeCommand('vscode.diff', before, after, title, { preview: true });
  });
  return vscode.Disposable.from(keep, open);
}
