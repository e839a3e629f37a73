// The line under the input: mode, model, what the conversation costs, send or stop.

import { useContext } from 'preact/hooks';
import type { Desk } from './bridge';
import { PageContext } from './context';
import { Icon } from './icon';
import type { Conversation } from './store';
import { amount, oneLine } from './text';
import { t } from './words';

interface Props {
  desk: Desk;
  conversation: Conversation;
  canSend: boolean;
  onSend: () => void;
}

export function Foot({ desk, conversation, canSend, onSend }: Props) {
  const page = useContext(PageContext);
  const isPlan = desk.mode === 'plan';
  const model = oneLine(desk.model) || t('Model');
  const isRunning = conversation.state !== 'idle';
  return (
    <div class="foot">
      <button
        type="button"
        class="icon"
        title={t('Attach files, or type #')}
        aria-label={t('Attach files')}
        onClick={() => page.post({ type: 'attach', what: 'pick' })}
      >
        <Icon name="add" />
      </button>
      <button
        type="button"
        class={`foot-mode ${isPlan ? 'is-plan' : ''}`}
        aria-pressed={isPlan}
        title={isPlan ? t('Plan: reads and plans only. Click for Agent.') : t('Agent: does things. Click for Plan.')}
        onClick={() => page.post({ type: 'mode', mode: isPlan ? 'agent' : 'plan' })}
      >
        {isPlan ? t('Plan') : t('Agent')}
      </button>
      <button
        type="button"
        class="foot-model"
        title={t('Choose the model')}
        onClick={() => page.post({ type: 'pickModel' })}
      >
        <span>{model}</span>
      </button>
      <Cost desk={desk} conversation={conversation} />
      {isRunning && (
        <button
          type="button"
          class="icon stop"
          title={t('Stop (Esc)')}
          aria-label={t('Stop')}
          disabled={conversation.state === 'stopping'}
          onClick={() => page.post({ type: 'stop' })}
        >
          <Icon name="debug-stop" />
        </button>
      )}
      {(!isRunning || canSend) && (
        <button
          type="button"
          class="icon send"
          title={isRunning ? t('Send when the turn is over (Enter)') : t('Send (Enter)')}
          aria-label={t('Send')}
          disabled={!canSend}
          onClick={onSend}
        >
          <Icon name="send" />
        </button>
      )}
    </div>
  );
}

/** Tokens of the last request, how much of them was cached, and what deferring saves in each. */
function Cost({ desk, conversation }: { desk: Desk; conversation: Conversation }) {
  const { usage } = conversation;
  const tokens = usage ? usage.inputTokens + usage.outputTokens : 0;
  const saved = desk.savings?.saved ?? 0;
  if (!tokens && saved <= 0) return <span class="foot-cost" />;
  const cached = usage?.inputTokens ? Math.round((100 * usage.cachedTokens) / usage.inputTokens) : 0;
  const told = [
    usage && t('{0} tokens read, {1} of them from the cache ({2} %)', usage.inputTokens, usage.cachedTokens, cached),
    usage && t('{0} tokens written', usage.outputTokens),
    saved > 0 && t('Deferring tools saves about {0} tokens in each request (estimated)', saved),
  ].filter(Boolean);
  return (
    <span class="foot-cost" tabIndex={0} role="img" title={told.join('\n')} aria-label={told.join('; ')}>
      {tokens > 0 && (
        <>
          <span>{amount(tokens)}</span>
          <svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect class="meter-all" width="100" height="4" />
            <rect class="meter-cached" width={cached} height="4" />
          </svg>
        </>
      )}
      {saved > 0 && <span class="foot-saved">{t('{0} saved', amount(saved))}</span>}
    </span>
  );
}
