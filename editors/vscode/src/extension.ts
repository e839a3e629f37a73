/** Activation: make the parts, introduce them to each other, dispose of them. */
import * as vscode from 'vscode';
import { registerAsks } from './asks';
import { type ChatPanel, registerChat } from './chat';
import { CaddieClient } from './client';
import { registerDiff } from './editor/diff';
import { registerEditorQuery } from './editor/query';
import { VirtualTexts } from './editor/virtual';
import { registerHints } from './hints';
import { registerMcpCommands } from './mcp/commands';
import { showMenu } from './menu';
import { reviewPermissions } from './permissions';
import { settingsWrite } from './protocol';
import { Keys } from './secrets';
import { findServer } from './server/find';
import { registerServerCommands, watchServer } from './server/commands';
import { readSettings, writeSetting } from './settings';
import { StatusBar } from './status';
import { registerToolCommands } from './tools/commands';
import { ToolsView } from './tools/view';

let running: CaddieClient | undefined;

/** For tests and other extensions: the connection and the parts that show it. */
export interface CaddieApi {
  readonly client: CaddieClient;
  readonly tools: ToolsView;
  readonly chat: ChatPanel;
}

export function activate(context: vscode.ExtensionContext): CaddieApi {
  const output = vscode.window.createOutputChannel('Caddie', { log: true });
  const keys = new Keys(context);
  const client = new CaddieClient({
    findServer: () => findServer(context, () => keys.environment()),
    readSettings,
    output,
  });
  running = client;
  const texts = new VirtualTexts();
  const chat = registerChat(context, client);
  const tools = new ToolsView(context.workspaceState, client);
  context.subscriptions.push(
    output,
    client,
    texts,
    chat,
    tools,
    new StatusBar(client, chat, tools),
    registerServerCommands(context, client, output, keys),
    watchServer(context, client, output),
    registerToolCommands(tools, client),
    registerMcpCommands(tools, client, keys, texts),
    registerAsks(client, chat),
    registerHints(client, chat),
    registerDiff(texts),
    registerEditorQuery(client),
    client.onRequest(settingsWrite, async ({ key, value, scope }) => {
      await writeSetting(key, value, scope);
      return {};
    }),
    vscode.commands.registerCommand('caddie.menu', () => showMenu(client, chat, tools, keys)),
    vscode.commands.registerCommand('caddie.permissions.review', () => reviewPermissions(client, chat)),
    vscode.commands.registerCommand('caddie.chat.showPending', () => chat.reveal()),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('caddie') && client.sendSettings()),
    // What the folder may start is read when the server starts.
    vscode.workspace.onDidGrantWorkspaceTrust(() => void client.restart().catch(() => undefined)),
  );
  client.start().catch(() => undefined);
  return { client, tools, chat };
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}
