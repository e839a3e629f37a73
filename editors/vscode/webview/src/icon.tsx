// One of VS Code's own icons. What it means stands beside it or in the label of what holds it.
import '@vscode/codicons/dist/codicon.css';

export function Icon({ name, spin = false, class: more = '' }: { name: string; spin?: boolean; class?: string }) {
  return <span class={`codicon codicon-${name} ${spin ? 'spin' : ''} ${more}`.trimEnd()} aria-hidden="true" />;
}
