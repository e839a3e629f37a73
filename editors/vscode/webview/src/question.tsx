// A question or a form for the person: all questions at once, answered by keyboard or mouse, or declined.

import { useContext, useRef, useState } from 'preact/hooks';
import type { Question, QuestionAsk } from '../../src/protocol';
import { PageContext } from './context';
import { clean, oneLine } from './text';
import { t } from './words';

type Answers = Record<string, { chosen: string[]; own: string }>;

export function QuestionCard({ ask }: { ask: QuestionAsk }) {
  const page = useContext(PageContext);
  const card = useRef<HTMLFormElement>(null);
  const [answers, setAnswers] = useState<Answers>({});
  const [done, setDone] = useState(false);
  const answerOf = (id: string) => answers[id] ?? { chosen: [], own: '' };
  const isWhole = ask.questions.every(({ id }) => answerOf(id).chosen.length > 0 || answerOf(id).own.trim());

  const leave = (given?: Record<string, string>) => {
    if (done) return;
    setDone(true);
    if (card.current?.contains(document.activeElement)) page.composer?.focus();
    page.post({ type: 'question', requestId: ask.requestId, ...(given ? { answers: given } : {}) });
  };
  const send = () => {
    if (!isWhole) return;
    leave(Object.fromEntries(ask.questions.map(({ id }) => [id, wordsOf(answerOf(id))])));
  };
  const toggle = (question: Question, label: string) => {
    const { chosen, own } = answerOf(question.id);
    const rest = chosen.filter((one) => one !== label);
    const next = question.multiple ? (rest.length < chosen.length ? rest : [...chosen, label]) : [label];
    setAnswers({ ...answers, [question.id]: { chosen: next, own: question.multiple ? own : '' } });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const question = ask.questions.find(({ id }) => !wordsOf(answerOf(id))) ?? ask.questions[0];
    const option = question?.options[Number(event.key) - 1];
    if (event.target !== card.current || !question || !option) return;
    event.preventDefault();
    toggle(question, option.label);
  };

  return (
    <form
      class="ask question"
      ref={card}
      tabIndex={0}
      aria-label={oneLine(ask.title)}
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div class="ask-title">
        <strong>{oneLine(ask.title)}</strong>
      </div>
      {ask.questions.map((question) => (
        <fieldset key={question.id} disabled={done}>
          <legend>
            {question.header && <span class="question-header">{oneLine(question.header)}</span>}
            {clean(question.question)}
          </legend>
          {question.options.map((option, at) => (
            <label class="option" key={option.label}>
              <input
                type={question.multiple ? 'checkbox' : 'radio'}
                name={`${ask.requestId}-${question.id}`}
                checked={answerOf(question.id).chosen.includes(option.label)}
                onChange={() => toggle(question, option.label)}
              />
              <span>
                {at < 9 && <span class="option-key">{at + 1}</span>} {oneLine(option.label)}
                {option.description && <span class="option-why">{oneLine(option.description)}</span>}
              </span>
            </label>
          ))}
          <input
            type="text"
            class="own"
            aria-label={t('Your own answer')}
            placeholder={question.options.length > 0 ? t('Your own answer') : t('Your answer')}
            value={answerOf(question.id).own}
            onInput={(event) => {
              const { chosen } = answerOf(question.id);
              const own = event.currentTarget.value;
              const kept = question.multiple || !own ? chosen : [];
              setAnswers({ ...answers, [question.id]: { chosen: kept, own } });
            }}
          />
        </fieldset>
      ))}
      <div class="ask-choices">
        <button type="submit" class="primary" disabled={!isWhole || done}>
          {t('Answer')}
        </button>
        <button type="button" class="secondary" disabled={done} onClick={() => leave()}>
          {t('Decline')}
        </button>
      </div>
    </form>
  );
}

function wordsOf({ chosen, own }: { chosen: string[]; own: string }): string {
  return [...chosen, own.trim()].filter(Boolean).join(', ');
}
