// How does a tool call look? One quiet row with the real name; arguments and output unfold.

import { useContext, useState } from 'preact/hooks';
import { PageContext } from './context';
import { Icon } from './icon';
import type { Root } from './roots';
import type { CallItem } from './store';
import { isOpen } from './store';
import { argumentNames, cap, clean, elapsed, fold, oneLine, summary, valueText, wholeSeconds } from './text';
import { useClock } from './transcript';
import { later, t } from './words';

const RESULT_LINES = 30;
const ARGUMENT_LINES = 12;
const PROGRESS_LINES = 3;
/** More than this is not put into the page, but into an editor. */
const PAGE_MOST = 300_000;

const MARKS: Record<string, [icon: string, state: string]> = {
  pending: ['circle-large-outline', later('preparing')],
  awaitingPermission: ['question', later('waits for you')],
  running: ['loading', later('running')],
  done: ['check', later('done')],
  failed: ['error', later('failed')],
  refused: ['circle-slash', later('refused')],
  cancelled: ['circle-slash', later('stopped')],
};

export function CallCard({ item }: { item: CallItem }) {
  const page = useContext(PageContext);
  const [open, setOpen] = useState(page.open.has(item.id));
  const { call } = item;
  const runs = call.status === 'running';
  useClock(runs);
  const toggle = () => {
    page.toggle(item.id);
    setOpen(!open);
  };
  const [icon, state] = MARKS[call.status] ?? ['circle-large-outline', call.status];
  const since = item.at && runs ? Math.max(page.now() - item.at, 0) : 0;
  const time = runs ? wholeSeconds(call.elapsedMs + since) : elapsed(call.elapsedMs);
  const isQuiet = call.status === 'done' || runs;
  return (
    <div class={`call call-${call.status}`}>
      <button type="button" class="row" aria-expanded={open} onClick={toggle} title={call.tool}>
        <Icon name={icon} spin={runs} class="call-mark" />
        <span class="hidden">{t(state)}: </span>
        <span class="row-name">{nameOf(item)}</span>
        <span class="row-detail">{detailOf(item, page.desk.roots)}</span>
        {!isQuiet && <span class="call-state">{t(state)}</span>}
        <span class="call-time">{time}</span>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} class="row-chevron" />
      </button>
      {!open && <Below item={item} />}
      {open && <Unfolded item={item} />}
    </div>
  );
}

function nameOf({ call }: CallItem): string {
  if (call.tool !== 'ToolSearch') return oneLine(call.label);
  return isOpen(call) ? t('Looking for tools') : t('Looked for tools');
}

function detailOf({ call }: CallItem, roots: readonly Root[]): string {
  if (call.tool === 'ToolSearch') return cap(oneLine(String(call.params['query'] ?? '')), 120);
  return [oneLine(call.server ?? ''), summary(call.params, roots)].filter(Boolean).join(' · ');
}

/** The newest output while it runs, the reason when it did not work. */
function Below({ item: { call } }: { item: CallItem }) {
  if (call.status === 'running' && call.progress) {
    const lines = clean(call.progress.slice(-4000)).trimEnd().split('\n').slice(-PROGRESS_LINES);
    return <pre class="call-live">{lines.join('\n')}</pre>;
  }
  if ((call.status === 'failed' || call.status === 'refused') && call.result) {
    const lines = clean(call.result.slice(0, 2000)).split('\n');
    const told = lines.filter((line) => line.trim()).slice(0, PROGRESS_LINES);
    return <div class="call-why">{told.join('\n')}</div>;
  }
  return null;
}

function Unfolded({ item: { call } }: { item: CallItem }) {
  const page = useContext(PageContext);
  const output = call.result || (call.status === 'running' ? call.progress : '');
  const get = (how: 'open' | 'copy') => page.post({ type: 'showResult', callId: call.callId, title: who, how });
  const wholeOf = call.resultChars ? { chars: call.resultChars, get } : undefined;
  const who = call.server ? `${oneLine(call.label)} · ${oneLine(call.server)}` : oneLine(call.label);
  return (
    <div class="call-body">
      {call.tool !== call.label && <div class="call-wire">{oneLine(call.tool)}</div>}
      <Arguments params={call.params} title={who} />
      {output && (
        <Long text={clean(output)} lines={RESULT_LINES} title={who} isError={call.isError} whole={wholeOf} />
      )}
    </div>
  );
}

export function Arguments({
  params,
  title,
  except,
  lines = ARGUMENT_LINES,
  draw = clean,
}: {
  params: Record<string, unknown>;
  title: string;
  /** Shown elsewhere, word for word. */
  except?: unknown;
  lines?: number;
  draw?: (text: string) => string;
}) {
  const names = argumentNames(params).filter((name) => except === undefined || params[name] !== except);
  if (names.length === 0) return null;
  return (
    <dl class="arguments">
      {names.map((name) => (
        <div class="argument" key={name}>
          <dt>{draw(name)}</dt>
          <dd>
            <Long text={draw(valueText(params[name]))} lines={lines} title={`${title} · ${name}`} plain />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface LongProps {
  text: string;
  lines: number;
  title: string;
  isError?: boolean;
  plain?: boolean;
  /** The text is only the beginning of so much, and all of it is elsewhere. */
  whole?: { chars: number; get(how: 'open' | 'copy'): void } | undefined;
}

/** A text of which a part is shown until the person asks for all of it. */
export function Long({ text, lines, title, isError = false, plain = false, whole }: LongProps) {
  const page = useContext(PageContext);
  const [all, setAll] = useState(false);
  const { shown, more } = all ? { shown: text, more: 0 } : fold(text, lines);
  const isHuge = text.length > PAGE_MOST;
  const toEditor = () => (whole ? whole.get('open') : page.post({ type: 'showWhole', title, text }));
  const showAll = () => (isHuge ? toEditor() : setAll(true));
  return (
    <div class={`long ${plain ? 'plain' : ''} ${isError ? 'is-error' : ''}`}>
      <pre tabIndex={0}>{shown}</pre>
      {(more > 0 || !plain) && (
        <div class="long-actions">
          {whole && (
            <button type="button" class="link" onClick={toEditor}>
              {t('Show all in the editor ({0} characters)', whole.chars)}
            </button>
          )}
          {more > 0 && !whole && (
            <button type="button" class="link" onClick={showAll}>
              {isHuge ? t('Show all in the editor ({0} more lines)', more) : t('Show all ({0} more lines)', more)}
            </button>
          )}
          {!plain && (
            <>
              <button type="button" class="link" onClick={() => (whole ? whole.get('copy') : page.copy(text))}>
                {t('Copy')}
              </button>
              {!whole && (
                <button type="button" class="link" onClick={toEditor}>
                  {t('Open in the editor')}
                </button>
              )}
            </>
          )}
        </div>
      )}
    </div>
  );
}
