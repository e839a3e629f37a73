/** Which tools shall not be hinted? The editor's own setting says so, and the server reads it too. */
import * as vscode from 'vscode';
import { writeSetting } from './settings';

const KEY = 'hints.exclude';

/** Names and globs; those with a glob are for the server to match. */
export function neverHinted(): readonly string[] {
  return vscode.workspace.getConfiguration('caddie').get<string[]>(KEY, []);
}

/** For the person, in every folder. */
export async function neverHint(tool: string): Promise<void> {
  await writeSetting(KEY, [...new Set([...own(), tool])], 'user');
}

export async function hintAgain(tool: string): Promise<void> {
  const left = own().filter((name) => name !== tool);
  await writeSetting(KEY, left.length ? left : undefined, 'user');
}

function own(): readonly string[] {
  return vscode.workspace.getConfiguration('caddie').inspect<string[]>(KEY)?.globalValue ?? [];
}
