/** Rules and grants in force, and taking a grant back. */
import * as vscode from 'vscode';
import type { ChatPanel } from './chat/api';
import { type CaddieClient, messageOf } from './client';
import { type GrantInfo, permissionsList, permissionsRevoke } from './protocol';
import { noLinks, oneLine } from './text';

interface Row extends vscode.QuickPickItem {
  readonly grant?: GrantInfo;
  readonly setting?: string;
}

export async function reviewPermissions(client: CaddieClient, chat: ChatPanel): Promise<void> {
  try {
    const { rules, grants } = await client.request(permissionsList, { sessionId: chat.state.sessionId ?? null });
    const rows: Row[] = [
      { label: vscode.l10n.t('Given in prompts'), kind: vscode.QuickPickItemKind.Separator },
      ...grants.map(grantRow),
      { label: vscode.l10n.t('Rules of the settings'), kind: vscode.QuickPickItemKind.Separator },
      ...rules.map((rule) => ({
        label: `$(book) ${oneLine(rule.rule)}`,
        description: `${rule.kind} · ${rule.scope}`,
        setting: `caddie.permissions.${rule.kind}`,
      })),
      { label: `$(add) ${vscode.l10n.t('Change the rules …')}`, setting: 'caddie.permissions' },
    ];
    const title = vscode.l10n.t('Review Permissions');
    const placeHolder = vscode.l10n.t('Pick a permission to take it back, or a rule to change it');
    const picked = await vscode.window.showQuickPick(rows, { title, placeHolder, matchOnDescription: true });
    if (picked?.grant) await takeBack(client, picked.grant);
    else if (picked?.setting) await vscode.commands.executeCommand('workbench.action.openSettings', picked.setting);
  } catch (error) {
    void vscode.window.showErrorMessage(noLinks(messageOf(error)));
  }
}

function grantRow(grant: GrantInfo): Row {
  const server = grant.server ? ` · ${oneLine(grant.server)}` : '';
  const scope = grant.scope === 'session' ? vscode.l10n.t('this conversation') : vscode.l10n.t('always');
  return {
    label: `$(shield) ${oneLine(grant.tool)}${server}`,
    description: [scope, grant.granted.slice(0, 16).replace('T', ' ')].join(' · '),
    detail: grant.pattern ? oneLine(grant.pattern) : undefined,
    grant,
  };
}

async function takeBack(client: CaddieClient, grant: GrantInfo): Promise<void> {
  await client.request(permissionsRevoke, { id: grant.id });
  vscode.window.setStatusBarMessage(vscode.l10n.t('{0} asks again from now on.', oneLine(grant.tool)), 5000);
}
