// What is going on, in one line above the input: it works, it waits, it cannot; and what is queued.

import { useContext } from 'preact/hooks';
import type { Desk } from './bridge';
import { PageContext } from './context';
import { Icon } from './icon';
import type { Conversation } from './store';
import { cap, oneLine, wholeSeconds } from './text';
import { useClock } from './transcript';
import { t } from './words';

export function Status({ desk, conversation }: { desk: Desk; conversation: Conversation }) {
  return (
    <>
      <Now desk={desk} conversation={conversation} />
      <Queue desk={desk} />
    </>
  );
}

function Now({ desk, conversation }: { desk: Desk; conversation: Conversation }) {
  const page = useContext(PageContext);
  const isRunning = conversation.state !== 'idle';
  useClock(isRunning);
  const { server, asks } = desk;
  if (server.state === 'failed' || server.state === 'stopped') return <Trouble reason={server.reason} />;
  if (asks.length > 0) {
    const names = asks.slice(1).map(({ ask }) => oneLine('label' in ask ? ask.label : ask.title));
    return (
      <div class="status waits">
        <button type="button" class="row" onClick={() => toAsk()}>
          <Icon name="circle-filled" />
          <strong>{asks.length === 1 ? t('1 waits for you') : t('{0} wait for you', asks.length)}</strong>
          {names.length > 0 && <span class="row-detail">{t('then: {0}', cap(names.join(', '), 80))}</span>}
        </button>
        <span class="status-way">{isRunning && t('Esc stops')}</span>
      </div>
    );
  }
  if (conversation.state === 'stopping') return <Line icon="loading" words={t('stopping…')} />;
  if (isRunning) {
    const ms = page.now() - conversation.began;
    return (
      <Line icon="loading" words={ms < 1000 ? t('working') : t('working {0}', wholeSeconds(ms))} way={t('Esc stops')} />
    );
  }
  if (server.state === 'starting')
    return <Line icon="loading" words={oneLine(server.reason ?? '') || t('starting…')} />;
  return null;
}

function toAsk(): void {
  const card = document.querySelector<HTMLElement>('.ask');
  card?.scrollIntoView({ block: 'nearest' });
  card?.focus();
}

function Line({ icon, words, way = '' }: { icon: string; words: string; way?: string }) {
  return (
    <div class="status">
      <Icon name={icon} spin />
      <span>{words}</span>
      <span class="status-way">{way}</span>
    </div>
  );
}

function Trouble({ reason }: { reason: string | undefined }) {
  const page = useContext(PageContext);
  return (
    <div class="status trouble" role="alert">
      <Icon name="error" />
      <span>{reason ? oneLine(reason) : t('The server is not running.')}</span>
      <span class="status-way">
        <button type="button" class="link" onClick={() => page.post({ type: 'restart' })}>
          {t('Restart')}
        </button>
        <button type="button" class="link" onClick={() => page.post({ type: 'log' })}>
          {t('Log')}
        </button>
      </span>
    </div>
  );
}

function Queue({ desk }: { desk: Desk }) {
  const page = useContext(PageContext);
  if (desk.queue.length === 0) return null;
  return (
    <ul class="queue" aria-label={t('Messages that wait')}>
      {desk.queue.map(({ id, text }) => (
        <li key={id}>
          <Icon name="clock" />
          <span class="queue-text">{oneLine(text)}</span>
          <button
            type="button"
            class="icon"
            title={t('Edit')}
            aria-label={t('Edit the waiting message')}
            onClick={() => page.post({ type: 'unqueue', id, edit: true })}
          >
            <Icon name="edit" />
          </button>
          <button
            type="button"
            class="icon"
            title={t('Remove')}
            aria-label={t('Remove the waiting message')}
            onClick={() => page.post({ type: 'unqueue', id, edit: false })}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
