/** A sign-in to an MCP server: its page in the browser, and a notification that waits for its end. */
import * as vscode from 'vscode';
import type { CaddieClient } from '../client';
import { mcpAuthorize, mcpCancelAuthorize, mcpStatus, type ServerInfo } from '../protocol';
import { noLinks, oneLine } from '../text';

/** The server ends a sign-in after five minutes by itself; this is for one that says nothing. */
const LATEST_MS = 6 * 60_000;

export async function signIn(client: CaddieClient, server: string): Promise<void> {
  const title = noLinks(vscode.l10n.t('Waiting for the sign-in to {0} in your browser', oneLine(server)));
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  const info = await vscode.window.withProgress(options, (_, token) => signedIn(client, server, token));
  if (info?.status === 'ready') {
    vscode.window.setStatusBarMessage(vscode.l10n.t('Signed in to {0}.', oneLine(server)), 5000);
  } else if (info?.reason) {
    void vscode.window.showWarningMessage(noLinks(`${oneLine(server)}: ${oneLine(info.reason)}`));
  }
}

/** How it ended; nothing when it was cancelled. */
async function signedIn(
  client: CaddieClient,
  server: string,
  token: vscode.CancellationToken,
): Promise<ServerInfo | undefined> {
  const parts: vscode.Disposable[] = [];
  try {
    let hasBegun = false;
    const over = new Promise<ServerInfo | undefined>((resolve) => {
      const timer = setTimeout(() => resolve(undefined), LATEST_MS);
      parts.push(
        new vscode.Disposable(() => clearTimeout(timer)),
        client.onEvent(mcpStatus, (info) => {
          // That it waits for the person is said before the answer to the request, and is no end.
          const isEnd = info.status === 'ready' || (hasBegun && info.status !== 'connecting');
          if (info.name === server && isEnd) resolve(info);
        }),
        token.onCancellationRequested(() => resolve(undefined)),
      );
    });
    const { url, opened } = await client.request(mcpAuthorize, { server }, token);
    hasBegun = true;
    if (!opened) await vscode.env.openExternal(vscode.Uri.parse(url, true));
    const info = await over;
    if (token.isCancellationRequested) await client.request(mcpCancelAuthorize, { server });
    return info;
  } finally {
    for (const part of parts) part.dispose();
  }
}
