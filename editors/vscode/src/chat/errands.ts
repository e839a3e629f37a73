/** What the panel does at the person's wish with the editor's help: diffs, attachments, commands, undo. */
import * as vscode from 'vscode';
import type { CaddieClient } from '../client';
import { existingFile } from '../folders';
import { hintAgain, neverHint } from '../hint-settings';
import { type Attachment, mcpList, type PromptInfo, promptsGet, promptsList, sessionResult, toolsSetState } from '../protocol';
import { noLinks, oneLine, tokens } from '../text';
import * as attachments from './attachments';
import type { ChatDesk } from './desk';
import { type LastEditor, openChange } from './editors';
import { pickModel } from './models';
import type { SessionPicker } from './sessions';

export class Errands {
  private prompts: PromptInfo[] = [];

  constructor(
    private readonly client: CaddieClient,
    private readonly desk: ChatDesk,
    private readonly sessions: SessionPicker,
    private readonly lastEditor: LastEditor,
  ) {}

  private get sessionId(): string | undefined {
    return this.desk.conversation.sessionId;
  }

  async openDiff(requestId: string): Promise<void> {
    const found = this.desk.waiting.asks.find(({ ask }) => ask.requestId === requestId);
    const preview = found?.kind === 'permission' ? found.ask.preview : undefined;
    if (preview?.kind === 'diff') await vscode.commands.executeCommand('caddie.diff.open', preview);
  }

  async openChange(name: string): Promise<void> {
    const file = await this.desk.changes.look(name);
    const isText = file?.before !== undefined && (file.hunks.length > 0 || file.status !== 'modified');
    const before = isText ? await this.keepText(name, file.before ?? '') : undefined;
    const after = file?.status === 'deleted' ? await this.keepText(name, '') : undefined;
    await openChange(name, before, after);
  }

  /** A text that is no file, in the extension's own read-only documents. */
  private async keepText(name: string, text: string): Promise<vscode.Uri> {
    return vscode.commands.executeCommand<vscode.Uri>('caddie.text.keep', { name, text });
  }

  /** The conversation has only the beginning of a long result. */
  async showResult(callId: string, title: string, how: 'open' | 'copy'): Promise<void> {
    const { text } = await this.client.request(sessionResult, { sessionId: this.sessionId ?? '', callId });
    if (how === 'copy') await vscode.env.clipboard.writeText(text);
    else await this.showWhole(title, text);
  }

  async showWhole(title: string, text: string): Promise<void> {
    const uri = await this.keepText(`${title.replace(/[\\/:*?"<>|]+/g, ' ')}.txt`, text);
    await vscode.window.showTextDocument(uri, { preview: true });
  }

  async neverHint(tool: string): Promise<void> {
    this.desk.beside.forgetHint(tool);
    await neverHint(tool);
    const undo = vscode.l10n.t('Undo');
    const choice = await vscode.window.showInformationMessage(
      noLinks(vscode.l10n.t('{0} is not hinted any more.', oneLine(tool))),
      undo,
    );
    if (choice === undo) await hintAgain(tool);
  }

  async enableAlways(tool: string): Promise<void> {
    await this.client.request(toolsSetState, { changes: [{ tool, state: 'enabled' }], scope: 'user' });
    this.desk.beside.pick(tool);
    vscode.window.setStatusBarMessage(vscode.l10n.t('{0} is enabled always.', oneLine(tool)), 4000);
  }

  async undo(): Promise<void> {
    if (!this.sessionId) throw new Error(vscode.l10n.t('Nothing was done in this conversation yet.'));
    await this.desk.changes.undoTurn();
  }

  async attachThat(what: 'pick' | 'selection' | 'problems'): Promise<void> {
    const { editor } = this.lastEditor;
    if (what === 'pick') return this.attachAny();
    const part =
      what === 'selection' ? attachments.selectionAttachment(editor) : attachments.problemsAttachment(editor);
    if (!part) {
      const words =
        what === 'selection' ? vscode.l10n.t('Nothing is selected.') : vscode.l10n.t('The open file has no problems.');
      return void vscode.window.setStatusBarMessage(words, 4000);
    }
    this.desk.beside.attach(part, { kind: what });
  }

  /** The + button: what can go with a message. */
  private async attachAny(): Promise<void> {
    const rows = [
      {
        label: `$(file) ${vscode.l10n.t('Files…')}`,
        act: async () => this.attachFiles(await attachments.chooseFiles()),
      },
      { label: `$(list-selection) ${vscode.l10n.t('Selected text')}`, act: () => this.attachThat('selection') },
      { label: `$(warning) ${vscode.l10n.t('Problems of the open file')}`, act: () => this.attachThat('problems') },
    ];
    await (
      await vscode.window.showQuickPick(rows, { placeHolder: vscode.l10n.t('What goes with the message?') })
    )?.act();
  }

  async attachFiles(uris: readonly string[]): Promise<void> {
    for (const uri of uris) this.desk.beside.attach(await attachments.fileAttachment(uri));
  }

  /** Undefined when nothing of that name is there. */
  async findFile(name: string): Promise<Attachment | undefined> {
    const uri = await existingFile(name, true);
    return uri && attachments.fileAttachment(uri.toString()).catch(() => undefined);
  }

  attachPicture(name: string, dataUrl: string): void {
    this.desk.beside.attach(attachments.pictureAttachment(name, dataUrl), { kind: 'image', preview: dataUrl });
  }

  async command(name: string, argument: string): Promise<void> {
    switch (name) {
      case 'new':
        return this.desk.newChat();
      case 'sessions':
        return this.sessions.show();
      case 'rename':
        return this.rename(argument);
      case 'plan':
      case 'agent':
        return this.desk.setMode(name);
      case 'model':
        return pickModel(this.client, this.sessionId);
      case 'undo':
        return this.undo();
      case 'compact':
        return this.compact();
      case 'tools':
        return void (await vscode.commands.executeCommand('caddie.tools.focus'));
      case 'problems':
      case 'selection':
        return this.attachThat(name);
      default:
        return this.prompt(name, argument);
    }
  }

  /** A prompt of an MCP server: its words go into the input, where the person may change them. */
  private async prompt(name: string, words: string): Promise<void> {
    const info = this.prompts.find((one) => one.name === name);
    if (!info) throw new Error(vscode.l10n.t('No server offers the prompt {0} now.', name));
    const given: Record<string, string> = {};
    for (const { name: argument, description, required } of info.arguments) {
      const isOnly = info.arguments.length === 1 && words !== '';
      const value = isOnly ? words : await askFor(argument, description, required);
      if (value === undefined) return;
      if (value !== '') given[argument] = value;
    }
    const { message, attachments: parts } = await this.client.request(promptsGet, { name, arguments: given });
    for (const part of parts) this.desk.beside.attach(part, part.data ? { kind: 'image' } : {});
    this.desk.compose(message);
  }

  async refreshServers(): Promise<void> {
    const { servers } = await this.client.request(mcpList, {});
    this.desk.setServers(servers.map(({ name }) => name));
  }

  async refreshPrompts(): Promise<void> {
    const { prompts } = await this.client.request(promptsList, {});
    this.prompts = prompts;
    this.desk.setPrompts(prompts.map(({ name, title, description }) => ({ name, does: title ?? description ?? '' })));
  }

  private async compact(): Promise<void> {
    const result = await this.desk.compact();
    if (!result) throw new Error(vscode.l10n.t('There is nothing to shorten now.'));
    const [before, after] = [tokens(result.tokensBefore), tokens(result.tokensAfter)];
    const words = vscode.l10n.t(
      'Shortened from about {0} to {1} tokens; the model goes on with its notes.',
      before,
      after,
    );
    this.desk.act({ do: 'notice', level: 'info', text: words });
  }

  private async rename(title: string): Promise<void> {
    const { sessionId } = this;
    if (!sessionId) throw new Error(vscode.l10n.t('This conversation has not begun yet.'));
    await this.sessions.rename({ sessionId, title: this.desk.conversation.title ?? '' }, title || undefined);
  }
}

/** Undefined when the person thought better of it. */
async function askFor(name: string, description: string | undefined, required: boolean): Promise<string | undefined> {
  const title = required ? oneLine(name) : vscode.l10n.t('{0} (may be empty)', oneLine(name));
  const validateInput = (value: string) =>
    required && !value.trim() ? vscode.l10n.t('This one is needed.') : undefined;
  return vscode.window.showInputBox({ title, prompt: noLinks(oneLine(description ?? '')), validateInput, ignoreFocusOut: true });
}
