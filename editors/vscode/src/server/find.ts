/** Looks for the server on this machine. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import * as vscode from 'vscode';
import { localFolders } from '../folders';
import { asCommand, choose, pathFiles } from './candidates';
import { privatePython } from './install';
import { notFound, type ServerCommand } from './process';
import { runs } from './run';

/** There is none; the person may install it. */
export class ServerMissing extends Error {
  constructor() {
    super(vscode.l10n.t('Caddie’s server is not installed here.'));
  }
}

interface PythonExtension {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

const HAS_SERVER = 'import importlib.metadata as m; m.version("caddie-ls")';

/** Raises ServerMissing. `keys` are the person's secrets, by name of the environment variable. */
export async function findServer(
  context: vscode.ExtensionContext,
  keys: () => Promise<Record<string, string>>,
): Promise<ServerCommand> {
  const configured = await located(asCommand(vscode.workspace.getConfiguration('caddie').get('server.command')));
  const onPath = configured.length ? undefined : await firstRunnable(pathFiles('caddie', process.env, process.platform));
  const python = configured.length || onPath ? undefined : await pythonWithServer();
  const mine = configured.length || onPath || python ? undefined : await firstRunnable([privatePython(context)]);
  const chosen = choose({ configured, onPath, python, privateEnvironment: mine });
  if (!chosen) throw new ServerMissing();
  return { ...chosen, env: { ...process.env, ...(await keys()) }, cwd: localFolders()[0]?.uri.fsPath };
}

/** A mere name is looked for on the PATH alone: Windows would look into the folder that is open first. */
async function located([command, ...args]: readonly string[]): Promise<readonly string[]> {
  if (!command) return [];
  if (/[\\/]/.test(command)) return [command, ...args];
  const found = await firstRunnable(pathFiles(command, process.env, process.platform));
  if (!found) throw new Error(notFound(command));
  return [found, ...args];
}

async function firstRunnable(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    if (await access(file, constants.X_OK).then(() => true, () => false)) return file;
  }
  return undefined;
}

/** The Python extension's interpreter for this workspace, if it is there. */
export async function activeInterpreter(): Promise<string | undefined> {
  // The folder's own environment is code of the folder.
  if (!vscode.workspace.isTrusted) return undefined;
  const extension = vscode.extensions.getExtension<PythonExtension>('ms-python.python');
  if (!extension) return undefined;
  try {
    const { environments } = await extension.activate();
    const active = environments.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
    return (await environments.resolveEnvironment(active))?.executable.uri?.fsPath;
  } catch {
    return undefined; // another extension's trouble is not ours
  }
}

async function pythonWithServer(): Promise<string | undefined> {
  const python = await activeInterpreter();
  return python && (await runs(python, ['-P', '-c', HAS_SERVER])) ? python : undefined;
}
