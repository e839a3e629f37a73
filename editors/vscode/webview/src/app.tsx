// The whole page, drawn anew when something changed; what did not change costs a comparison.

import { useEffect, useState } from 'preact/hooks';
import { Asks } from './asks';
import { Changes } from './changes';
import { Composer } from './composer';
import { PageContext } from './context';
import type { Desk } from './bridge';
import type { Page } from './page';
import { Status } from './status';
import { oneLine } from './text';
import { Transcript } from './transcript';
import { t } from './words';

export function App({ page }: { page: Page }) {
  const [, draw] = useState(0);
  useEffect(() => page.onDraw(() => draw((n) => n + 1)), [page]);
  const { conversation, desk } = page;
  // The input has more uses for it, and other fields keep what is written in them.
  const onKeyDown = (event: KeyboardEvent) => {
    const isWriting = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement;
    if (event.key !== 'Escape' || isWriting || event.defaultPrevented || conversation.state === 'idle') return;
    event.preventDefault();
    page.post({ type: 'stop' });
  };
  const isEmpty = page.started && conversation.items.length === 0 && desk.asks.length === 0;
  return (
    <PageContext.Provider value={page}>
      <main class="panel" onKeyDown={onKeyDown}>
        <Transcript key={String(page.started)} conversation={conversation}>
          {isEmpty && <Welcome />}
          <Asks asks={desk.asks} />
        </Transcript>
        <div class="below">
          <Changes files={page.changes} desk={desk} isRunning={conversation.state !== 'idle'} />
          <Status desk={desk} conversation={conversation} />
          <Composer desk={desk} conversation={conversation} />
        </div>
        <div class="hidden" aria-live="polite">
          {announced(desk)}
        </div>
        <div class="hidden" aria-live="polite">
          {page.said}
        </div>
      </main>
    </PageContext.Provider>
  );
}

function Welcome() {
  return (
    <div class="welcome">
      <h2>Caddie</h2>
      <p>{t('Ask about this folder, or have something done. Caddie asks before it changes anything.')}</p>
      <ul>
        <li>{t('# attaches a file, @ names a server, / shows the commands')}</li>
        <li>{t('Tab chooses a tool that fits what you type')}</li>
        <li>{t('Enter sends, Shift+Enter begins a new line, Esc stops')}</li>
      </ul>
    </div>
  );
}

/** What a screen reader should hear of by itself, in one short sentence. */
function announced(desk: Desk): string {
  const [first] = desk.asks;
  if (first) return t('Caddie waits for you: {0}', oneLine('label' in first.ask ? first.ask.label : first.ask.title));
  const names = desk.hints.map(({ label }) => oneLine(label));
  return names.length > 0 ? t('Tools that fit: {0}. Tab chooses.', names.join(', ')) : '';
}
