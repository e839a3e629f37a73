import * as path from 'node:path';
import * as vscode from 'vscode';
import type { CaddieApi } from '../../src/extension';

export async function caddie(): Promise<CaddieApi> {
  const extension = vscode.extensions.getExtension<CaddieApi>('caddie.caddie');
  if (!extension) throw new Error('the extension is not there');
  const api = await extension.activate();
  await api.client.start();
  return api;
}

export function file(name: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!folder) throw new Error('no folder is open');
  return vscode.Uri.joinPath(folder.uri, name);
}

export async function write(name: string, text: string): Promise<vscode.Uri> {
  const uri = file(name);
  await vscode.workspace.fs.createDirectory(vscode.Uri.file(path.dirname(uri.fsPath)));
  await vscode.workspace.fs.writeFile(uri, Buffer.from(text));
  return uri;
}

export async function read(name: string): Promise<string> {
  return Buffer.from(await vscode.workspace.fs.readFile(file(name))).toString();
}

export async function until<T>(what: string, look: () => T | Promise<T>, timeout = 30_000): Promise<NonNullable<T>> {
  const end = Date.now() + timeout;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited ${timeout} ms until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
