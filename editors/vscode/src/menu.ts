/** What a click on the status bar item offers. */
import * as vscode from 'vscode';
import type { ChatPanel } from './chat/api';
import type { CaddieClient } from './client';
import type { Keys } from './secrets';
import type { ToolsView } from './tools/view';

interface Row extends vscode.QuickPickItem {
  readonly command?: string;
}

export async function showMenu(client: CaddieClient, chat: ChatPanel, tools: ToolsView, keys: Keys): Promise<void> {
  const rows = [...urgent(client, chat), ...usual(tools, keys)];
  const title = client.problem || 'Caddie';
  const picked = await vscode.window.showQuickPick<Row>(rows, { title, placeHolder: vscode.l10n.t('What do you want?') });
  if (picked?.command) await vscode.commands.executeCommand(picked.command);
}

function urgent(client: CaddieClient, chat: ChatPanel): Row[] {
  const rows: Row[] = [];
  if (client.state === 'failed') {
    rows.push({ label: `$(debug-restart) ${vscode.l10n.t('Restart Server')}`, command: 'caddie.server.restart' });
    rows.push({ label: `$(cloud-download) ${vscode.l10n.t('Install Server')}`, command: 'caddie.server.install' });
  }
  if (chat.pendingCount) {
    const label = `$(bell-dot) ${vscode.l10n.t('Show What Waits for You')}`;
    rows.push({ label, description: String(chat.pendingCount), command: 'caddie.chat.showPending' });
  }
  if (chat.state.isBusy) rows.push({ label: `$(debug-stop) ${vscode.l10n.t('Stop')}`, command: 'caddie.chat.stop' });
  if (!vscode.workspace.isTrusted) {
    const label = `$(workspace-untrusted) ${vscode.l10n.t('Manage Workspace Trust')}`;
    rows.push({ label, command: 'caddie.trust.manage' });
  }
  return rows;
}

function usual(tools: ToolsView, keys: Keys): Row[] {
  const totals = tools.catalogue?.totals;
  const counts = totals ? `${totals.enabled} ✓ · ${totals.deferred} ◐ · ${totals.disabled} ✗` : undefined;
  return [
    { label: `$(comment-discussion) ${vscode.l10n.t('Open Chat')}`, command: 'caddie.chat.open' },
    { label: `$(tools) ${vscode.l10n.t('Open Tools')}`, description: counts, command: 'caddie.tools.focus' },
    { label: `$(arrow-swap) ${vscode.l10n.t('Switch Mode')}`, command: 'caddie.chat.switchMode' },
    { label: `$(sparkle) ${vscode.l10n.t('Choose Provider and Model')}`, command: 'caddie.chat.pickModel' },
    { label: `$(key) ${vscode.l10n.t('Set API Key')}`, description: keys.names.join(', '), command: 'caddie.setApiKey' },
    { label: `$(shield) ${vscode.l10n.t('Review Permissions')}`, command: 'caddie.permissions.review' },
    { label: `$(settings-gear) ${vscode.l10n.t('Open Settings')}`, command: 'caddie.openSettings' },
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    { label: `$(debug-restart) ${vscode.l10n.t('Restart Server')}`, command: 'caddie.server.restart' },
    { label: `$(output) ${vscode.l10n.t('Show Log')}`, command: 'caddie.showLog' },
  ];
}
