/** Read-only texts that are no files: the sides of a diff, a server's log, a resource. */
import * as vscode from 'vscode';

const SCHEME = 'caddie';
const MAX_KEPT = 50;

export class VirtualTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  private count = 0;
  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? '';
  }

  /** The name's ending chooses the language. */
  keep(name: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${++this.count}/${name.replace(/^\/+/, '')}` });
    this.texts.set(uri.toString(), text);
    this.forgetOld();
    return uri;
  }

  async show(name: string, text: string, language?: string): Promise<void> {
    const document = await vscode.workspace.openTextDocument(this.keep(name, text));
    if (language) await vscode.languages.setTextDocumentLanguage(document, language).then(undefined, () => undefined);
    await vscode.window.showTextDocument(document, { preview: true });
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }

  private forgetOld(): void {
    const open = new Set(vscode.workspace.textDocuments.map((document) => document.uri.toString()));
    for (const key of [...this.texts.keys()].slice(0, -MAX_KEPT)) {
      if (!open.has(key)) this.texts.delete(key);
    }
  }
}
