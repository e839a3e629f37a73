/** How does the extension talk with the server, and what happens when the server dies? */
import * as vscode from 'vscode';
import {
  type CloseHandlerResult,
  CloseAction,
  type ErrorHandlerResult,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  type NotificationType,
  type RequestType,
  ResponseError,
  State,
  type StaticFeature,
} from 'vscode-languageclient/node';
import { Backoff } from './server/backoff';
import { type ServerCommand, ServerProcess } from './server/process';
import { asPlainSettings, type EditorSettings } from './settings';
import { shownWithoutLinks } from './text';

export type ClientState = 'stopped' | 'starting' | 'ready' | 'failed';

export interface Host {
  /** Throws an Error whose message says what the person can do. */
  findServer(): Promise<ServerCommand>;
  readSettings(): EditorSettings;
  readonly output: vscode.LogOutputChannel;
}

type Handler = (client: LanguageClient) => vscode.Disposable;

const DEATH_MS = 2000;
const START_MS = 60_000;
const SILENT = new Error('silent');
const NEVER = new vscode.CancellationTokenSource().token;

/** One connection at a time. Handlers are registered once and hold over restarts. */
export class CaddieClient implements vscode.Disposable {
  private client?: LanguageClient;
  private process?: ServerProcess;
  private current: ClientState = 'stopped';
  private why = '';
  private failure?: Error;
  private starting?: Promise<void>;
  private retry?: NodeJS.Timeout;
  /** Grows with each start and stop; what an older one still says is not heard. */
  private generation = 0;
  private readonly backoff = new Backoff();
  private readonly handlers = new Map<Handler, vscode.Disposable | undefined>();
  private readonly changed = new vscode.EventEmitter<ClientState>();
  readonly onDidChangeState = this.changed.event;

  constructor(private readonly host: Host) {}

  get state(): ClientState {
    return this.current;
  }

  /** Why it is in state `failed` or `starting`, in one sentence for the person. */
  get problem(): string {
    return this.why;
  }

  /** What the last start failed with. */
  get error(): Error | undefined {
    return this.current === 'failed' ? this.failure : undefined;
  }

  /** Resolves when it is ready; refuses with the reason. */
  async start(): Promise<void> {
    if (this.current === 'ready') return;
    clearTimeout(this.retry);
    this.starting ??= this.startOnce().finally(() => (this.starting = undefined));
    return this.starting;
  }

  async stop(): Promise<void> {
    clearTimeout(this.retry);
    const generation = ++this.generation;
    await this.letGo();
    if (generation === this.generation) this.become('stopped'); // else another start or stop came meanwhile
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.starting?.catch(() => undefined);
    this.backoff.reset();
    await this.start();
  }

  async request<P extends object, R>(
    type: RequestType<P, R, void>,
    params: P,
    token: vscode.CancellationToken = NEVER,
  ): Promise<R> {
    await this.start();
    if (!this.client) throw new Error(this.why || vscode.l10n.t('Caddie’s server does not run.'));
    return this.client.sendRequest<R>(type.method, params, token);
  }

  /** Says something if the server runs; never starts it. */
  notify<P extends object>(type: NotificationType<P>, params: P): void {
    if (this.current !== 'ready' || !this.client) return;
    this.client.sendNotification(type.method, params).catch((error: unknown) => {
      this.host.output.warn(`${type.method} was not sent: ${messageOf(error)}`);
    });
  }

  onEvent<P extends object>(type: NotificationType<P>, listen: (params: P) => void): vscode.Disposable {
    return this.register((client) => client.onNotification(type.method, listen));
  }

  /** Answers a request of the server. */
  onRequest<P extends object, R extends object>(
    type: RequestType<P, R, void>,
    answer: (params: P, token: vscode.CancellationToken) => Promise<R>,
  ): vscode.Disposable {
    return this.register((client) =>
      client.onRequest(type.method, async (params: P, token: vscode.CancellationToken) => {
        try {
          return await answer(params, token);
        } catch (error) {
          if (error instanceof vscode.CancellationError) return new ResponseError(-32800, 'cancelled');
          this.host.output.error(`${type.method}: ${messageOf(error)}`);
          return new ResponseError(-32803, messageOf(error));
        }
      }),
    );
  }

  /** Tells the server what stands in the editor's settings now. */
  sendSettings(): void {
    if (this.current !== 'ready' || !this.client) return;
    const settings = asPlainSettings(this.host.readSettings());
    const sent = this.client.sendNotification('workspace/didChangeConfiguration', {
      settings: { caddie: settings.user, workspaceSettings: settings.workspace },
    });
    sent.catch((error: unknown) => this.host.output.warn(`settings were not sent: ${messageOf(error)}`));
  }

  dispose(): void {
    clearTimeout(this.retry);
    this.changed.dispose();
    void this.letGo();
  }

  private register(handler: Handler): vscode.Disposable {
    this.handlers.set(handler, this.client && handler(this.client));
    return new vscode.Disposable(() => {
      this.handlers.get(handler)?.dispose();
      this.handlers.delete(handler);
    });
  }

  private async startOnce(): Promise<void> {
    const generation = ++this.generation;
    this.become('starting', this.why);
    try {
      const server = await this.host.findServer();
      if (generation !== this.generation) return;
      await this.connect(server, generation);
      this.backoff.started();
      if (generation === this.generation) this.become('ready');
    } catch (error) {
      if (generation === this.generation) await this.letGo();
      if (generation === this.generation) this.fail(error);
      throw error;
    }
  }

  private async connect(server: ServerCommand, generation: number): Promise<void> {
    this.host.output.info(`starting (${server.origin}) ${[server.command, ...server.args].join(' ')}`);
    const process = await ServerProcess.start(server);
    if (generation !== this.generation) return process.end(); // stopped meanwhile: nobody would end it
    this.process = process;
    const client = new QuietClient('caddie', 'Caddie', () => Promise.resolve(process.child), this.options());
    client.registerFeature(announcing(CAPABILITIES));
    this.client = client;
    for (const handler of this.handlers.keys()) this.handlers.set(handler, handler(client));
    void process.ended.then((how) => {
      this.host.output.info(`the server ${how}`);
      if (generation === this.generation) this.died(how);
    });
    try {
      await Promise.race([client.start(), process.ended.then(refuse), later(START_MS).then(refuse)]);
    } catch (error) {
      // That the connection closed says less than how the process ended, which is known a moment later.
      const how = await Promise.race([process.ended, later(DEATH_MS)]);
      if (how) throw new Error(vscode.l10n.t('Caddie’s server did not start: it {0}', how));
      throw error === SILENT ? new Error(vscode.l10n.t('Caddie’s server does not answer.')) : error;
    }
  }

  private options(): LanguageClientOptions {
    const settings = asPlainSettings(this.host.readSettings());
    return {
      documentSelector: [{ scheme: 'file' }, { scheme: 'untitled' }, { scheme: 'vscode-notebook-cell' }],
      outputChannel: this.host.output,
      initializationOptions: {
        settings: settings.user,
        workspaceSettings: settings.workspace,
        workspaceTrusted: vscode.workspace.isTrusted,
      },
      initializationFailedHandler: () => false,
      connectionOptions: { messageStrategy: { handleMessage: (message, next) => next(shownWithoutLinks(message)) } },
      errorHandler: {
        error: (): ErrorHandlerResult => ({ action: ErrorAction.Continue, handled: true }),
        closed: (): CloseHandlerResult => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
      middleware: {
        workspace: {
          // The editor's own push would carry defaults as if the person had set them.
          didChangeConfiguration: async () => this.sendSettings(),
          configuration: (params) => {
            const now = asPlainSettings(this.host.readSettings());
            return params.items.map((item) => (item.section === 'caddie' ? now.user : null));
          },
        },
      },
    };
  }

  private died(how: string): void {
    if (this.current !== 'ready') return;
    void this.letGo();
    const why = vscode.l10n.t('Caddie’s server stopped: it {0}', how);
    const wait = this.backoff.next();
    if (wait === undefined) {
      this.fail(new Error(vscode.l10n.t('{0} (restarted {1} times; it stays stopped now)', why, this.backoff.tries)));
      return;
    }
    this.host.output.warn(`${why}; starting it again in ${wait} ms`);
    this.become('starting', why);
    this.retry = setTimeout(() => {
      this.start().catch(() => undefined);
    }, wait);
  }

  private fail(error: unknown): void {
    this.failure = error instanceof Error ? error : new Error(String(error));
    this.host.output.error(this.failure.message);
    this.become('failed', this.failure.message);
  }

  private become(state: ClientState, why = ''): void {
    this.current = state;
    this.why = why;
    this.changed.fire(state);
  }

  private async letGo(): Promise<void> {
    const { client, process } = this;
    this.client = this.process = undefined;
    for (const handler of this.handlers.keys()) this.handlers.set(handler, undefined);
    try {
      if (client?.state === State.Running) await client.stop(3000);
      await client?.dispose();
    } catch (error) {
      this.host.output.debug(`while stopping: ${messageOf(error)}`);
    }
    await process?.end();
  }
}

const CAPABILITIES = { permission: true, question: true, settingsWrite: true, editorQuery: true, diff: true };

/** Says errors in the log only: what the person should know, we say ourselves, once. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

function refuse(): never {
  throw SILENT;
}

function later(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms));
}

function announcing(ours: Record<string, boolean>): StaticFeature {
  return {
    fillClientCapabilities: (capabilities) => {
      capabilities.experimental = { ...(capabilities.experimental as object | undefined), caddie: ours };
    },
    initialize: () => undefined,
    getState: () => ({ kind: 'static' }),
    clear: () => undefined,
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
