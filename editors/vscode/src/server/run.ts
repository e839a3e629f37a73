/** Runs a program to its end. */
import { spawn } from 'node:child_process';
import * as vscode from 'vscode';
import { reasonOfDeath } from './death';

export interface RunOptions {
  readonly token?: vscode.CancellationToken;
  readonly timeout?: number;
  readonly onOutput?: (text: string) => void;
}

/** Its stdout. Refuses with a sentence; with CancellationError when cancelled. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    // A group of its own, so that what it started ends with it.
    const ownGroup = process.platform !== 'win32';
    const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true, detached: ownGroup });
    let out = '';
    let err = '';
    let late = false;
    const end = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(ownGroup ? -child.pid : child.pid, 'SIGTERM');
      } catch {
        child.kill('SIGKILL');
      }
    };
    const cancelling = options.token?.onCancellationRequested(end);
    const timer = options.timeout
      ? setTimeout(() => {
          late = true;
          end();
        }, options.timeout)
      : undefined;
    const over = () => {
      cancelling?.dispose();
      clearTimeout(timer);
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      options.onOutput?.(text);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err = (err + text).slice(-8000);
      options.onOutput?.(text);
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      over();
      reject(new Error(`${command}: ${error.code ?? error.message}`));
    });
    child.once('close', (code, signal) => {
      over();
      if (options.token?.isCancellationRequested) reject(new vscode.CancellationError());
      else if (code === 0) resolve(out);
      else reject(new Error(late ? `${command} took too long` : reasonOfDeath(code, signal, err || out)));
    });
    if (options.token?.isCancellationRequested) end();
  });
}

export async function runs(command: string, args: readonly string[]): Promise<boolean> {
  return run(command, args, { timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}
