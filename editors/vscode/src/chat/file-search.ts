/** Which files does a person mean who types a part of a name or path? Pure. */

/** Globs tell apart upper and lower case; people do not. What is special in a glob is left out. */
function anyCase(word: string): string {
  const letters = [...word.replace(/[[\]{}*?!,\\]/g, '')];
  return `*${letters.map((letter) => (/\p{L}/u.test(letter) ? `[${letter.toLowerCase()}${letter.toUpperCase()}]` : letter)).join('')}`;
}

/** Every file with these letters in its path, folder for folder. */
export function globOf(query: string): string {
  return `**/${query.split('/').map(anyCase).join('*/**/')}*`;
}

/** What to look for in a folder. In a window of several, a path may begin with the folder's name. */
export function globsIn(folder: string, query: string, areSeveral: boolean): string[] {
  const [first = '', ...rest] = query.split('/');
  const isNamed = areSeveral && rest.length > 0 && folder.toLowerCase().includes(first.toLowerCase());
  return isNamed ? [globOf(query), globOf(rest.join('/'))] : [globOf(query)];
}

/** Some of each, so that no folder keeps the others out. */
export function inTurns<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}
