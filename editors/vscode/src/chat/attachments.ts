/** What can go with a message: files, pictures, the selected text, the problems of a file. */
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { FileMatch } from '../../webview/src/bridge';
import { localFolders } from '../folders';
import type { Attachment } from '../protocol';
import { globsIn, inTurns } from './file-search';

const MOST_FILES = 30;
const SEVERITIES = ['error', 'warning', 'information', 'hint'];

/** Files of all folders whose name has these letters in it, those that are open first. */
export async function findFiles(query: string): Promise<FileMatch[]> {
  const fits = (uri: vscode.Uri) => shownPath(uri).toLowerCase().includes(query.toLowerCase());
  const open = openFiles().filter(fits);
  const folders = vscode.workspace.workspaceFolders ?? [];
  const searches = folders.flatMap((folder) =>
    globsIn(folder.name, query, folders.length > 1).map((glob) => new vscode.RelativePattern(folder, glob)),
  );
  const search = (pattern: vscode.RelativePattern) => vscode.workspace.findFiles(pattern, undefined, MOST_FILES);
  const found = query ? inTurns(await Promise.all(searches.map(search))) : [];
  const all = new Map([...open, ...found].map((uri) => [uri.toString(), uri]));
  return [...all.values()].slice(0, MOST_FILES).map((uri) => {
    const shown = shownPath(uri);
    const folder = path.posix.dirname(shown);
    return { path: uri.toString(), name: path.posix.basename(shown), folder: folder === '.' ? '' : folder };
  });
}

function openFiles(): vscode.Uri[] {
  const tabs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
  return tabs.flatMap(({ input }) =>
    input instanceof vscode.TabInputText && input.uri.scheme === 'file' ? [input.uri] : [],
  );
}

export function shownPath(uri: vscode.Uri): string {
  return vscode.workspace
    .asRelativePath(uri, (vscode.workspace.workspaceFolders?.length ?? 0) > 1)
    .replaceAll('\\', '/');
}

/** Over SSH and the like the explorer names files by the window's remote, which is where this runs. */
function uriOf(address: string): vscode.Uri {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(address)) return vscode.Uri.file(address);
  const uri = vscode.Uri.parse(address, true);
  return uri.scheme === 'vscode-remote' ? vscode.Uri.file(uri.path) : uri;
}

/** Refuses with the reason. */
export async function fileAttachment(address: string): Promise<Attachment> {
  const uri = uriOf(address);
  const name = shownPath(uri);
  const stat = await vscode.workspace.fs.stat(uri);
  if (stat.type & vscode.FileType.Directory) {
    throw new Error(vscode.l10n.t('{0} is a folder; attach files of it, or name the folder in the message.', name));
  }
  if (uri.scheme === 'file') return { name, path: uri.fsPath };
  return { name, text: (await vscode.workspace.openTextDocument(uri)).getText() };
}

export async function chooseFiles(): Promise<string[]> {
  const chosen = await vscode.window.showOpenDialog({
    canSelectMany: true,
    openLabel: vscode.l10n.t('Attach'),
    defaultUri: localFolders()[0]?.uri,
  });
  return (chosen ?? []).map(String);
}

export function selectionAttachment(editor: vscode.TextEditor | undefined): Attachment | undefined {
  if (!editor || editor.selection.isEmpty) return undefined;
  const { document, selection } = editor;
  const last = selection.end.character === 0 ? selection.end.line : selection.end.line + 1;
  const lines = last > selection.start.line + 1 ? `${selection.start.line + 1}-${last}` : `${selection.start.line + 1}`;
  return { name: `${shownPath(document.uri)}:${lines}`, text: document.getText(selection) };
}

export function problemsAttachment(editor: vscode.TextEditor | undefined): Attachment | undefined {
  if (!editor) return undefined;
  const problems = vscode.languages.getDiagnostics(editor.document.uri);
  if (problems.length === 0) return undefined;
  const name = shownPath(editor.document.uri);
  const lines = problems.map(({ range, severity, message, source }) => {
    const place = `${name}:${range.start.line + 1}:${range.start.character + 1}`;
    return `${place}: ${SEVERITIES[severity] ?? 'error'}: ${message}${source ? ` [${source}]` : ''}`;
  });
  return { name: vscode.l10n.t('problems of {0}', name), text: lines.join('\n') };
}

const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,([A-Za-z0-9+/=]+)$/;

export function pictureAttachment(name: string, dataUrl: string): Attachment {
  const [, kind, data] = PICTURE.exec(dataUrl) ?? [];
  if (!kind || !data) throw new Error(vscode.l10n.t('This is no picture that a model can read.'));
  return { name: name || vscode.l10n.t('picture'), data, mediaType: `image/${kind}` };
}
