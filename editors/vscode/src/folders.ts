/** Which folders of the window are on this machine's disk, and which file does a path mean? The first is the server's. */
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Root } from '../webview/src/roots';

export function localFolders(): readonly vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
}

/** With the names that tell them apart; where two are called the same, their paths do. */
export function roots(): Root[] {
  const folders = localFolders();
  const shown = ({ name, uri }: vscode.WorkspaceFolder) =>
    folders.some((other) => other.uri !== uri && other.name === name) ? uri.fsPath : name;
  return folders.map((one) => ({ path: one.uri.fsPath, name: folders.length > 1 ? shown(one) : '' }));
}

/** A path of the server's: absolute, or relative to the first folder. */
export function fileOf(name: string): vscode.Uri {
  const folder = localFolders()[0]?.uri;
  return path.isAbsolute(name) || !folder ? vscode.Uri.file(name) : vscode.Uri.joinPath(folder, name);
}

/** A path as people and models write it: from any folder, or with the folder's name in front, as the editor has it.
 * `isShown` says that the editor wrote it. */
export async function existingFile(name: string, isShown = false): Promise<vscode.Uri | undefined> {
  for (const uri of path.isAbsolute(name) ? [vscode.Uri.file(name)] : places(name, isShown)) {
    try {
      await vscode.workspace.fs.stat(uri);
      return uri;
    } catch {
      continue;
    }
  }
  return undefined;
}

function places(name: string, isShown: boolean): vscode.Uri[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const [first, ...rest] = name.split(/[\\/]/);
  const called = folders.length > 1 && rest.length > 0 ? folders.filter((folder) => folder.name === first) : [];
  const inAny = folders.map(({ uri }) => vscode.Uri.joinPath(uri, name));
  const named = called.map(({ uri }) => vscode.Uri.joinPath(uri, ...rest));
  return isShown ? [...named, ...inAny] : [...inAny, ...named];
}
