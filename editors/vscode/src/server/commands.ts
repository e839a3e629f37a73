/** Commands about the server itself, and what is said when it is missing or stays down. */
import * as vscode from 'vscode';
import type { CaddieClient } from '../client';
import type { Keys } from '../secrets';
import { ServerMissing } from './find';
import { installServer } from './install';
import { noLinks } from '../text';

export function registerServerCommands(
  context: vscode.ExtensionContext,
  client: CaddieClient,
  output: vscode.LogOutputChannel,
  keys: Keys,
): vscode.Disposable {
  const restart = () => client.restart().catch(() => undefined);
  const restartIf = async (changed: Promise<boolean>) => {
    if (await changed) await restart();
  };
  const table: Record<string, () => unknown> = {
    'server.restart': restart,
    'server.install': () => restartIf(installServer(context, output)),
    showLog: () => output.show(true),
    setApiKey: () => restartIf(keys.ask()),
    removeApiKey: () => restartIf(keys.askToRemove()),
    openSettings: () => vscode.commands.executeCommand('workbench.action.openSettings', `@ext:${context.extension.id}`),
    openWalkthrough: () =>
      vscode.commands.executeCommand('workbench.action.openWalkthrough', `${context.extension.id}#start`, false),
    'trust.manage': () => vscode.commands.executeCommand('workbench.trust.manage'),
  };
  const commands = Object.entries(table).map(([name, act]) => vscode.commands.registerCommand(`caddie.${name}`, act));
  return vscode.Disposable.from(...commands);
}

/** Context keys for the views, and one notification per kind of trouble. */
export function watchServer(
  context: vscode.ExtensionContext,
  client: CaddieClient,
  output: vscode.LogOutputChannel,
): vscode.Disposable {
  let told = '';
  const follow = () => {
    const set = (key: string, value: unknown) => void vscode.commands.executeCommand('setContext', key, value);
    set('caddie.state', client.state);
    set('caddie.serverMissing', client.error instanceof ServerMissing);
    if (client.state === 'ready') told = '';
    if (client.state !== 'failed' || client.problem === told) return;
    told = client.problem;
    void (client.error instanceof ServerMissing ? offerInstall() : tellFailure(client.problem, output));
  };
  const listening = client.onDidChangeState(follow);
  const configured = vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration('caddie.server')) void client.restart().catch(() => undefined);
  });
  context.subscriptions.push(listening);
  follow();
  return vscode.Disposable.from(listening, configured);
}

async function offerInstall(): Promise<void> {
  const [install, name] = [vscode.l10n.t('Install'), vscode.l10n.t('Name It in Settings')];
  const words = vscode.l10n.t('Caddie needs its server, which is not installed here. Install it into a private environment?');
  const choice = await vscode.window.showInformationMessage(words, install, name);
  if (choice === install) await vscode.commands.executeCommand('caddie.server.install');
  if (choice === name) await vscode.commands.executeCommand('workbench.action.openSettings', 'caddie.server.command');
}

async function tellFailure(why: string, output: vscode.LogOutputChannel): Promise<void> {
  const [restart, log] = [vscode.l10n.t('Restart'), vscode.l10n.t('Show Log')];
  const choice = await vscode.window.showErrorMessage(noLinks(why), restart, log);
  if (choice === restart) await vscode.commands.executeCommand('caddie.server.restart');
  if (choice === log) output.show(true);
}
