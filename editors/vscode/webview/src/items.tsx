// How does one thing of a conversation look?

import { Component } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { CallCard } from './call';
import { PageContext } from './context';
import { Icon } from './icon';
import { Markdown } from './markdown';
import type { Item, NoticeItem, ThinkingItem, TodoItem, UserItem } from './store';
import { INTERRUPTED } from './store';
import { bareName, cap, clean, oneLine } from './text';
import { later, t } from './words';

interface Props {
  item: Item;
  live: boolean;
  /** It goes when the message in the input is sent. */
  leaves: boolean;
}

/** Drawn again only when the item itself changed. */
export class ItemView extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    const { item, live, leaves } = this.props;
    return next.item !== item || next.live !== live || next.leaves !== leaves;
  }

  override render({ item, live, leaves }: Props) {
    return (
      <div class={`item item-${item.kind}${leaves ? ' leaves' : ''}`} data-item={item.id}>
        {draw(item, live)}
      </div>
    );
  }
}

function draw(item: Item, live: boolean) {
  switch (item.kind) {
    case 'user':
      return <Said item={item} />;
    case 'text':
      return <Markdown text={item.text} live={live} />;
    case 'thinking':
      return <Thought item={item} live={live} />;
    case 'call':
      return <CallCard item={item} />;
    case 'todo':
      return <Checklist item={item} />;
    case 'notice':
      return <Notice item={item} />;
  }
}

function Said({ item }: { item: UserItem }) {
  const page = useContext(PageContext);
  const edit = () => {
    if (item.turnId) return page.edit(item.turnId);
    // It never reached the server: there is nothing to replace.
    page.composer?.set(item.text, 'append');
    page.composer?.focus();
  };
  const beside = [...item.attachments.map((name) => ['file', name]), ...item.picks.map((tool) => ['zap', bareName(tool)])];
  return (
    <div class="said" role="group" aria-label={t('You')}>
      <div class="said-text">{clean(item.text)}</div>
      {beside.length > 0 && (
        <div class="chips">
          {beside.map(([icon, name]) => (
            <span class="chip" key={`${icon}${name}`}>
              <Icon name={icon ?? ''} /> <span class="chip-name">{oneLine(name ?? '')}</span>
            </span>
          ))}
        </div>
      )}
      <div class="said-actions">
        <button
          type="button"
          class="icon"
          title={t('Edit and send again')}
          aria-label={t('Edit and send again')}
          onClick={edit}
        >
          <Icon name="edit" />
        </button>
        <button
          type="button"
          class="icon"
          title={t('Copy')}
          aria-label={t('Copy')}
          onClick={() => page.copy(item.text)}
        >
          <Icon name="copy" />
        </button>
      </div>
    </div>
  );
}

function Thought({ item, live }: { item: ThinkingItem; live: boolean }) {
  const page = useContext(PageContext);
  const [open, setOpen] = useState(page.open.has(item.id));
  const toggle = () => {
    page.toggle(item.id);
    setOpen(!open);
  };
  const last = cap(oneLine(item.text.trimEnd().slice(-400).split('\n').at(-1) ?? ''), 160);
  return (
    <div class="thought">
      <button type="button" class="row" aria-expanded={open} onClick={toggle}>
        <Icon name="lightbulb" class="dim" />
        <span class="row-name">{live ? t('thinking') : t('thought')}</span>
        <span class="row-detail">{open ? '' : last}</span>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} class="row-chevron" />
      </button>
      {open && (
        <div class="thought-text">
          <Markdown text={item.text.trim()} live={live} />
        </div>
      )}
    </div>
  );
}

const BOXES = {
  pending: ['circle-large-outline', later('to do')],
  in_progress: ['circle-filled', later('in progress')],
  completed: ['pass', later('done')],
};

function Checklist({ item }: { item: TodoItem }) {
  return (
    <ul class="todo" aria-label={t('To-do list')}>
      {item.todo.map((todo, at) => {
        const isNow = todo.status === 'in_progress';
        const [icon = '', state = ''] = BOXES[todo.status];
        return (
          <li key={at} class={`todo-${todo.status}`}>
            <Icon name={icon} />
            <span class="hidden">{t(state)}: </span>
            <span>{oneLine((isNow && todo.activeForm) || todo.content)}</span>
          </li>
        );
      })}
    </ul>
  );
}

const LEVELS = { info: later('info'), warning: later('warning'), error: later('error') };

function Notice({ item }: { item: NoticeItem }) {
  const page = useContext(PageContext);
  return (
    <div class={`notice notice-${item.level}`}>
      <Icon name={LEVELS[item.level]} />
      <span class="hidden">{t(LEVELS[item.level])}: </span>
      <span class="notice-text">{clean(t(item.text))}</span>
      {item.code === INTERRUPTED && (
        <button
          type="button"
          class="link"
          onClick={() => page.post({ type: 'goOn', text: t('Go on where you were interrupted.') })}
        >
          {t('Go on')}
        </button>
      )}
    </div>
  );
}
