/** Where MCP servers are configured: the folder's files, or the settings. */
import * as vscode from 'vscode';
import { localFolders } from '../folders';
import type { WriteScope } from '../tools/view';

const FILES = ['.mcp.json', '.vscode/mcp.json'];

export async function openConfiguration(scope: WriteScope): Promise<void> {
  const files = await existingFiles();
  const setting = {
    label: vscode.l10n.t('Settings'),
    description: scope === 'user' ? vscode.l10n.t('user') : vscode.l10n.t('workspace'),
    uri: undefined,
  };
  const rows = [...files.map((uri) => ({ label: vscode.workspace.asRelativePath(uri), description: '', uri })), setting];
  const placeHolder = vscode.l10n.t('Which configuration?');
  const picked = rows.length === 1 ? setting : await vscode.window.showQuickPick(rows, { placeHolder });
  if (picked?.uri) await vscode.window.showTextDocument(picked.uri);
  else if (picked) await openSettingsFile(scope);
}

async function openSettingsFile(scope: WriteScope): Promise<void> {
  const command = scope === 'user' ? 'workbench.action.openSettingsJson' : 'workbench.action.openWorkspaceSettingsFile';
  await vscode.commands.executeCommand(command, { revealSetting: { key: 'caddie.mcp.servers', edit: true } });
}

async function existingFiles(): Promise<vscode.Uri[]> {
  const folders = localFolders().slice(0, 1); // the server reads those of its workspace alone
  const uris = folders.flatMap((folder) => FILES.map((file) => vscode.Uri.joinPath(folder.uri, file)));
  const found = await Promise.all(
    uris.map((uri) =>
      vscode.workspace.fs.stat(uri).then(
        () => [uri],
        () => [],
      ),
    ),
  );
  return found.flat();
}
