// Where the person writes: the text, what goes with it, what completes it, and what each key does.

import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { HintInfo } from '../../src/protocol';
import type { Chip, Desk } from './bridge';
import { COMMANDS, completionAt, fitting, parseCommand, promptCommands, type Completion } from './commands';
import { Completions, type Choice } from './completions';
import { PageContext } from './context';
import { EditBanner } from './editing';
import { Foot } from './foot';
import { HINT_LIST, Hints } from './hints';
import { Icon } from './icon';
import { attachPictures, dropped } from './pictures';
import type { Conversation } from './store';
import { oneLine } from './text';
import { t } from './words';

const DRAFT_MS = 250;

export function Composer({ desk, conversation }: { desk: Desk; conversation: Conversation }) {
  const page = useContext(PageContext);
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(page.draft);
  const [selectedTool, setSelectedTool] = useState<string>();
  const [completing, setCompleting] = useState<{ at: Completion; choices: Choice[]; selected: number }>();
  const isRunning = conversation.state !== 'idle';
  const timer = useRef(0);

  const hints = text.trim() === '' ? [] : desk.hints;
  const selected = hints.findIndex(({ tool }) => tool === selectedTool);
  const hint = hints[selected];

  const change = (words: string) => {
    setText(words);
    page.setDraft(words);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => page.post({ type: 'draft', text: words }), DRAFT_MS);
  };

  useLayoutEffect(() => {
    page.composer = {
      focus: () => field.current?.focus(),
      set: (words, how) => {
        const before = field.current?.value ?? '';
        change(how === 'append' && before.trim() ? `${before.trimEnd()}\n${words}` : words);
      },
    };
    // Words that were there before the page was loaded anew are a draft like any other.
    if (page.started && page.draft && page.draft !== text) setText(page.draft);
  }, [page.started]);

  useLayoutEffect(() => {
    const box = field.current as HTMLTextAreaElement;
    box.style.height = 'auto';
    box.style.height = `${box.scrollHeight}px`;
  }, [text]);

  const complete = async (words: string, cursor: number) => {
    const at = completionAt(words, cursor);
    if (!at) return setCompleting(undefined);
    if (at.kind === 'command') {
      const choices = fitting(at.query, desk.can, desk.prompts).map(commandChoice);
      return setCompleting(choices.length > 0 ? { at, choices, selected: 0 } : undefined);
    }
    if (at.kind === 'server') {
      const names = desk.servers.filter((name) => name.toLowerCase().startsWith(at.query));
      const choices = names.map((name) => ({ value: name, label: `@${oneLine(name)}`, detail: '', icon: 'server' }));
      return setCompleting(choices.length > 0 ? { at, choices, selected: 0 } : undefined);
    }
    const files = await page.findFiles(at.query);
    if (field.current?.value !== words) return;
    const choices = files.map(({ path, name, folder }) => ({ value: path, label: name, detail: folder, icon: 'file' }));
    setCompleting(choices.length > 0 ? { at, choices, selected: 0 } : undefined);
  };

  const take = (choice: Choice) => {
    if (!completing) return;
    const { from, to, kind } = completing.at;
    setCompleting(undefined);
    if (kind === 'file') page.post({ type: 'attachFiles', uris: [choice.value] });
    else if (choice.runsAtOnce) return run(choice.value, '', text.slice(to).trim());
    const put = { command: `/${choice.value} `, server: `@${choice.value} `, file: '' }[kind];
    change(text.slice(0, from) + put + text.slice(to));
    queueMicrotask(() => field.current?.setSelectionRange(from + put.length, from + put.length));
  };

  const run = (name: string, argument: string, left = '') => {
    change(left);
    page.post({ type: 'command', name, argument });
  };

  const send = () => {
    const command = parseCommand(text, [...COMMANDS, ...promptCommands(desk.prompts)]);
    if (command) {
      // What follows a command that takes nothing was meant as a message.
      const takesNone = COMMANDS.some(({ name, argument }) => name === command.name && argument === '');
      return takesNone ? run(command.name, '', command.argument) : run(command.name, command.argument);
    }
    if (!text.trim() && desk.chips.length === 0) return undefined;
    clearTimeout(timer.current);
    page.post({ type: 'send', text: text.trim() });
    setText('');
    page.setDraft('');
    return undefined;
  };

  const pick = (one: HintInfo) => {
    setSelectedTool(undefined);
    page.post({ type: 'pick', tool: one.tool });
    page.say(t('{0} goes with the message.', oneLine(one.label)));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing || event.keyCode === 229) return;
    const plain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
    const handled = completing ? completionKey(event, plain) : hintKey(event, plain) || ownKey(event, plain);
    if (handled) event.preventDefault();
  };

  const completionKey = (event: KeyboardEvent, plain: boolean): boolean => {
    if (!completing) return false;
    const { choices } = completing;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && plain) {
      setCompleting({ ...completing, selected: (completing.selected + step + choices.length) % choices.length });
      return true;
    }
    const chosen = choices[completing.selected];
    if ((event.key === 'Enter' || event.key === 'Tab') && plain && chosen) {
      take(chosen);
      return true;
    }
    if (event.key !== 'Escape') return false;
    setCompleting(undefined);
    return true;
  };

  const hintKey = (event: KeyboardEvent, plain: boolean): boolean => {
    if (hints.length === 0) return false;
    if (event.key === 'Tab' && plain) {
      setSelectedTool(hints[(selected + 1) % hints.length]?.tool);
      return true;
    }
    if (event.key === 'Escape') {
      setSelectedTool(undefined);
      page.post({ type: 'dismissHints' });
      return true;
    }
    if (!hint) return false;
    if (event.key === 'Enter' && plain) pick(hint);
    else if (event.key === 'Enter' && event.altKey) page.post({ type: 'enableAlways', tool: hint.tool });
    else if (event.key === 'Delete') page.post({ type: 'neverHint', tool: hint.tool });
    else return false;
    return true;
  };

  const ownKey = (event: KeyboardEvent, plain: boolean): boolean => {
    const box = event.currentTarget as HTMLTextAreaElement;
    if (event.key === 'Enter' && plain) {
      send();
    } else if (event.key === 'Escape' && isRunning) {
      page.post({ type: 'stop' });
    } else if (event.key === 'Escape' && desk.editing) {
      page.post({ type: 'cancelEdit' });
    } else if (event.key === 'ArrowUp' && plain && text === '') {
      const last = conversation.items.findLast((item) => item.kind === 'user');
      if (last?.kind === 'user') change(last.text);
    } else if (event.key === 'Backspace' && box.selectionStart === 0 && box.selectionEnd === 0) {
      const tool = desk.picks.at(-1)?.tool;
      const chip = desk.chips.at(-1)?.id;
      if (tool) page.post({ type: 'unpick', tool });
      else if (chip) page.post({ type: 'detach', id: chip });
      else return false;
    } else {
      return false;
    }
    return true;
  };

  const label = isRunning ? t('Message; waits until the turn is over') : t('Message to Caddie');
  return (
    <div class="composer-frame">
      <EditBanner editing={desk.editing} />
      <Hints hints={hints} selected={selected} onPick={pick} />
      {completing && <Completions choices={completing.choices} selected={completing.selected} onTake={take} />}
      <div class="composer" onDragOver={(event) => event.preventDefault()} onDrop={(event) => dropped(page, event)}>
        <textarea
          ref={field}
          rows={1}
          class="composer-text"
          aria-label={label}
          placeholder={isRunning ? t('Say more; it is sent when the turn is over') : t('Ask, or say what to do')}
          aria-controls={hints.length > 0 ? HINT_LIST : undefined}
          aria-activedescendant={hint ? `${HINT_LIST}-${selected}` : undefined}
          value={text}
          onInput={(event) => {
            const box = event.currentTarget;
            change(box.value);
            void complete(box.value, box.selectionStart);
          }}
          onKeyDown={onKeyDown}
          onBlur={() => setCompleting(undefined)}
          onPaste={(event) => attachPictures(page, event)}
        />
        <Chips chips={desk.chips} picks={desk.picks} />
      </div>
      <Foot
        desk={desk}
        conversation={conversation}
        canSend={text.trim() !== '' || desk.chips.length > 0}
        onSend={send}
      />
    </div>
  );
}

function commandChoice({ name, argument, does }: ReturnType<typeof fitting>[number]): Choice {
  return { value: name, label: `/${name}`, detail: oneLine(t(does)), icon: 'terminal', runsAtOnce: argument === '' };
}

const CHIP_ICONS: Record<Chip['kind'], string> = {
  ...{ file: 'file', selection: 'list-selection', problems: 'warning', image: 'file-media', text: 'note' },
};

function Chips({ chips, picks }: { chips: Chip[]; picks: HintInfo[] }) {
  const page = useContext(PageContext);
  if (chips.length + picks.length === 0) return null;
  return (
    <div class="chips" role="list" aria-label={t('Goes with the message')}>
      {chips.map((chip) => (
        <ChipView
          key={chip.id}
          icon={CHIP_ICONS[chip.kind]}
          name={chip.name}
          preview={chip.preview}
          onRemove={() => page.post({ type: 'detach', id: chip.id })}
        />
      ))}
      {picks.map(({ tool, label }) => (
        <ChipView key={tool} icon="zap" name={label} onRemove={() => page.post({ type: 'unpick', tool })} />
      ))}
    </div>
  );
}

function ChipView(props: { icon: string; name: string; preview?: string | undefined; onRemove: () => void }) {
  const name = oneLine(props.name);
  return (
    <span class="chip" role="listitem" title={name}>
      {props.preview?.startsWith('data:image/') ? <img src={props.preview} alt="" /> : <Icon name={props.icon} />}
      <span class="chip-name">{name}</span>
      <button
        type="button"
        class="icon"
        title={t('Remove')}
        aria-label={t('Remove {0}', name)}
        onClick={props.onRemove}
      >
        <Icon name="close" />
      </button>
    </span>
  );
}
