// In which language does the page speak? English is the key; the extension passes what VS Code has for the rest.

let table: Record<string, string> = {};

export function useWords(words: Record<string, string> | undefined): void {
  table = words ?? {};
}

/** The first argument of `t` is always written out, so that a test can find it in the translations. */
export function t(words: string, ...values: (string | number)[]): string {
  const found = Object.hasOwn(table, words) ? table[words] : undefined; // some words are a stranger's
  return (found ?? words).replace(/\{(\d)\}/g, (all, at: string) => String(values[Number(at)] ?? all));
}

/** Words that are said later with `t`: named here for the same test. */
export function later(words: string): string {
  return words;
}
