// What is done to words from strangers before a person sees them? Pure.

import { shortPath, type Root } from './roots';

const ESCAPES = new RegExp(
  [
    '\\x1b\\][^\\x07\\x1b\\n]*(?:\\x07|\\x1b\\\\)', // OSC: titles, links, clipboard
    '\\x1b[PX^_][^\\x1b\\n]*\\x1b\\\\', // DCS, SOS, PM, APC
    '(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]?', // CSI: colours, cursor
    '\\x1b[ -/]*[0-~]?',
  ].join('|'),
  'g',
);
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
// But for tabs, line ends, and what joins letters and chooses between pictures.
const HIDDEN =
  /(?![\t\n\u200c\u200d\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Lines stay lines; what would colour, turn or hide them is gone. */
export function clean(text: string): string {
  return text
    .replace(ESCAPES, '')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(CONTROLS, '');
}

/** For what the person is about to allow: nothing is left out, what would hide or act is shown by name. */
export function reveal(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(HIDDEN, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

export function oneLine(text: string): string {
  return clean(text).replace(/\s+/g, ' ').trim();
}

/** Of a tool's wire name what a person would say: without its server. */
export function bareName(tool: string): string {
  return /^mcp__.+?__(.+)$/.exec(tool)?.[1] ?? tool;
}

/** `text` in at most `width` characters; never half of one. */
export function cap(text: string, width: number): string {
  if (text.length <= width) return text;
  const signs = [...text.slice(0, width * 2 + 2)];
  return signs.length <= width
    ? text
    : signs
        .slice(0, Math.max(width - 1, 0))
        .join('')
        .trimEnd() + '…';
}

/** Nothing, `0.4 s`, `12 s`, `2 min 5 s`. */
export function elapsed(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 0.05) return '';
  return seconds < 10 ? `${seconds.toFixed(1)} s` : wholeSeconds(ms);
}

/** Whole seconds stay whole: what still runs should not flicker. */
export function wholeSeconds(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Tokens as people read them: 950, 1.2k, 61k, 1.4M. */
export function amount(n: number): string {
  for (const [size, unit] of [
    [1_000_000, 'M'],
    [1_000, 'k'],
  ] as const) {
    if (n >= size) return `${(n / size).toFixed(n / size < 20 ? 1 : 0).replace(/\.0$/, '')}${unit}`;
  }
  return String(n);
}

/** An argument of a tool, as text. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, null, typeof value === 'object' ? 1 : 0) ?? String(value);
}

const LONG = 60;
// One of these alone says what a call is about.
const TELLING = ['command', 'path', 'file_path', 'url', 'query', 'pattern'];

/** In a fixed order: short values first, as they are read at a glance. */
export function argumentNames(params: Record<string, unknown>): string[] {
  const isLong = (name: string) => valueText(params[name]).length > LONG;
  return Object.keys(params).sort((a, b) => Number(isLong(a)) - Number(isLong(b)) || (a < b ? -1 : 1));
}

/** `since v2.4`, `limit=10, status=overdue`: enough to tell calls apart on one line. */
export function summary(params: Record<string, unknown>, roots: readonly Root[] = []): string {
  const names = argumentNames(params);
  const telling = names.length === 1 ? names[0] : TELLING.find((name) => params[name] != null);
  const short = (name: string, width: number) => cap(oneLine(shortPath(compact(params[name]), roots)), width);
  if (telling !== undefined) return short(telling, LONG * 2);
  return cap(names.map((name) => `${oneLine(name)}=${short(name, 40)}`).join(', '), LONG * 2);
}

function compact(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, 1000);
  const told = Array.isArray(value) ? value.slice(0, 5).map(firstText) : [];
  if (told.length > 0 && told.every(Boolean)) return told.join(', ');
  return JSON.stringify(value) ?? String(value);
}

/** Of `{question: 'Which?', options: [...]}` what a person would say. */
function firstText(value: unknown): string {
  if (typeof value === 'string') return value;
  const texts = typeof value === 'object' && value ? Object.values(value) : [];
  return texts.find((text): text is string => typeof text === 'string') ?? '';
}

/** The first `most` lines, and how many more there are. */
export function fold(whole: string, most: number, mostChars = 20_000): { shown: string; more: number } {
  const text = whole.trimEnd();
  let at = -1;
  for (let line = 0; line < most; line++) {
    at = text.indexOf('\n', at + 1);
    if (at < 0) break;
  }
  const end = Math.min(at < 0 ? text.length : at, mostChars);
  let more = end < text.length ? 1 : 0;
  for (let i = text.indexOf('\n', end + 1); i >= 0; i = text.indexOf('\n', i + 1)) more++;
  return { shown: text.slice(0, end), more };
}
