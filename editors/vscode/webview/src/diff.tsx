// How does a change of a file look beside its question? Signs as well as colours.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { reveal } from './text';
import { t } from './words';

const LINES = 20;
const MOST = 3000;

export function DiffView({ unified, title }: { unified: string; title: string }) {
  const [all, setAll] = useState(false);
  const lines = bodyOf(unified);
  const shown = lines.slice(0, all ? MOST : LINES);
  return (
    <div class="diff">
      <pre tabIndex={0} aria-label={t('Changes: {0}', title)}>
        {shown.map((line, at) => (
          <div key={at} class={kindOf(line)}>
            {line || ' '}
          </div>
        ))}
      </pre>
      {lines.length > shown.length && (
        <button type="button" class="link" disabled={all} onClick={() => setAll(true)}>
          {all
            ? t('{0} more lines: open the diff', lines.length - shown.length)
            : t('Show all ({0} more lines)', lines.length - shown.length)}
        </button>
      )}
    </div>
  );
}

/** Lines of one hunk, each with its sign. */
export function HunkLines({ lines, title, children }: { lines: string[]; title: string; children?: ComponentChildren }) {
  return (
    <div class="diff">
      <pre tabIndex={0} aria-label={t('Changes: {0}', title)}>
        {lines.map((line, at) => (
          <div key={at} class={kindOf(line)}>
            {reveal(line) || ' '}
          </div>
        ))}
      </pre>
      {children}
    </div>
  );
}

/** Without the two lines that name the file: it stands above. */
function bodyOf(unified: string): string[] {
  const lines = reveal(unified).trimEnd().split('\n');
  return lines[0]?.startsWith('--- ') ? lines.slice(2) : lines;
}

function kindOf(line: string): string {
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return line.startsWith('@@') ? 'hunk' : '';
}
