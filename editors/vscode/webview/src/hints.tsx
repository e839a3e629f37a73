// Which tools fit what is being typed? Quiet rows above the input; the focus stays where the person types.

import { useContext } from 'preact/hooks';
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
  const page = useContext(PageContext);
  if (hints.length === 0) return null;
  return (
    <div class="hints" role="listbox" id={HINT_LIST} aria-label={t('Tools that fit')}>
      {hints.map((hint, at) => {
        const act = (type: 'neverHint' | 'enableAlways') => (event: Event) => {
          event.stopPropagation();
          page.post({ type, tool: hint.tool });
        };
        return (
          <div
            key={hint.tool}
            id={`${HINT_LIST}-${at}`}
            class={`hint ${at === selected ? 'selected' : ''}`}
            role="option"
            aria-selected={at === selected}
            title={`${oneLine(hint.label)}${hint.server ? ` · ${oneLine(hint.server)}` : ''}\n${oneLine(hint.description)}`}
            // The input keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onPick(hint)}
          >
            <Icon name="zap" class="hint-mark" />
            <span class="hint-name">{oneLine(hint.label)}</span>
            <span class="hint-what">{oneLine(hint.description)}</span>
            <span class="hint-score">{hint.score.toFixed(2)}</span>
            {hint.server && <span class="hint-server">{oneLine(hint.server)}</span>}
            <span class="hint-actions">
              {hint.state !== 'enabled' && (
                <button
                  type="button"
                  class="icon"
                  tabIndex={-1}
                  title={t('Enable always')}
                  aria-label={t('Enable {0} always', oneLine(hint.label))}
                  onClick={act('enableAlways')}
                >
                  <Icon name="pin" />
                </button>
              )}
              <button
                type="button"
                class="icon"
                tabIndex={-1}
                title={t('Don’t hint this tool')}
                aria-label={t('Don’t hint {0}', oneLine(hint.label))}
                onClick={act('neverHint')}
              >
                <Icon name="eye-closed" />
              </button>
            </span>
          </div>
        );
      })}
      <div class="hint-keys" aria-hidden="true">
        {selected < 0
          ? t('Tab chooses · Esc hides')
          : t('Enter takes it · Alt+Enter enables it always · Delete never hints it')}
      </div>
    </div>
  );
}
