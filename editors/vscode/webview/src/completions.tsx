// What could the word at the cursor become? A list above the input; the focus stays in the input.

import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icon';
import { t } from './words';

export interface Choice {
  value: string;
  label: string;
  detail: string;
  icon: string;
  runsAtOnce?: boolean;
}

interface Props {
  choices: Choice[];
  selected: number;
  onTake: (choice: Choice) => void;
}

export function Completions({ choices, selected, onTake }: Props) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.querySelector('.selected')?.scrollIntoView({ block: 'nearest' }), [selected]);
  return (
    <div class="completions" role="listbox" ref={list} aria-label={t('Completions')}>
      {choices.map((choice, at) => (
        <div
          key={choice.value}
          role="option"
          aria-selected={at === selected}
          class={`completion ${at === selected ? 'selected' : ''}`}
          title={choice.value}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(choice)}
        >
          <Icon name={choice.icon} />
          <span class="completion-name">{choice.label}</span>
          <span class="completion-detail">{choice.detail}</span>
        </div>
      ))}
    </div>
  );
}
