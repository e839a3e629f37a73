/** The person's API keys: in the editor's secret storage, handed to the server in its environment, never in settings. */
import * as vscode from 'vscode';

const PREFIX = 'caddie.key.';
const INDEX = 'caddie.keys';
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const PROVIDERS: readonly (readonly [label: string, variable: string])[] = [
  ['Anthropic', 'ANTHROPIC_API_KEY'],
  ['OpenAI', 'OPENAI_API_KEY'],
  ['Google Gemini', 'GEMINI_API_KEY'],
  ['xAI', 'XAI_API_KEY'],
  ['DeepSeek', 'DEEPSEEK_API_KEY'],
];

export class Keys {
  constructor(private readonly context: vscode.ExtensionContext) {}

  /** Secret storage cannot be listed everywhere; the names (no secrets) are remembered beside it. */
  get names(): readonly string[] {
    return this.context.globalState.get<string[]>(INDEX, []);
  }

  async environment(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const name of this.names) {
      const value = await this.context.secrets.get(PREFIX + name);
      if (value) found[name] = value;
    }
    return found;
  }

  async store(name: string, value: string): Promise<void> {
    await this.context.secrets.store(PREFIX + name, value);
    await this.context.globalState.update(INDEX, [...new Set([...this.names, name])].sort());
  }

  async remove(name: string): Promise<void> {
    await this.context.secrets.delete(PREFIX + name);
    await this.context.globalState.update(
      INDEX,
      this.names.filter((one) => one !== name),
    );
  }

  /** Asks which key and for its value; whether one was stored. */
  async ask(suggested?: string): Promise<boolean> {
    const name = suggested ?? (await this.askName());
    if (!name) return false;
    const value = await vscode.window.showInputBox({
      title: vscode.l10n.t('Value of {0}', name),
      prompt: vscode.l10n.t('Stored in VS Code’s secret storage, never in settings.'),
      password: true,
      ignoreFocusOut: true,
    });
    if (!value?.trim()) return false;
    await this.store(name, value.trim());
    return true;
  }

  async askToRemove(): Promise<boolean> {
    if (!this.names.length) {
      void vscode.window.showInformationMessage(vscode.l10n.t('Caddie has no keys stored.'));
      return false;
    }
    const name = await vscode.window.showQuickPick([...this.names], { placeHolder: vscode.l10n.t('Which key?') });
    if (!name) return false;
    await this.remove(name);
    return true;
  }

  private async askName(): Promise<string | undefined> {
    const configured = vscode.workspace.getConfiguration('caddie').get<string>('apiKeyEnv', '').trim();
    const rows = [...PROVIDERS, ...(NAME.test(configured) ? [[configured, configured] as const] : [])];
    const stored = new Set(this.names);
    const items = rows.map(([label, variable]) => ({
      label,
      description: variable,
      detail: stored.has(variable) ? vscode.l10n.t('A key is stored; it will be replaced.') : undefined,
      variable,
    }));
    const other = { label: vscode.l10n.t('Other …'), description: '', detail: undefined, variable: '' };
    const title = vscode.l10n.t('Set API Key');
    const picked = await vscode.window.showQuickPick([...items, other], { title });
    return picked === other ? this.askVariable() : picked?.variable;
  }

  private async askVariable(): Promise<string | undefined> {
    const name = await vscode.window.showInputBox({
      title: vscode.l10n.t('Name of the environment variable'),
      placeHolder: 'MY_PROVIDER_API_KEY',
      validateInput: (text) =>
        NAME.test(text.trim()) ? undefined : vscode.l10n.t('Letters, digits and _ only; a letter first.'),
    });
    return name?.trim();
  }
}
