// What waits for the person: may this tool run, and questions. Keys answer while a card has the focus, which it never takes.

import type { ComponentChildren } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Choice, PermissionAsk } from '../../src/protocol';
import type { Ask } from './bridge';
import { Arguments, Long } from './call';
import { PageContext } from './context';
import { DiffView } from './diff';
import { Icon } from './icon';
import { QuestionCard } from './question';
import { shortPath } from './roots';
import { oneLine, reveal } from './text';
import { later, t } from './words';

export function Asks({ asks }: { asks: Ask[] }) {
  return (
    <div class="asks">
      {asks.map((ask) =>
        ask.kind === 'permission' ? (
          <PermissionCard key={ask.ask.requestId} ask={ask.ask} />
        ) : (
          <QuestionCard key={ask.ask.requestId} ask={ask.ask} />
        ),
      )}
    </div>
  );
}

/** A key struck before the card was in sight was meant for something else. */
const GUARD_MS = 300;
const KEYS: Record<Choice['kind'], string> = {
  ...{ allowOnce: 'a', allowSession: 's', allowAlways: 'w', allowServerSession: 'e', reject: 'r' },
};
/** The key stands in square brackets. */
const WORDS: Record<Choice['kind'], string> = {
  allowOnce: later('[A]llow once'),
  allowSession: later('This [s]ession'),
  allowAlways: later('Al[w]ays'),
  allowServerSession: later('[E]very tool of {0} this session'),
  reject: later('[R]eject…'),
};
const TITLES = {
  diff: later('Change this file?'),
  command: later('Run this command?'),
  text: later('Run this tool?'),
};

export function PermissionCard({ ask }: { ask: PermissionAsk }) {
  const page = useContext(PageContext);
  const card = useRef<HTMLDivElement>(null);
  const born = useRef(Date.now());
  const [rejecting, setRejecting] = useState(false);
  const [answered, setAnswered] = useState(false);
  const server = oneLine(ask.server ?? '');
  const name = oneLine(ask.label) + (server ? ` · ${server}` : '');

  const answer = (choice: Choice, feedback?: string) => {
    if (answered) return;
    setAnswered(true);
    const hadFocus = card.current?.contains(document.activeElement);
    if (hadFocus) focusNext(card.current, () => page.composer?.focus());
    page.post({ type: 'permission', requestId: ask.requestId, choice: choice.id, ...(feedback ? { feedback } : {}) });
  };
  const choose = (choice: Choice) => (choice.kind === 'reject' ? setRejecting(true) : answer(choice));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLTextAreaElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const choice = ask.choices.find(({ kind }) => KEYS[kind] === event.key.toLowerCase());
    // One that is still held down has answered the card before.
    if (!choice || event.repeat || Date.now() - born.current < GUARD_MS) return;
    event.preventDefault();
    choose(choice);
  };

  const title = t(TITLES[ask.preview?.kind ?? 'text']);
  return (
    <div class="ask" ref={card} tabIndex={0} role="group" aria-label={`${title} ${name}`} onKeyDown={onKeyDown}>
      <div class="ask-title">
        <strong>{title}</strong> <span class="ask-who">{name}</span>
        {oneLine(ask.tool) !== oneLine(ask.label) && <span class="ask-wire">{oneLine(ask.tool)}</span>}
      </div>
      {ask.definitionChanged && (
        <div class="ask-changed">
          <Icon name="warning" />
          <div>
            <div>{t('This tool has changed since you allowed it:')}</div>
            <pre>{reveal(ask.definitionChanged)}</pre>
          </div>
        </div>
      )}
      <Preview ask={ask} name={name} />
      <Arguments params={ask.params} title={name} lines={6} except={exceptOf(ask)} draw={reveal} />
      {ask.reason && <div class="ask-reason">{oneLine(ask.reason)}</div>}
      {rejecting ? (
        <Reject
          onSend={(feedback) => {
            const choice = ask.choices.find(({ kind }) => kind === 'reject');
            answer(choice ?? { id: 'reject', label: '', kind: 'reject' }, feedback);
          }}
          onBack={() => {
            setRejecting(false);
            card.current?.focus();
          }}
        />
      ) : (
        <div class="ask-choices">
          {ask.choices.map((choice, at) => (
            <button
              type="button"
              key={choice.id}
              disabled={answered}
              class={at === 0 ? 'primary' : 'secondary'}
              aria-keyshortcuts={KEYS[choice.kind]}
              onClick={() => choose(choice)}
            >
              <Keyed words={t(WORDS[choice.kind], server || t('the server'))} />
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** `[A]llow once`, the key underlined. */
export function Keyed({ words }: { words: string }) {
  const found = /^(.*?)\[(.+?)\](.*)$/.exec(words);
  if (!found) return <>{words}</>;
  return (
    <>
      {found[1]}
      <u>{found[2]}</u>
      {found[3]}
    </>
  );
}

function focusNext(card: HTMLElement | null, otherwise: () => void): void {
  const cards = [...document.querySelectorAll<HTMLElement>('.ask')];
  const next = cards.filter((one) => one !== card)[0];
  if (next) next.focus();
  else otherwise();
}

function exceptOf({ preview, params }: PermissionAsk): unknown {
  if (preview?.kind === 'command') return preview.command;
  return preview?.kind === 'text' && Object.values(params).includes(preview.text) ? preview.text : undefined;
}

function Preview({ ask, name }: { ask: PermissionAsk; name: string }): ComponentChildren {
  const page = useContext(PageContext);
  const { preview } = ask;
  switch (preview?.kind) {
    case 'diff':
      return (
        <div class="ask-diff">
          <div class="ask-path">
            <span class="path">{reveal(shortPath(preview.path, page.desk.roots))}</span>
            <button
              type="button"
              class="link"
              onClick={() => page.post({ type: 'openDiff', requestId: ask.requestId })}
            >
              {t('Open diff')}
            </button>
          </div>
          <DiffView unified={preview.unified} title={name} />
        </div>
      );
    case 'command':
      return (
        <div class="ask-command">
          <Long text={reveal(preview.command)} lines={12} title={name} plain />
          <div class="ask-cwd">{t('in {0}', reveal(preview.cwd))}</div>
          {preview.note && <div class="ask-cwd">{reveal(preview.note)}</div>}
        </div>
      );
    case 'text':
      return <Long text={reveal(preview.text)} lines={12} title={name} plain />;
    default:
      return null;
  }
}

function Reject({ onSend, onBack }: { onSend: (feedback: string) => void; onBack: () => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [words, setWords] = useState('');
  // The person asked for this field with a key or a click; it is where they go on.
  useLayoutEffect(() => field.current?.focus(), []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      onSend(words.trim());
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      onBack();
    }
  };
  return (
    <div class="ask-reject">
      <textarea
        rows={2}
        ref={field}
        aria-label={t('Why not? The model is told.')}
        placeholder={t('Why not? The model is told. Empty is fine.')}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="ask-choices">
        <button type="button" class="primary" onClick={() => onSend(words.trim())}>
          {t('Reject')}
        </button>
        <button type="button" class="secondary" onClick={onBack}>
          {t('Back')}
        </button>
      </div>
    </div>
  );
}
