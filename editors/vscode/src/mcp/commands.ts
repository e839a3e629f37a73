/** What the person does with MCP servers: start, stop, restart, log, authorize, resources, add, remove. */
import * as vscode from 'vscode';
import { type CaddieClient, messageOf } from '../client';
import {
  mcpList,
  mcpLog,
  mcpReadResource,
  mcpResources,
  mcpRestart,
  mcpSignOut,
  mcpStart,
  mcpStop,
  type ResourceInfo,
  type ServerInfo,
} from '../protocol';
import type { Keys } from '../secrets';
import { writeSetting } from '../settings';
import { cap, noLinks, oneLine } from '../text';
import type { VirtualTexts } from '../editor/virtual';
import type { Node } from '../tools/model';
import { scopeWord, type ToolsView } from '../tools/view';
import { askServer, type Servers } from './form';
import { openConfiguration } from './open';
import { signIn } from './sign-in';

export function registerMcpCommands(
  view: ToolsView,
  client: CaddieClient,
  keys: Keys,
  texts: VirtualTexts,
): vscode.Disposable {
  const commands = new McpCommands(view, client, keys, texts);
  const table: Record<string, (node?: Node) => Promise<void>> = {
    start: (node) => commands.each(node, mcpStart),
    stop: (node) => commands.each(node, mcpStop),
    restart: (node) => commands.each(node, mcpRestart),
    log: (node) => commands.log(node),
    resources: (node) => commands.resources(node),
    authorize: (node) => commands.authorize(node),
    signOut: (node) => commands.signOut(node),
    add: () => commands.add(),
    remove: (node) => commands.remove(node),
    openConfiguration: () => openConfiguration(view.scope),
  };
  const registered = Object.entries(table).map(([name, act]) =>
    vscode.commands.registerCommand(`caddie.mcp.${name}`, async (node?: Node) => {
      try {
        await act(node);
      } catch (error) {
        void vscode.window.showErrorMessage(noLinks(messageOf(error)));
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}

class McpCommands {
  constructor(
    private readonly view: ToolsView,
    private readonly client: CaddieClient,
    private readonly keys: Keys,
    private readonly texts: VirtualTexts,
  ) {}

  async each(node: Node | undefined, type: typeof mcpStart): Promise<void> {
    const server = await this.server(node);
    if (!server) return;
    await this.client.request(type, { server });
    await this.view.refresh();
  }

  async log(node?: Node): Promise<void> {
    const server = await this.server(node);
    if (!server) return;
    const { text } = await this.client.request(mcpLog, { server });
    const words = text.trim() ? text : vscode.l10n.t('{0} has written nothing to its log.', server);
    await this.texts.show(`${server}.log`, words, 'log');
  }

  async resources(node?: Node): Promise<void> {
    const server = await this.server(node);
    if (!server) return;
    const { resources } = await this.client.request(mcpResources, { server });
    if (!resources.length) {
      void vscode.window.showInformationMessage(noLinks(vscode.l10n.t('{0} offers no resources.', oneLine(server))));
      return;
    }
    const title = vscode.l10n.t('Resources of {0}', oneLine(server));
    const picked = await vscode.window.showQuickPick(resources.map(resourceRow), { title, matchOnDetail: true });
    if (!picked) return;
    const { text } = await this.client.request(mcpReadResource, { server, uri: picked.resource.uri });
    await this.texts.show(fileName(picked.resource), text);
  }

  /** Signs in on the server's own page; a server that only wants a token gets one, kept as a secret. */
  async authorize(node?: Node): Promise<void> {
    const server = await this.server(node);
    if (!server) return;
    const { servers } = await this.client.request(mcpList, {});
    const info = servers.find((one) => one.name === server);
    if (info?.status === 'needsAuth') await signIn(this.client, server);
    else await this.giveToken(server, info);
    await this.view.refresh();
  }

  async signOut(node?: Node): Promise<void> {
    const server = await this.server(node);
    if (!server) return;
    await this.client.request(mcpSignOut, { server });
    await this.view.refresh();
  }

  private async giveToken(server: string, info: ServerInfo | undefined): Promise<void> {
    const variable = await askVariable(info);
    if (!variable || !(await this.keys.ask(variable))) return;
    await this.client.restart();
    await this.client.request(mcpRestart, { server }).catch(() => undefined);
  }

  async add(): Promise<void> {
    const known = new Set((this.view.catalogue?.servers ?? []).map((server) => server.name));
    const entry = await askServer(known, scopeWord(this.view.scope));
    if (!entry) return;
    const now = this.configured();
    await writeSetting('mcp.servers', { ...now, [entry.name]: entry.server }, this.view.scope);
    vscode.window.setStatusBarMessage(vscode.l10n.t('{0} was added to the settings.', entry.name), 5000);
  }

  async remove(node?: Node): Promise<void> {
    const server = await this.server(node);
    if (!server) return;
    const now = this.configured();
    if (!(server in now)) {
      const open = vscode.l10n.t('Open Configuration');
      const words = vscode.l10n.t(
        '{0} is not in the {1} settings, so it is not removed from there.',
        oneLine(server),
        scopeWord(this.view.scope),
      );
      if ((await vscode.window.showInformationMessage(noLinks(words), open)) === open) await openConfiguration(this.view.scope);
      return;
    }
    const remove = vscode.l10n.t('Remove');
    const sure = vscode.l10n.t('Remove the MCP server {0} from the {1} settings?', server, scopeWord(this.view.scope));
    if ((await vscode.window.showWarningMessage(sure, { modal: true }, remove)) !== remove) return;
    const rest = Object.fromEntries(Object.entries(now).filter(([name]) => name !== server));
    await writeSetting('mcp.servers', Object.keys(rest).length ? rest : undefined, this.view.scope);
  }

  /** The servers of the scope that is changed, not those of all scopes together. */
  private configured(): Servers {
    const found = vscode.workspace.getConfiguration('caddie').inspect<Servers>('mcp.servers');
    return (this.view.scope === 'user' ? found?.globalValue : found?.workspaceValue) ?? {};
  }

  private async server(node?: Node): Promise<string | undefined> {
    const [target] = this.view.targets(node);
    const about = node ?? target;
    if (about?.kind === 'trouble' || (about?.kind === 'group' && about.server)) return about.server?.name;
    const servers = this.view.catalogue?.servers ?? [];
    if (!servers.length) {
      void vscode.window.showInformationMessage(vscode.l10n.t('There are no MCP servers yet.'));
      return undefined;
    }
    const items = servers.map((one) => ({ label: one.name, description: one.status, detail: one.reason }));
    return (await vscode.window.showQuickPick(items, { placeHolder: vscode.l10n.t('Which server?') }))?.label;
  }
}

function resourceRow(resource: ResourceInfo): vscode.QuickPickItem & { resource: ResourceInfo } {
  return {
    label: cap(oneLine(resource.name), 80),
    description: cap(oneLine(resource.uri), 120),
    detail: resource.description ? cap(oneLine(resource.description), 200) : undefined,
    resource,
  };
}

function fileName(resource: ResourceInfo): string {
  const name = resource.uri.split(/[/\\]/).at(-1)?.replace(/[^\w.-]+/g, '-');
  return name || 'resource.txt';
}

async function askVariable(info: ServerInfo | undefined): Promise<string | undefined> {
  const guess = /\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/.exec(info?.reason ?? '')?.[0];
  return vscode.window.showInputBox({
    title: vscode.l10n.t('Authorize MCP Server'),
    prompt: vscode.l10n.t('Name of the environment variable that holds the token; the configuration says ${NAME} where it goes.'),
    value: guess,
    placeHolder: 'GITHUB_TOKEN',
    validateInput: (text) =>
      /^[A-Za-z_][A-Za-z0-9_]*$/.test(text.trim())
        ? undefined
        : vscode.l10n.t('Letters, digits and _ only; a letter first.'),
  });
}
