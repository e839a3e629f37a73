/** Where is the conversation shown? In the view, in an editor tab, or both; each page hears the same. */
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { ToHost, ToPage } from '../../webview/src/bridge';
import { pageHtml } from './html';

export const VIEW = 'caddie.chat';
const TAB = 'caddie.chatTab';

export interface Listener {
  onMessage(message: ToHost, reply: (message: ToPage) => void): void;
  onVisibility(): void;
}

interface Shown {
  webview: vscode.Webview;
  isReady: boolean;
}

export class Pages implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer, vscode.Disposable {
  private readonly shown = new Set<Shown>();
  private view: vscode.WebviewView | undefined;
  private tab: vscode.WebviewPanel | undefined;
  private readonly registrations: vscode.Disposable;
  /** Said once a page is there to hear it. */
  private pending: ToPage[] = [];

  constructor(
    private readonly root: vscode.Uri,
    private readonly listener: Listener,
  ) {
    this.registrations = vscode.Disposable.from(
      vscode.window.registerWebviewViewProvider(VIEW, this, { webviewOptions: { retainContextWhenHidden: true } }),
      vscode.window.registerWebviewPanelSerializer(TAB, this),
    );
  }

  get isVisible(): boolean {
    return Boolean(this.view?.visible) || Boolean(this.tab?.visible);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    const gone = this.fill(view.webview);
    view.onDidChangeVisibility(() => this.listener.onVisibility());
    view.onDidDispose(() => {
      gone();
      this.view = undefined;
      this.listener.onVisibility();
    });
    this.listener.onVisibility();
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    this.adopt(panel);
  }

  openTab(title: string): void {
    if (this.tab) return this.tab.reveal();
    const options = { enableFindWidget: true, retainContextWhenHidden: true };
    this.adopt(vscode.window.createWebviewPanel(TAB, title, vscode.ViewColumn.Active, options));
  }

  private adopt(panel: vscode.WebviewPanel): void {
    this.tab = panel;
    const icon = (name: string) => vscode.Uri.joinPath(this.root, 'media', `caddie-${name}.svg`);
    panel.iconPath = { light: icon('light'), dark: icon('dark') };
    const gone = this.fill(panel.webview);
    panel.onDidChangeViewState(() => this.listener.onVisibility());
    panel.onDidDispose(() => {
      gone();
      this.tab = undefined;
      this.listener.onVisibility();
    });
    this.listener.onVisibility();
  }

  private fill(webview: vscode.Webview): () => void {
    const folder = vscode.Uri.joinPath(this.root, 'dist', 'webview');
    webview.options = { enableScripts: true, enableCommandUris: false, localResourceRoots: [folder] };
    const one: Shown = { webview, isReady: false };
    this.shown.add(one);
    const reply = (message: ToPage) => void webview.postMessage(message);
    const hearing = webview.onDidReceiveMessage((message: ToHost) => {
      if (message.type === 'ready') one.isReady = true;
      this.listener.onMessage(message, reply);
      if (message.type === 'ready') for (const told of this.pending.splice(0)) reply(told);
    });
    webview.html = pageHtml({
      script: webview.asWebviewUri(vscode.Uri.joinPath(folder, 'main.js')).toString(),
      style: webview.asWebviewUri(vscode.Uri.joinPath(folder, 'main.css')).toString(),
      source: webview.cspSource,
      nonce: randomBytes(16).toString('hex'),
      language: vscode.env.language,
      words: vscode.l10n.bundle,
    });
    return () => {
      hearing.dispose();
      this.shown.delete(one);
    };
  }

  /** To every page. One that is not there yet gets all of it when it starts. */
  post(message: ToPage): void {
    for (const { webview, isReady } of this.shown) if (isReady) void webview.postMessage(message);
  }

  /** To the page in front, or to the next one that comes. */
  postOrKeep(message: ToPage): void {
    if ([...this.shown].some(({ isReady }) => isReady)) this.post(message);
    else this.pending = [...this.pending.slice(-4), message];
  }

  async reveal(preserveFocus: boolean): Promise<void> {
    if (this.tab && !this.view?.visible) return this.tab.reveal(undefined, preserveFocus);
    if (this.view && preserveFocus) return this.view.show(true);
    await vscode.commands.executeCommand(`${VIEW}.focus`, { preserveFocus });
  }

  setBadge(count: number): void {
    const badge = { value: count, tooltip: vscode.l10n.t('{0} waiting for you', count) };
    if (this.view) this.view.badge = count > 0 ? badge : undefined;
  }

  setTitle(title: string | undefined): void {
    if (this.view) this.view.description = title ?? '';
    if (this.tab) this.tab.title = title ? `Caddie: ${title}` : 'Caddie';
  }

  dispose(): void {
    this.registrations.dispose();
    this.tab?.dispose();
  }
}
