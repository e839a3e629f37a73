// Which addresses in a model's words may be opened? Pure; the page asks before it draws, the extension before it opens.

export type Link = { kind: 'web'; href: string } | { kind: 'file'; path: string; line?: number };

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

const SKIPPED = /[\u0000-\u0020\u00a0\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function hides(address: string): boolean {
  return address.replace(SKIPPED, '') !== address.replace(/ /g, '');
}

/** Nothing for `javascript:`, `command:`, `data:` and all else that acts instead of showing. */
export function linkOf(href: string): Link | undefined {
  const address = href.trim();
  if (hides(address)) return undefined;
  if (/^https?:\/\/[^/]/i.test(address)) return webLink(address);
  if (/^file:\/\/\//i.test(address)) return fileLink(decoded(address.slice('file://'.length)));
  if (isWindowsPath(address)) return fileLink(address);
  if (SCHEME.test(address) && !/^[^:/\\]+\.[a-z0-9]+:\d+/i.test(address)) return undefined;
  if (address === '' || address.startsWith('#')) return undefined;
  return fileLink(decoded(address));
}

function webLink(address: string): Link | undefined {
  try {
    const url = new URL(address);
    return url.username || url.password ? undefined : { kind: 'web', href: url.href };
  } catch {
    return undefined;
  }
}

function isWindowsPath(address: string): boolean {
  return /^[a-z]:[\\/]/i.test(address);
}

/** `src/a.ts:12`, `src/a.ts#L12`. */
function fileLink(address: string): Link | undefined {
  // Two slashes name another computer, which is asked as soon as one looks.
  if (/^[\\/]{2}/.test(address) || hides(address)) return undefined;
  const found = /^(.+?)(?:#L(\d+)(?:-L?\d+)?|:(\d+)(?:[:-]\d+)?)?$/.exec(address);
  if (!found) return undefined;
  const [, path = '', hash, colon] = found;
  const line = Number(hash ?? colon ?? 0);
  return { kind: 'file', path: path.split(/[?#]/, 1)[0]!, ...(line ? { line } : {}) };
}

function decoded(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}
