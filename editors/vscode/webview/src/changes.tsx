// What did the model change in files? Each file and each hunk is kept or taken back here; a name opens the diff editor.

import type { ComponentChildren } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { FileChanges, FileChoice, Hunk } from '../../src/protocol';
import type { Desk } from './bridge';
import { PageContext } from './context';
import { HunkLines } from './diff';
import { Icon } from './icon';
import { shownPath } from './roots';
import { oneLine } from './text';
import { later, t } from './words';

interface Props {
  files: FileChanges[];
  desk: Desk;
  /** What runs may change the same files: nothing is taken back meanwhile. */
  isRunning: boolean;
}

export function Changes({ files, desk, isRunning }: Props) {
  const page = useContext(PageContext);
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(true);
  useFocusThatStays(box, files);
  if (files.length === 0 && !desk.canRedo) return null;
  return (
    <div class="changes" ref={box} role="group" aria-label={t('Changed files')}>
      {desk.canRedo && (
        <div class="changes-head">
          <Icon name="discard" />
          <span class="row-detail">{t('Taken back.')}</span>
          <button type="button" class="link" disabled={isRunning} onClick={() => page.post({ type: 'redo' })}>
            {t('Undo the undo')}
          </button>
        </div>
      )}
      {files.length > 0 && (
        <div class="changes-head">
          <button type="button" class="row" aria-expanded={open} onClick={() => setOpen(!open)}>
            <Icon name={open ? 'chevron-down' : 'chevron-right'} />
            <span>{files.length === 1 ? t('1 file changed') : t('{0} files changed', files.length)}</span>
          </button>
          <button type="button" class="link" data-act="keep" onClick={() => page.post({ type: 'keepChanges' })}>
            {t('Keep all')}
          </button>
          <button
            type="button"
            class="link"
            data-act="takeBack"
            disabled={isRunning || files.every(({ blocked }) => blocked)}
            onClick={() => page.post({ type: 'takeBackChanges' })}
          >
            {t('Take back all')}
          </button>
        </div>
      )}
      {files.length > 0 && open && (
        <ul class="changed-files">
          {files.map((file) => (
            <ChangedFile key={file.path} file={file} isRunning={isRunning} />
          ))}
        </ul>
      )}
    </div>
  );
}

const ICONS: Record<FileChanges['status'], [icon: string, words: string]> = {
  created: ['diff-added', later('new')],
  modified: ['diff-modified', later('changed')],
  deleted: ['diff-removed', later('deleted')],
};

function ChangedFile({ file, isRunning }: { file: FileChanges; isRunning: boolean }) {
  const page = useContext(PageContext);
  const [open, setOpen] = useState(false);
  const { path, hunks, blocked, added, removed, status } = file;
  const shown = oneLine(shownPath(path, page.desk.roots));
  const at = Math.max(shown.lastIndexOf('/'), shown.lastIndexOf('\\')) + 1;
  const [icon, words] = ICONS[status];
  return (
    <li>
      <div class="changed-file">
        {hunks.length > 0 ? (
          <button
            type="button"
            class="icon"
            aria-expanded={open}
            aria-label={t('Changes in {0}', shown)}
            title={hunks.length === 1 ? t('1 change') : t('{0} changes', hunks.length)}
            onClick={() => setOpen(!open)}
          >
            <Icon name={open ? 'chevron-down' : 'chevron-right'} />
          </button>
        ) : (
          <span class="no-icon" />
        )}
        <button
          type="button"
          class="changed-name"
          title={t('Open the diff of {0}', shown)}
          onClick={() => page.post({ type: 'openChange', path })}
        >
          <Icon name={icon} class={`changed-${status}`} />
          <span class="hidden">{t(words)}: </span>
          <span class="changed-base">{shown.slice(at)}</span>
          <span class="changed-folder">{shown.slice(0, Math.max(at - 1, 0))}</span>
        </button>
        {added > 0 && <span class="added">+{added}</span>}
        {removed > 0 && <span class="removed">−{removed}</span>}
        <Acts choice={{ path }} of={shown} canTakeBack={!isRunning && !blocked} />
      </div>
      {blocked && <div class="changed-blocked">{t('Cannot be taken back: it {0}', oneLine(blocked))}</div>}
      {open && hunks.map((hunk) => <HunkView key={hunk.id} path={path} hunk={hunk} isRunning={isRunning} />)}
    </li>
  );
}

function HunkView({ path, hunk, isRunning }: { path: string; hunk: Hunk; isRunning: boolean }) {
  const page = useContext(PageContext);
  const { id, newStart, newLines, lines, cut } = hunk;
  const place = newLines > 1 ? t('lines {0}–{1}', newStart, newStart + newLines - 1) : t('line {0}', Math.max(newStart, 1));
  return (
    <div class="changed-hunk" role="group" aria-label={place}>
      <div class="changed-place">
        <span>{place}</span>
        <Acts choice={{ path, hunks: [id] }} of={place} canTakeBack={!isRunning} />
      </div>
      <HunkLines lines={lines} title={place}>
        {cut > 0 && (
          <button type="button" class="link" onClick={() => page.post({ type: 'openChange', path })}>
            {t('Show all ({0} more lines)', cut)}
          </button>
        )}
      </HunkLines>
    </div>
  );
}

function Acts({ choice, of, canTakeBack }: { choice: FileChoice; of: string; canTakeBack: boolean }): ComponentChildren {
  const page = useContext(PageContext);
  return (
    <>
      <button
        type="button"
        class="icon"
        data-act="keep"
        title={t('Keep')}
        aria-label={t('Keep {0}', of)}
        onClick={() => page.post({ type: 'keepChanges', files: [choice] })}
      >
        <Icon name="check" />
      </button>
      <button
        type="button"
        class="icon"
        data-act="takeBack"
        title={t('Take back')}
        aria-label={t('Take back {0}', of)}
        disabled={!canTakeBack}
        onClick={() => page.post({ type: 'takeBackChanges', files: [choice] })}
      >
        <Icon name="discard" />
      </button>
    </>
  );
}

/** What had the focus may be gone with its change: then its neighbour has it, or the input. */
function useFocusThatStays(box: { current: HTMLDivElement | null }, files: FileChanges[]): void {
  const page = useContext(PageContext);
  const last = useRef<{ act: string; at: number } | undefined>(undefined);
  const buttons = (act: string) => [...(box.current?.querySelectorAll<HTMLElement>(`[data-act="${act}"]:enabled`) ?? [])];
  useLayoutEffect(() => {
    const note = () => {
      const focused = document.activeElement;
      const act = focused instanceof HTMLElement ? focused.dataset['act'] : undefined;
      last.current = act && focused instanceof HTMLElement ? { act, at: buttons(act).indexOf(focused) } : undefined;
    };
    document.addEventListener('focusin', note);
    return () => document.removeEventListener('focusin', note);
  }, []);
  useLayoutEffect(() => {
    if (!last.current || !document.hasFocus() || document.activeElement !== document.body) return;
    const left = buttons(last.current.act);
    const next = left[Math.min(last.current.at, left.length - 1)];
    if (next) next.focus();
    else page.composer?.focus();
  }, [files]);
}
