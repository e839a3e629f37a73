/** What did the person write into the editor's settings, and where? Defaults are the server's business. */
import * as vscode from 'vscode';

export type Tree = Record<string, unknown>;

export interface EditorSettings {
  readonly user: Tree;
  readonly workspace: Tree;
}

/** Settings of the extension itself, which the server does not know. */
const OWN = ['server'];

export function readSettings(): EditorSettings {
  const resource = vscode.workspace.workspaceFolders?.[0]?.uri;
  const found = vscode.workspace.getConfiguration(undefined, resource).inspect<Tree>('caddie');
  return {
    user: withoutOwn(found?.globalValue),
    workspace: withoutOwn(merged(found?.workspaceValue, found?.workspaceFolderValue)),
  };
}

export async function writeSetting(key: string, value: unknown, scope: 'user' | 'workspace'): Promise<void> {
  const hasFolder = (vscode.workspace.workspaceFolders?.length ?? 0) > 0 || vscode.workspace.workspaceFile;
  if (scope === 'workspace' && !hasFolder) {
    throw new Error(vscode.l10n.t('No folder is open, so there are no workspace settings. Choose the user’s instead.'));
  }
  const target = scope === 'user' ? vscode.ConfigurationTarget.Global : vscode.ConfigurationTarget.Workspace;
  await vscode.workspace.getConfiguration('caddie').update(key, value ?? undefined, target);
}

/** As JSON travels: VS Code hands out proxies. */
export function asPlainSettings(settings: EditorSettings): EditorSettings {
  return JSON.parse(JSON.stringify(settings)) as EditorSettings;
}

function withoutOwn(tree: Tree | undefined): Tree {
  return Object.fromEntries(Object.entries(tree ?? {}).filter(([key]) => !OWN.includes(key)));
}

function merged(one: unknown, two: unknown): Tree {
  if (!isTree(two)) return isTree(one) ? one : {};
  if (!isTree(one)) return two;
  const keys = new Set([...Object.keys(one), ...Object.keys(two)]);
  return Object.fromEntries(
    [...keys].map((key) => {
      const [a, b] = [one[key], two[key]];
      return [key, isTree(a) && isTree(b) ? merged(a, b) : (b ?? a)];
    }),
  );
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
