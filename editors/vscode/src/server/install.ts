/** Makes a private environment and installs the server into it, when the person asks for it. */
import { readdir, rm } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { ISOLATED, isNewEnough } from './candidates';
import { activeInterpreter } from './find';
import { run } from './run';
import { noLinks } from '../text';

const PACKAGE = 'caddie-ls';
const NAMES = ['python3.13', 'python3.12', 'python3.11', 'python3', 'python'];
const VERSION = 'import sys; print("%d.%d" % sys.version_info[:2])';
const MINUTES = 15 * 60_000;

function folder(context: vscode.ExtensionContext): string {
  return path.join(context.globalStorageUri.fsPath, 'server');
}

/** Where the private environment's interpreter is or would be. */
export function privatePython(context: vscode.ExtensionContext): string {
  return process.platform === 'win32'
    ? path.join(folder(context), 'Scripts', 'python.exe')
    : path.join(folder(context), 'bin', 'python');
}

/** Shows progress, can be cancelled, leaves nothing half done. Whether the server is there now. */
export async function installServer(
  context: vscode.ExtensionContext,
  output: vscode.LogOutputChannel,
): Promise<boolean> {
  try {
    await vscode.window.withProgress(
      {
        location: vscode.ProgressLocation.Notification,
        title: vscode.l10n.t('Installing Caddie’s server'),
        cancellable: true,
      },
      (progress, token) => install(context, output, (message) => progress.report({ message }), token),
    );
    return true;
  } catch (error) {
    await rm(folder(context), { recursive: true, force: true });
    if (error instanceof vscode.CancellationError) {
      output.info('the installation was cancelled');
      return false;
    }
    return await tellAndAsk(context, output, error instanceof Error ? error.message : String(error));
  }
}

async function tellAndAsk(
  context: vscode.ExtensionContext,
  output: vscode.LogOutputChannel,
  why: string,
): Promise<boolean> {
  output.error(`installing: ${why}`);
  const [again, log] = [vscode.l10n.t('Try Again'), vscode.l10n.t('Show Log')];
  const message = vscode.l10n.t('Caddie’s server could not be installed: {0}', why);
  const choice = await vscode.window.showErrorMessage(noLinks(message), again, log);
  if (choice === log) output.show(true);
  return choice === again ? installServer(context, output) : false;
}

async function install(
  context: vscode.ExtensionContext,
  output: vscode.LogOutputChannel,
  report: (message: string) => void,
  token: vscode.CancellationToken,
): Promise<void> {
  const onOutput = (text: string) => output.append(text);
  report(vscode.l10n.t('looking for Python …'));
  const python = await findPython(token);
  report(vscode.l10n.t('making an environment …'));
  output.info(`making ${folder(context)} with ${python}`);
  await vscode.workspace.fs.createDirectory(context.globalStorageUri);
  await run(python, [ISOLATED, '-m', 'venv', '--clear', folder(context)], { token, timeout: MINUTES, onOutput });
  report(vscode.l10n.t('downloading (about a minute) …'));
  const what = await shippedWheel(context);
  output.info(`installing ${what}`);
  const pip = [ISOLATED, '-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', what];
  await run(privatePython(context), pip, { token, timeout: MINUTES, onOutput });
}

/** The wheel that came with this extension, so that both have the same version; else the released one. */
async function shippedWheel(context: vscode.ExtensionContext): Promise<string> {
  const shipped = context.asAbsolutePath(path.join('dist', 'server'));
  const files = await readdir(shipped).catch(() => []);
  const wheel = files.find((file) => file.endsWith('.whl'));
  return wheel ? path.join(shipped, wheel) : PACKAGE;
}

async function findPython(token: vscode.CancellationToken): Promise<string> {
  const active = await activeInterpreter();
  const seen: string[] = [];
  for (const candidate of active ? [active, ...NAMES] : NAMES) {
    const version = await run(candidate, [ISOLATED, '-c', VERSION], { token, timeout: 10_000 }).catch((error: unknown) => {
      if (error instanceof vscode.CancellationError) throw error;
      return '';
    });
    if (isNewEnough(version)) return candidate;
    if (version) seen.push(version.trim());
  }
  throw new Error(
    seen.length
      ? vscode.l10n.t('Python 3.11, 3.12 or 3.13 is needed; found {0}.', [...new Set(seen)].join(', '))
      : vscode.l10n.t('Python 3.11, 3.12 or 3.13 is needed; none was found on the PATH.'),
  );
}
