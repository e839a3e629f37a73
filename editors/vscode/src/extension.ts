/** Activation: make the parts, introduce them to each other, dispose of them. */
import * as vscode from 'vscode';
import { registerChat } from './chat';
import { CaddieClient } from './client';
import { findServer } from './server/find';
import { readSettings } from './settings';

export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel('Caddie', { log: true });
  const client = new CaddieClient({ findServer: () => findServer(), readSettings, output });
  const chat = registerChat(context, client);
  context.subscriptions.push(output, client, chat);
  client.start().catch(() => undefined);
}
