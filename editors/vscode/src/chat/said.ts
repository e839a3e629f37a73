/** How is what the server answers told in the conversation? Pure. */
import type { UndoResult } from '../protocol';
import type { Action } from '../../webview/src/store';

/** What was running was stopped by the person. */
export class Stopped extends Error {}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function hasConflict({ files }: UndoResult): boolean {
  return files.some(({ outcome }) => outcome === 'conflict');
}

export function noticeOf(result: UndoResult): Action {
  return { do: 'notice', level: hasConflict(result) ? 'warning' : 'info', text: result.message };
}
