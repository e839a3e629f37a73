// How is a file called in a window of one folder, and in one of several? The first is the server's workspace.

/** A folder of the window. `name` is empty where there is but one: its files need no telling apart. */
export interface Root {
  path: string;
  name: string;
}

/** A path as one would say it here: without the folder that is open, or with that folder's name in front. */
export function shortPath(path: string, roots: readonly Root[]): string {
  const around = roots.filter((root) => isInside(path, root)).sort((a, b) => b.path.length - a.path.length)[0];
  return around ? named(around, path.slice(around.path.length + 1)) : path;
}

/** The same for what the server tells: relative paths are those of the first folder. */
export function shownPath(path: string, roots: readonly Root[]): string {
  return isAbsolute(path) || !roots[0] ? shortPath(path, roots) : named(roots[0], path);
}

export function isAbsolute(path: string): boolean {
  return /^([\\/]|[a-z]:[\\/])/i.test(path);
}

export function isInside(path: string, { path: root }: Root): boolean {
  return root !== '' && path.startsWith(root) && /[\\/]/.test(path.charAt(root.length));
}

function named({ name }: Root, rest: string): string {
  return name ? `${name}/${rest}` : rest;
}
