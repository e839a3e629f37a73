/** What is done to words from strangers before a person sees them. Pure. */

// Control characters, C1 controls, and the marks that turn the direction of text round.
const REMOVED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(REMOVED, '').trim();
}

/** In notifications and under inputs the editor takes `[…](command:…)` for a link, and a click for the person's wish. */
export function noLinks(text: string): string {
  return text.replaceAll('](', ']\u200b(');
}

/** What a server wishes to have shown goes to the editor as it is, unless one takes it on its way. */
export function shownWithoutLinks<M extends object>(message: M): M {
  const { method, params } = message as { method?: string; params?: { message?: unknown } };
  const isShown = method === 'window/showMessage' || method === 'window/showMessageRequest';
  if (!isShown || typeof params?.message !== 'string') return message;
  return { ...message, params: { ...params, message: noLinks(params.message) } };
}

export function cap(text: string, length: number): string {
  const letters = [...text];
  return letters.length <= length ? text : `${letters.slice(0, length - 1).join('').trimEnd()}…`;
}

/** 912, 7.9k, 18k */
export function tokens(count: number): string {
  if (count < 1000) return String(Math.round(count));
  return `${(count / 1000).toFixed(count < 9950 ? 1 : 0).replace(/\.0$/, '')}k`;
}
