/** Which model answers? Chosen from what the provider lists, or by name; kept in the person's settings. */
import * as vscode from 'vscode';
import type { CaddieClient } from '../client';
import { modelsList, type ModelInfo, type ModelsListResult } from '../protocol';
import { writeSetting } from '../settings';
import { noLinks, oneLine, tokens } from '../text';

interface Row extends vscode.QuickPickItem {
  act?: () => Promise<void>;
}

export async function pickModel(client: CaddieClient, sessionId: string | undefined): Promise<void> {
  const pick = vscode.window.createQuickPick<Row>();
  pick.title = vscode.l10n.t('Model');
  pick.placeholder = vscode.l10n.t('Choose a model, or type the name of one');
  pick.matchOnDescription = true;
  pick.busy = true;
  let known: Row[] = providerRows('');
  const draw = () => {
    const own = pick.value.trim();
    const isKnown = known.some(({ label }) => label === own);
    const typed =
      own && !isKnown
        ? [{ label: own, description: vscode.l10n.t('use this name'), act: () => use('model', own), alwaysShow: true }]
        : [];
    pick.items = [...typed, ...known];
  };
  const listing = new vscode.CancellationTokenSource();
  pick.onDidChangeValue(draw);
  pick.onDidHide(() => {
    listing.cancel();
    pick.dispose();
  });
  pick.onDidAccept(() => {
    const { act } = pick.selectedItems[0] ?? {};
    pick.hide();
    act?.().then(undefined, (error: unknown) => void vscode.window.showErrorMessage(noLinks(String(error))));
  });
  pick.show();
  draw();
  try {
    const listed = await client.request(modelsList, { sessionId }, listing.token);
    known = [...modelRows(listed), ...providerRows(listed.provider)];
  } catch (error) {
    known = [{ label: `$(warning) ${error instanceof Error ? error.message : String(error)}` }, ...providerRows('')];
  }
  pick.busy = false;
  draw();
}

function modelRows({ provider, models, model, why, problem }: ModelsListResult): Row[] {
  const rows = models.map((one) => modelRow(one, one.id === model));
  const trouble = problem ? [{ label: `$(warning) ${oneLine(problem)}`, alwaysShow: true }] : [];
  return [{ label: `${provider} · ${oneLine(why)}`, kind: vscode.QuickPickItemKind.Separator }, ...trouble, ...rows];
}

function modelRow({ id, label, context }: ModelInfo, isUsed: boolean): Row {
  const room = context ? vscode.l10n.t('reads {0} tokens', tokens(context)) : '';
  const name = label && label !== id ? oneLine(label) : '';
  return {
    label: oneLine(id),
    description: [isUsed ? '$(check)' : '', name, room].filter(Boolean).join(' · '),
    act: () => use('model', id),
  };
}

function providerRows(current: string): Row[] {
  const setting = vscode.workspace.getConfiguration('caddie').get<string>('provider', 'auto');
  return [
    { label: vscode.l10n.t('Provider'), kind: vscode.QuickPickItemKind.Separator },
    ...providers().map((name) => ({
      label: name,
      description: [
        name === setting ? '$(check)' : '',
        name === current && setting !== name ? vscode.l10n.t('in use') : '',
      ].join(' '),
      act: async () => {
        await use('provider', name);
        await use('model', undefined);
      },
    })),
    {
      label: `$(gear) ${vscode.l10n.t('Open the settings')}`,
      act: async () => void vscode.commands.executeCommand('caddie.openSettings'),
    },
  ];
}

/** As the settings offer them. */
function providers(): string[] {
  const { packageJSON } = vscode.extensions.getExtension('caddie.caddie') ?? {};
  const { contributes } = packageJSON as {
    contributes: { configuration: { properties: Record<string, { enum?: string[] }> }[] };
  };
  return contributes.configuration.flatMap(({ properties }) => properties['caddie.provider']?.enum ?? []);
}

/** Where it is already set, else for the person. */
async function use(key: 'model' | 'provider', value: string | undefined): Promise<void> {
  const found = vscode.workspace.getConfiguration('caddie').inspect(key);
  const inWorkspace = found?.workspaceValue !== undefined || found?.workspaceFolderValue !== undefined;
  await writeSetting(key, value, inWorkspace ? 'workspace' : 'user');
}
