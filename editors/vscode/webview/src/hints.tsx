// Which tools fit what is being typed? Quiet rows above the input; the focus stays where the person types.

import { useContext, useState } from 'preact/hooks';
import type { HintInfo } from '../../src/protocol';
import { PageContext } from './context';
import { Icon } from './icon';
import { oneLine } from './text';
import { t } from './words';

export const HINT_LIST = 'hints';

interface Props {
  hints: HintInfo[];
  selected: number;
  onPick: (hint: HintInfo) => void;
}

export function Hints({ hints, selected, onPick }: Props) {
  const [hovered, setHovered] = useState(-1);
  if (hints.length === 0) return null;
  const at = hovered >= 0 ? hovered : selected;
  const current = hints[at];
  return (
    <div class="hints" onMouseLeave={() => setHovered(-1)}>
      <div role="listbox" id={HINT_LIST} aria-label={t('Tools that fit')}>
        {hints.map((hint, row) => (
          <Hint
            key={hint.tool}
            hint={hint}
            id={`${HINT_LIST}-${row}`}
            isSelected={row === selected}
            onPick={() => onPick(hint)}
            onHover={() => setHovered(row)}
          />
        ))}
      </div>
      {current && <Actions hint={current} row={at} />}
      <div class="hint-keys" aria-hidden="true">
        {selected < 0
          ? t('Tab chooses · Esc hides')
          : t('Enter takes it · Alt+Enter enables it always · Delete never hints it')}
      </div>
    </div>
  );
}

interface HintProps {
  hint: HintInfo;
  id: string;
  isSelected: boolean;
  onPick: () => void;
  onHover: () => void;
}

function Hint({ hint, id, isSelected, onPick, onHover }: HintProps) {
  const name = oneLine(hint.label);
  const server = oneLine(hint.server ?? '');
  return (
    <div
      id={id}
      class={`hint ${isSelected ? 'selected' : ''}`}
      role="option"
      aria-selected={isSelected}
      title={`${name}${server && ` · ${server}`}\n${oneLine(hint.description)}`}
      // The input keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onMouseEnter={onHover}
      onClick={onPick}
    >
      <Icon name="zap" class="hint-mark" />
      <span class="hint-name">{name}</span>
      <span class="hint-what">{oneLine(hint.description)}</span>
      <span class="hint-score">{hint.score.toFixed(2)}</span>
      {server && <span class="hint-server">{server}</span>}
    </div>
  );
}

/** What the mouse may do with one hint, laid over its row; by keyboard there are Alt+Enter and Delete. */
function Actions({ hint, row }: { hint: HintInfo; row: number }) {
  const page = useContext(PageContext);
  const name = oneLine(hint.label);
  const button = (type: 'neverHint' | 'enableAlways', icon: string, words: string, label: string) => (
    <button
      type="button"
      class="icon"
      tabIndex={-1}
      title={words}
      aria-label={label}
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => page.post({ type, tool: hint.tool })}
    >
      <Icon name={icon} />
    </button>
  );
  return (
    <div class="hint-actions" style={{ top: `calc(var(--hint-row) * ${row})` }}>
      {hint.state !== 'enabled' && button('enableAlways', 'pin', t('Enable always'), t('Enable {0} always', name))}
      {button('neverHint', 'eye-closed', t('Don’t hint this tool'), t('Don’t hint {0}', name))}
    </div>
  );
}
