/** What does the status bar item say? Pure. */
import { cap, oneLine } from './text';

export interface StatusFacts {
  readonly server: 'stopped' | 'starting' | 'ready' | 'failed';
  readonly problem: string;
  readonly model: string;
  readonly mode: 'agent' | 'plan';
  readonly isBusy: boolean;
  readonly pending: number;
  /** MCP servers that failed or want a sign-in. */
  readonly troubled: readonly string[];
  readonly isTrusted: boolean;
}

export interface StatusShown {
  readonly text: string;
  readonly tooltip: string;
  /** Read aloud. */
  readonly label: string;
  readonly background?: 'statusBarItem.warningBackground' | 'statusBarItem.errorBackground';
}

export type Translate = (text: string, ...args: (string | number)[]) => string;

export function statusOf(facts: StatusFacts, t: Translate): StatusShown {
  if (facts.server === 'failed') {
    const why = facts.problem || t('Caddie’s server does not run.');
    return { text: '$(error) Caddie', tooltip: why, label: why, background: 'statusBarItem.errorBackground' };
  }
  if (facts.server !== 'ready') {
    const word = facts.server === 'starting' ? t('starting …') : t('stopped');
    const label = `Caddie: ${word}`;
    return { text: `$(tools) Caddie ${word}`, tooltip: facts.problem || label, label };
  }
  const model = cap(oneLine(facts.model), 40) || 'Caddie';
  const mode = facts.mode === 'plan' ? t('plan') : t('agent');
  const waits = facts.pending ? t('{0} waiting for you', facts.pending) : '';
  const trouble = facts.troubled.length ? t('MCP servers in trouble: {0}', names(facts.troubled)) : '';
  const lines = [
    `${model} · ${mode}`,
    facts.isBusy ? t('A turn is running.') : '',
    waits,
    trouble,
    facts.isTrusted ? '' : t('This folder is not trusted.'),
  ];
  const icons = [
    facts.pending ? ` $(bell-dot) ${facts.pending}` : '',
    trouble ? ` $(warning) ${facts.troubled.length}` : '',
  ];
  return {
    text: `${facts.isTrusted ? '$(tools)' : '$(workspace-untrusted)'} ${model} · ${mode}${icons.join('')}`,
    tooltip: lines.filter(Boolean).join('\n'),
    label: ['Caddie', ...lines].filter(Boolean).join(', '),
    background: facts.pending ? 'statusBarItem.warningBackground' : undefined,
  };
}

function names(servers: readonly string[]): string {
  return cap(servers.map(oneLine).join(', '), 100);
}
