/** Makes the chat panel: joins the desk with the server, the pages and the editor. */
import * as vscode from 'vscode';
import { linkOf } from '../../webview/src/links';
import type { Saved, ToHost, ToPage } from '../../webview/src/bridge';
import { type CaddieClient, messageOf } from '../client';
import {
  chatDraft,
  chatEvent,
  chatTurn,
  mcpStatus,
  promptsChanged,
  sessionChanges,
  sessionCompact,
  sessionKeep,
  sessionOpen,
  sessionRewind,
  sessionUndo,
  toolsChanged,
  usageReport,
  type Attachment,
  type PermissionAsk,
  type QuestionAsk,
} from '../protocol';
import { neverHinted } from '../hint-settings';
import { oneLine } from '../text';
import type { ChatPanel, ChatState } from './api';
import { chooseFiles, findFiles } from './attachments';
import { ChatDesk, type Server } from './desk';
import { followLink, insertCode, LastEditor } from './editors';
import { Errands } from './errands';
import { pickModel } from './models';
import { Pages } from './pages';
import { EditorReview } from './review';
import { Stopped } from './said';
import { roots } from '../folders';
import { SessionPicker } from './sessions';
import { Withdrawn } from './waiting';

export type { ChatPanel, ChatState } from './api';

const CANCELLED = -32800;

export function registerChat(context: vscode.ExtensionContext, client: CaddieClient): ChatPanel {
  return new Chat(context, client);
}

class Chat implements ChatPanel {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly desk: ChatDesk;
  private readonly pages: Pages;
  private readonly sessions: SessionPicker;
  private readonly lastEditor = new LastEditor();
  private readonly parts: vscode.Disposable;
  private readonly errands: Errands;
  private isFresh = true;

  constructor(
    context: vscode.ExtensionContext,
    private readonly client: CaddieClient,
  ) {
    this.desk = new ChatDesk(serverOf(client), {
      post: (message) => (message.type === 'compose' ? this.pages.postOrKeep(message) : this.pages.post(message)),
      changed: () => this.onChange(),
      now: () => Date.now(),
      later: (act, ms) => void setTimeout(act, ms),
      hintWishes: () => ({ on: areHintsOn(), never: neverHinted() }),
      roots,
      findFile: (name) => this.errands.findFile(name),
    });
    this.pages = new Pages(context.extensionUri, {
      onMessage: (message, reply) => this.guarded(() => this.hear(message, reply)),
      onVisibility: () => this.onChange(),
    });
    this.sessions = new SessionPicker(client, {
      currentId: () => this.sessionId,
      open: (id) => this.guarded(() => this.desk.open(id)),
      renamed: (id, title) => id === this.sessionId && this.desk.act({ do: 'title', title }),
      deleted: () => this.desk.newChat(),
      guarded: (act) => this.guarded(act),
    });
    this.errands = new Errands(client, this.desk, this.sessions, this.lastEditor);
    this.parts = vscode.Disposable.from(
      ...[this.pages, this.lastEditor, this.changed, new EditorReview(this.desk.changes)],
      client.onEvent(chatEvent, (params) => this.desk.event(params)),
      client.onEvent(promptsChanged, () => this.refreshPrompts()),
      client.onEvent(toolsChanged, () => this.desk.searchAgain()),
      client.onEvent(mcpStatus, ({ name }) => !this.desk.servers.includes(name) && this.refreshServers()),
      client.onDidChangeState(() => this.onServer()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.desk.tell()),
      ...this.commands(),
    );
    const settings = vscode.workspace.getConfiguration('caddie');
    this.desk.model = settings.get('model', '');
    if (settings.get<string>('permissions.mode') === 'plan') this.desk.mode = 'plan';
    this.onServer();
  }

  // What the rest of the extension sees

  get isVisible(): boolean {
    return this.pages.isVisible;
  }

  get state(): ChatState {
    const { mode, model, conversation } = this.desk;
    return { sessionId: conversation.sessionId, mode, model, isBusy: conversation.state !== 'idle' };
  }

  get pendingCount(): number {
    return this.desk.waiting.asks.length;
  }

  askPermission(params: PermissionAsk, token: vscode.CancellationToken) {
    return cancellable(this.desk.waiting.permission(params, (withdraw) => token.onCancellationRequested(withdraw)));
  }

  askQuestion(params: QuestionAsk, token: vscode.CancellationToken) {
    return cancellable(this.desk.waiting.question(params, (withdraw) => token.onCancellationRequested(withdraw)));
  }

  showHints(params: Parameters<ChatPanel['showHints']>[0]): void {
    this.desk.beside.show(params);
  }

  pickHint(tool: string): void {
    this.desk.beside.pick(tool);
  }

  attach(attachment: Attachment): void {
    this.desk.beside.attach(attachment);
  }

  async reveal({ preserveFocus = false }: { preserveFocus?: boolean } = {}): Promise<void> {
    await this.pages.reveal(preserveFocus);
    if (!preserveFocus) this.pages.postOrKeep({ type: 'do', what: this.pendingCount > 0 ? 'nextAsk' : 'focus' });
  }

  /** The server ends a running turn with itself, as one that was interrupted; nobody stopped it. */
  dispose(): void {
    this.parts.dispose();
  }

  // What happens

  private get sessionId(): string | undefined {
    return this.desk.conversation.sessionId;
  }

  private onChange(): void {
    this.pages.setBadge(this.pendingCount);
    this.pages.setTitle(this.desk.conversation.title && oneLine(this.desk.conversation.title));
    this.changed.fire();
  }

  private onServer(): void {
    const reason = this.client.problem;
    this.desk.serverIs({ state: this.client.state, ...(reason ? { reason } : {}) });
    if (this.client.state !== 'ready') return;
    this.refreshPrompts();
    this.refreshServers();
  }

  /** Without them everything else works, so that trouble here is not the person's. */
  private refreshPrompts(): void {
    this.errands.refreshPrompts().catch(() => undefined);
  }

  private refreshServers(): void {
    this.errands.refreshServers().catch(() => undefined);
  }

  /** Nothing that goes wrong is silent, and nothing stops the panel. */
  private guarded(act: () => Promise<void> | void): Promise<void> {
    return (async () => act())().catch((error: unknown) => {
      this.desk.act({ do: 'notice', level: 'error', text: messageOf(error) });
    });
  }

  private async hear(message: ToHost, reply: (message: ToPage) => void): Promise<void> {
    const { desk } = this;
    switch (message.type) {
      case 'ready':
        reply(desk.start());
        return this.takeUp(message.saved);
      case 'draft':
        return desk.typed(message.text);
      case 'send':
        return desk.send(message.text);
      case 'goOn':
        return desk.sendAlone(message.text);
      case 'stop':
        return void desk.stop();
      case 'edit':
        return desk.edit(message.turnId, message.draft);
      case 'cancelEdit':
        return desk.editing.cancel();
      case 'takeBack':
        return desk.editing.setTakeBack(message.on);
      case 'unqueue':
        return desk.unqueue(message.id, message.edit);
      case 'permission':
        return desk.waiting.answer(message.requestId, { choice: message.choice, feedback: message.feedback });
      case 'question':
        return desk.waiting.answer(
          message.requestId,
          message.answers ? { answers: message.answers } : { declined: true },
        );
      case 'openDiff':
        return this.errands.openDiff(message.requestId);
      case 'pick':
        return desk.beside.pick(message.tool);
      case 'unpick':
        return desk.beside.unpick(message.tool);
      case 'dismissHints':
        return desk.beside.dismissHints();
      case 'neverHint':
        return this.errands.neverHint(message.tool);
      case 'enableAlways':
        return this.errands.enableAlways(message.tool);
      case 'command':
        return this.errands.command(message.name, message.argument);
      case 'mode':
        return desk.setMode(message.mode);
      case 'pickModel':
        return pickModel(this.client, this.sessionId);
      case 'insert':
        return insertCode(this.lastEditor.editor, message.code, message.language);
      case 'copy':
        return void (await vscode.env.clipboard.writeText(message.text));
      case 'link':
        return linkOf(message.href) && followLink(message.href);
      case 'files':
        return reply({ type: 'files', id: message.id, files: await findFiles(message.query) });
      case 'attach':
        return this.errands.attachThat(message.what);
      case 'attachFiles':
        return this.errands.attachFiles(message.uris);
      case 'attachPicture':
        return this.errands.attachPicture(message.name, message.dataUrl);
      case 'detach':
        return desk.beside.detach(message.id);
      case 'showResult':
        return this.errands.showResult(message.callId, message.title, message.how);
      case 'showWhole':
        return this.errands.showWhole(message.title, message.text);
      case 'keepChanges':
        return desk.changes.keep(message.files);
      case 'takeBackChanges':
        return void (await (message.files ? desk.changes.takeBack(message.files) : desk.changes.takeBackAll()));
      case 'redo':
        return desk.changes.redo();
      case 'openChange':
        return this.errands.openChange(message.path);
      case 'log':
        return void (await vscode.commands.executeCommand('caddie.showLog'));
      case 'restart':
        return this.client.restart();
      case 'trouble':
        return desk.act({ do: 'notice', level: 'warning', text: message.message });
    }
  }

  /** A window that was loaded anew goes on with the conversation that its page had. */
  private async takeUp({ sessionId, editing }: Partial<Saved> = {}): Promise<void> {
    const wanted = this.isFresh && this.desk.conversation.items.length === 0 ? sessionId : undefined;
    this.isFresh = false;
    if (!wanted) return;
    // One that is gone is no loss that the person must hear of.
    await this.desk.open(wanted).catch(() => undefined);
    if (editing) this.desk.editing.goOn(editing.turnId, editing.earlier);
  }

  private commands(): vscode.Disposable[] {
    const on = (name: string, act: (...args: never[]) => Promise<unknown> | void) =>
      vscode.commands.registerCommand(`caddie.chat.${name}`, (...args: never[]) =>
        this.guarded(async () => void (await act(...args))),
      );
    return [
      on('open', () => this.reveal()),
      on('new', async () => {
        this.desk.newChat();
        await this.reveal();
      }),
      on('openInEditor', () => this.pages.openTab(this.desk.conversation.title ?? 'Caddie')),
      on('stop', () => void this.desk.stop()),
      on('sessions', () => this.sessions.show()),
      on('switchMode', () => this.desk.setMode(this.desk.mode === 'plan' ? 'agent' : 'plan')),
      on('pickModel', () => pickModel(this.client, this.sessionId)),
      on('undoTurn', () => this.errands.undo()),
      on('attachSelection', async () => {
        await this.errands.attachThat('selection');
        await this.reveal();
      }),
      on('attachProblems', async () => {
        await this.errands.attachThat('problems');
        await this.reveal();
      }),
      on('attachFile', async (uri?: vscode.Uri, all?: vscode.Uri[]) => {
        const active = this.lastEditor.editor?.document.uri;
        const chosen = all?.length ? all : [uri ?? active].filter((one) => one !== undefined);
        await this.errands.attachFiles(chosen.length > 0 ? chosen.map(String) : await chooseFiles());
        await this.reveal();
      }),
    ];
  }
}

/** In the panel: off is off, and `notification` is elsewhere. */
function areHintsOn(): boolean {
  const settings = vscode.workspace.getConfiguration('caddie.hints');
  return settings.get('enabled', true) && settings.get<string>('display') !== 'notification';
}

function cancellable<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    throw error instanceof Withdrawn ? new vscode.CancellationError() : error;
  });
}

function serverOf(client: CaddieClient): Server {
  return {
    turn: async (params, signal) => {
      const source = new vscode.CancellationTokenSource();
      signal.addEventListener('abort', () => source.cancel());
      try {
        return await client.request(chatTurn, params, source.token);
      } catch (error) {
        if (signal.aborted || (error as { code?: number }).code === CANCELLED) throw new Stopped();
        if (client.state !== 'ready')
          throw new Error(
            client.problem || vscode.l10n.t('The server stopped during the turn. Send the message again.'),
          );
        throw error;
      }
    },
    draft: (params) => client.notify(chatDraft, params),
    open: (sessionId) => client.request(sessionOpen, { sessionId }),
    rewind: (sessionId, turnId) => client.request(sessionRewind, { sessionId, turnId }),
    undo: (sessionId, what) => client.request(sessionUndo, { sessionId, ...what }),
    changes: (sessionId, path) => client.request(sessionChanges, { sessionId, path }),
    keep: (sessionId, files) => client.request(sessionKeep, { sessionId, files }),
    compact: (sessionId) => client.request(sessionCompact, { sessionId }),
    usage: (sessionId) => client.request(usageReport, { sessionId }),
  };
}
