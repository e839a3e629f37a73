/** Starts the server's process and remembers how it ended, so that the person can be told why. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import * as vscode from 'vscode';
import { reasonOfDeath } from './death';

/** The command that runs the server. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Where it was found, in words. */
  readonly origin: string;
}

const MAX_TAIL = 4000;
const PATIENCE_MS = 3000;

export class ServerProcess {
  private tail = '';
  /** Resolves with a sentence when the process has ended. */
  readonly ended: Promise<string>;

  private constructor(readonly child: ChildProcessWithoutNullStreams) {
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (text: string) => (this.tail = (this.tail + text).slice(-MAX_TAIL)));
    this.ended = new Promise((resolve) => {
      // `close`, not `exit`: only then is all of stderr read.
      child.once('close', (code, signal) => resolve(reasonOfDeath(code, signal, this.tail)));
    });
  }

  /** Bounded; the process is gone afterwards, also one that does not listen. */
  async end(): Promise<void> {
    const { child } = this;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    await new Promise<void>((resolve) => child.once('exit', () => resolve()));
    clearTimeout(late);
  }

  /** Refuses with a sentence when the command cannot be run. */
  static start(server: ServerCommand): Promise<ServerProcess> {
    return new Promise((resolve, reject) => {
      const options = { env: server.env, cwd: server.cwd, stdio: 'pipe' as const, windowsHide: true };
      const child = spawn(server.command, [...server.args], options);
      child.once('spawn', () => resolve(new ServerProcess(child)));
      child.once('error', (error: NodeJS.ErrnoException) =>
        reject(new Error(cannotRun(server.command, error), { cause: error })),
      );
    });
  }
}

function cannotRun(command: string, error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return notFound(command);
  return vscode.l10n.t('The command “{0}” cannot be run: {1}.', command, error.code ?? error.message);
}

export function notFound(command: string): string {
  return vscode.l10n.t('The command “{0}” was not found. Check the setting “caddie.server.command”.', command);
}
