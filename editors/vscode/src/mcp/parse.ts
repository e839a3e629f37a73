/** What a person types into the form, taken apart. Pure; no shell is involved, then or later. */

/** Words, with quotes around those that have spaces; undefined when a quote is open or nothing is there. */
export function splitCommand(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (const letter of line) {
    if (quote) {
      if (letter === quote) quote = '';
      else word = (word ?? '') + letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= '';
    } else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + letter;
    }
  }
  if (word !== undefined) words.push(word);
  return quote || !words[0] ? undefined : words;
}

/** `A=1 B="two words"`; empty text is no pairs, anything else undefined. */
export function pairs(text: string): Record<string, string> | undefined {
  if (!text.trim()) return {};
  const words = splitCommand(text);
  if (!words) return undefined;
  const found: Record<string, string> = {};
  for (const word of words) {
    const at = word.indexOf('=');
    const name = word.slice(0, at);
    if (at < 1 || !/^[A-Za-z][\w-]*$/.test(name)) return undefined;
    found[name] = word.slice(at + 1);
  }
  return found;
}
