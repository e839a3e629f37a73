import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = process.env.CADDIE_VSCODE as string;
const text = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8');
const json = (...path: string[]) => JSON.parse(text(...path)) as Record<string, unknown>;

interface Item {
  command: string;
  when?: string;
}
interface Manifest {
  version: string;
  contributes: {
    commands: { command: string; title: string }[];
    menus: Record<string, Item[]>;
    keybindings: Item[];
    views: Record<string, { id: string }[]>;
    walkthroughs: { steps: { media: { markdown: string } }[] }[];
  };
}
const manifest = json('package.json') as unknown as Manifest;
const commands = manifest.contributes.commands.map((one) => one.command);
const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => text('src', path));
const code = sources.join('\n');
const pageCode = readdirSync(join(ROOT, 'webview/src'), { encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => text('webview/src', path))
  .join('\n');

test('every menu and key leads to a command that is there', () => {
  const used = [...Object.values(manifest.contributes.menus).flat(), ...manifest.contributes.keybindings];
  const ours = used.map((item) => item.command).filter((command) => command !== 'list.select');
  const unknown = ours.filter((command) => !commands.includes(command));
  assert.deepEqual(unknown, []);
});

test('every key that is not a chord of its own waits for its view', () => {
  const bare = manifest.contributes.keybindings.filter((key) => !key.when);
  assert.deepEqual(bare.map((key) => key.command), ['caddie.chat.open']);
});

test('every command is made somewhere', () => {
  const words = new Set(code.match(/[\w.]+/g));
  const missing = commands.filter((command) => {
    const [, noun = '', verb = noun] = command.split('.');
    return !words.has(command) && !words.has(command.replace('caddie.', '')) && !words.has(verb);
  });
  assert.deepEqual(missing, []);
});

test('every word of the manifest is there in English and in Chinese', () => {
  const used = [...text('package.json').matchAll(/%([^%\s"]+)%/g)].map((found) => found[1] as string);
  for (const file of ['package.nls.json', 'package.nls.zh-cn.json']) {
    const words = json(file);
    assert.deepEqual(used.filter((key) => !(key in words)), [], file);
  }
  const [english, chinese] = [json('package.nls.json'), json('package.nls.zh-cn.json')];
  assert.deepEqual(Object.keys(english), Object.keys(chinese));
});

test('every text in the code has its Chinese, and no Chinese is left over', () => {
  const said = new Set<string>();
  for (const found of code.matchAll(/\bl10n\.t\(\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")/g)) said.add(unquote(found[1] as string));
  for (const found of text('src', 'status-text.ts').matchAll(/\bt\(('(?:[^'\\]|\\.)*')/g)) said.add(unquote(found[1] as string));
  for (const found of pageCode.matchAll(/\b(?:t|later)\(\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")/g)) said.add(unquote(found[1] as string));
  const bundle = json('l10n', 'bundle.l10n.zh-cn.json') as Record<string, string>;
  assert.deepEqual([...said].filter((words) => !(words in bundle)), [], 'not translated');
  assert.deepEqual(Object.keys(bundle).filter((words) => !said.has(words)), [], 'nobody says this');
  const places = (words: string) => (words.match(/\{\d\}/g) ?? []).sort().join();
  assert.deepEqual(Object.entries(bundle).filter(([words, chinese]) => places(words) !== places(chinese)), []);
});

function unquote(literal: string): string {
  return literal.slice(1, -1).replace(/\\(.)/g, '$1');
}

test('the pages of the walkthrough are there', () => {
  const steps = manifest.contributes.walkthroughs.flatMap((one) => one.steps);
  for (const step of steps) assert.ok(text(step.media.markdown).length > 50);
});

test('the extension has the version of the server that it ships', () => {
  const server = readFileSync(join(ROOT, '../../server/caddie/__init__.py'), 'utf8');
  assert.equal(/__version__ = "(.+)"/.exec(server)?.[1], manifest.version);
});

test('what could run, allow or send something counts only in a trusted folder', () => {
  const { capabilities } = json('package.json') as { capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } } };
  const restricted = new Set(capabilities.untrustedWorkspaces.restrictedConfigurations);
  for (const key of ['mcp.servers', 'permissions.readOnly', 'permissions.mode', 'sandbox.mode', 'sandbox.network', 'sandbox.writable'])
    assert.ok(restricted.has(`caddie.${key}`), key);
});
