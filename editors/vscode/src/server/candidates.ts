/** Which command runs the server? The nearest wish wins: setting, PATH, Python extension, Caddie's own environment. Pure. */

export type Origin = 'setting' | 'path' | 'python' | 'private';

export interface Candidate {
  readonly origin: Origin;
  readonly command: string;
  readonly args: readonly string[];
}

export interface Found {
  /** The setting `caddie.server.command`. */
  readonly configured: readonly string[];
  readonly onPath?: string;
  /** An interpreter that has the package. */
  readonly python?: string;
  readonly privateEnvironment?: string;
}

const SERVE = 'serve';
// -P: a folder named like our package in the workspace must not be run instead of it.
const MODULE = ['-P', '-m', 'caddie', SERVE];

/** Before `-m venv` and the like: the folder we were started from may have a module of that name. */
export const ISOLATED = '-I';

export function choose(found: Found): Candidate | undefined {
  const [command, ...args] = found.configured;
  if (command) return { origin: 'setting', command, args: args.includes(SERVE) ? args : [...args, SERVE] };
  if (found.onPath) return { origin: 'path', command: found.onPath, args: [SERVE] };
  if (found.python) return { origin: 'python', command: found.python, args: MODULE };
  if (found.privateEnvironment) return { origin: 'private', command: found.privateEnvironment, args: MODULE };
  return undefined;
}

/** The settings' value, whatever a person wrote there. */
export function asCommand(value: unknown): string[] {
  if (typeof value === 'string') return value.trim() ? [value.trim()] : [];
  if (!Array.isArray(value)) return [];
  return value.filter((part): part is string => typeof part === 'string' && part.trim() !== '');
}

/** Files named so in the absolute folders of PATH; a relative folder would be the workspace's. */
export function pathFiles(name: string, environ: NodeJS.ProcessEnv, platform: NodeJS.Platform): string[] {
  const [separator, slash] = platform === 'win32' ? [';', '\\'] : [':', '/'];
  const isWhole = platform !== 'win32' || /\.(exe|cmd|bat|com)$/i.test(name);
  const names = isWhole ? [name] : [`${name}.exe`, `${name}.cmd`, `${name}.bat`];
  const key = Object.keys(environ).find((one) => one.toUpperCase() === 'PATH') ?? 'PATH';
  const folders = (environ[key] ?? '').split(separator).filter((folder) => isAbsolute(folder, platform));
  return folders.flatMap((folder) => names.map((one) => `${folder.replace(/[\\/]+$/, '')}${slash}${one}`));
}

function isAbsolute(folder: string, platform: NodeJS.Platform): boolean {
  return platform === 'win32' ? /^([a-z]:[\\/]|\\\\)/i.test(folder) : folder.startsWith('/');
}

/** 3.11 and newer, as the package wants it; the answer of `sys.version_info[:2]` joined by a dot. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.trim().split('.').map(Number);
  return major === 3 && minor >= 11 && minor < 14;
}
