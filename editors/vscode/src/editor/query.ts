/** Answers what only the editor knows. Asking changes nothing and moves nothing. */
import * as vscode from 'vscode';
import type { CaddieClient } from '../client';
import { type Diagnostic, editorQuery, type EditorAnswer, type EditorQuery, type OpenFile, type Place } from '../protocol';
import * as convert from './convert';

export function registerEditorQuery(client: CaddieClient): vscode.Disposable {
  return vscode.Disposable.from(
    client.onRequest(editorQuery, (query) => answer(query)),
    vscode.languages.onDidChangeDiagnostics(({ uris }) => uris.forEach(noteLook)),
  );
}

/** The version of each document when its diagnostics were last published. */
const lookedAt = new Map<string, number>();

function noteLook(uri: vscode.Uri): void {
  const document = openDocument(uri);
  if (document) lookedAt.set(uri.toString(), document.version);
}

function openDocument(uri: vscode.Uri): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
}

/** Waits until somebody has looked at the document as it is now; not at all where nobody ever looks. */
async function settle(path: string, ms: number): Promise<void> {
  const uri = vscode.Uri.file(path);
  const seen = lookedAt.get(uri.toString());
  if (seen === undefined || seen === openDocument(uri)?.version) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      listening.dispose();
      resolve();
    };
    const timer = setTimeout(done, ms);
    const listening = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      if (uris.some((one) => one.toString() === uri.toString())) done();
    });
  });
}

export async function answer(query: EditorQuery): Promise<EditorAnswer> {
  switch (query.kind) {
    case 'diagnostics':
      if (query.path && query.settleMs) await settle(query.path, query.settleMs);
      return limited(query, 'diagnostics', diagnostics(query.settleMs === undefined ? query.path : undefined));
    case 'selection':
      return { selection: selection(), isCut: false };
    case 'openFiles':
      return limited(query, 'files', openFiles());
    case 'definition':
      return limited(query, 'places', await places('vscode.executeDefinitionProvider', query));
    case 'references':
      return limited(query, 'places', await places('vscode.executeReferenceProvider', query));
    case 'hover':
      return { hover: await hover(query), isCut: false };
    case 'symbols':
      return limited(query, 'symbols', await symbols(query));
    case 'rename':
      return limited(query, 'changes', await rename(query));
  }
}

function limited<K extends 'diagnostics' | 'files' | 'places' | 'symbols' | 'changes'>(
  query: EditorQuery,
  key: K,
  items: NonNullable<EditorAnswer[K]>,
): EditorAnswer {
  const limit = query.limit ?? 200;
  return { [key]: items.slice(0, limit), isCut: items.length > limit };
}

function diagnostics(path: string | undefined): Diagnostic[] {
  const all: [vscode.Uri, readonly vscode.Diagnostic[]][] = path
    ? [[vscode.Uri.file(path), vscode.languages.getDiagnostics(vscode.Uri.file(path))]]
    : vscode.languages.getDiagnostics();
  return all
    .filter(([uri]) => uri.scheme === 'file')
    .flatMap(([uri, found]) => found.map((one) => convert.diagnostic(uri, one)))
    .sort((a, b) => convert.SEVERITIES.indexOf(a.severity) - convert.SEVERITIES.indexOf(b.severity));
}

function selection(): EditorAnswer['selection'] {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.uri.scheme !== 'file') return undefined;
  return {
    place: convert.place(editor.document.uri, editor.selection),
    text: editor.document.getText(editor.selection),
  };
}

function openFiles(): OpenFile[] {
  const active = vscode.window.activeTextEditor?.document.uri.toString();
  const open = new Map(vscode.workspace.textDocuments.map((document) => [document.uri.toString(), document]));
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const uris = tabs.flatMap((tab) => (tab.input instanceof vscode.TabInputText ? [tab.input.uri] : []));
  const files = new Map(uris.filter((uri) => uri.scheme === 'file').map((uri) => [uri.toString(), uri]));
  return [...files].map(([key, uri]) => ({
    path: uri.fsPath,
    language: open.get(key)?.languageId ?? '',
    isActive: key === active,
    isDirty: open.get(key)?.isDirty ?? false,
  }));
}

async function places(command: string, query: EditorQuery): Promise<Place[]> {
  const { uri, position } = spot(query);
  const found = await vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[]>(command, uri, position);
  return (found ?? []).map(convert.location);
}

async function hover(query: EditorQuery): Promise<string> {
  const { uri, position } = spot(query);
  const found = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', uri, position);
  return (found ?? []).flatMap((one) => one.contents.map(convert.markdownText)).join('\n\n');
}

async function symbols(query: EditorQuery): Promise<NonNullable<EditorAnswer['symbols']>> {
  if (!query.path) {
    const command = 'vscode.executeWorkspaceSymbolProvider';
    const found = await vscode.commands.executeCommand<vscode.SymbolInformation[]>(command, query.query ?? '');
    return (found ?? []).map(convert.symbolInformation);
  }
  const uri = vscode.Uri.file(query.path);
  await vscode.workspace.openTextDocument(uri);
  const command = 'vscode.executeDocumentSymbolProvider';
  const found = await vscode.commands.executeCommand<(vscode.DocumentSymbol | vscode.SymbolInformation)[]>(command, uri);
  return (found ?? []).flatMap((one) => convert.symbol(uri, one));
}

async function rename(query: EditorQuery): Promise<NonNullable<EditorAnswer['changes']>> {
  const { uri, position } = spot(query);
  if (!query.newName) throw new Error('a rename needs newName');
  await vscode.workspace.openTextDocument(uri);
  const command = 'vscode.executeDocumentRenameProvider';
  const edit = await vscode.commands.executeCommand<vscode.WorkspaceEdit | undefined>(command, uri, position, query.newName);
  return (edit?.entries() ?? []).flatMap(([file, edits]) =>
    edits.map((one) => ({ place: convert.place(file, one.range), newText: one.newText })),
  );
}

function spot(query: EditorQuery): { uri: vscode.Uri; position: vscode.Position } {
  if (!query.path || !query.line || !query.column) {
    throw new Error(`${query.kind} needs path, line and column`);
  }
  return { uri: vscode.Uri.file(query.path), position: new vscode.Position(query.line - 1, query.column - 1) };
}
