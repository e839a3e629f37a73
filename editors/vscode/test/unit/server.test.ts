import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Backoff } from '../../src/server/backoff';
import { asCommand, choose, ISOLATED, isNewEnough, pathFiles } from '../../src/server/candidates';
import { reasonOfDeath } from '../../src/server/death';

test('the nearest wish for a server wins: setting, PATH, Python extension, own environment', () => {
  const all = { configured: ['/opt/caddie'], onPath: '/bin/caddie', python: '/venv/python', privateEnvironment: '/own/python' };
  assert.deepEqual(choose(all), { origin: 'setting', command: '/opt/caddie', args: ['serve'] });
  assert.deepEqual(choose({ ...all, configured: [] }), { origin: 'path', command: '/bin/caddie', args: ['serve'] });
  const python = choose({ configured: [], python: '/venv/python', privateEnvironment: '/own/python' });
  assert.deepEqual(python, { origin: 'python', command: '/venv/python', args: ['-P', '-m', 'caddie', 'serve'] });
  assert.equal(choose({ configured: [], privateEnvironment: '/own/python' })?.origin, 'private');
  assert.equal(choose({ configured: [] }), undefined);
});

test('a configured command gets `serve` once', () => {
  assert.deepEqual(choose({ configured: ['python3', '-m', 'caddie'] })?.args, ['-m', 'caddie', 'serve']);
  assert.deepEqual(choose({ configured: ['caddie', 'serve', '--verbose'] })?.args, ['serve', '--verbose']);
});

test('whatever stands in the setting, a command comes out or nothing', () => {
  assert.deepEqual(asCommand(' /usr/bin/caddie '), ['/usr/bin/caddie']);
  assert.deepEqual(asCommand(['caddie', 7, '']), ['caddie']);
  for (const wrong of [undefined, null, 7, {}, '', '  ', []]) assert.deepEqual(asCommand(wrong), []);
});

test('only absolute folders of PATH are looked into, so that no folder can offer its own server', () => {
  const files = pathFiles('caddie', { PATH: '/usr/bin:.:bin::/opt/x/' }, 'linux');
  assert.deepEqual(files, ['/usr/bin/caddie', '/opt/x/caddie']);
  const windows = pathFiles('caddie', { Path: 'C:\\Tools;.;relative' }, 'win32');
  assert.deepEqual(windows, ['C:\\Tools\\caddie.exe', 'C:\\Tools\\caddie.cmd', 'C:\\Tools\\caddie.bat']);
  assert.deepEqual(pathFiles('caddie.exe', { Path: 'C:\\Tools' }, 'win32'), ['C:\\Tools\\caddie.exe']);
  assert.deepEqual(pathFiles('caddie', {}, 'linux'), []);
});

test('no folder that we were started from can put its own module in the place of Python’s', () => {
  const folder = mkdtempSync(join(tmpdir(), 'caddie-'));
  writeFileSync(join(folder, 'venv.py'), 'print("of the folder")');
  const told = (...args: string[]) => execFileSync('python3', [...args, '-m', 'venv', '--help'], { cwd: folder, encoding: 'utf8' });
  assert.match(told(), /of the folder/);
  assert.match(told(ISOLATED), /usage: venv/);
  rmSync(folder, { recursive: true });
});

test('Python 3.11 to 3.13 will do', () => {
  assert.deepEqual(['3.10', '3.11', '3.13\n', '3.14', '2.7', '', 'nonsense'].filter(isNewEnough), ['3.11', '3.13\n']);
});

test('how a server ended is told in one line, with the last thing it said', () => {
  const traceback = 'Traceback (most recent call last):\n  File "x.py"\nModuleNotFoundError: No module named pygls\n\n';
  assert.equal(reasonOfDeath(1, null, traceback), 'exited with 1: ModuleNotFoundError: No module named pygls');
  assert.equal(reasonOfDeath(null, 'SIGKILL', ''), 'was ended by SIGKILL');
  assert.ok(reasonOfDeath(1, null, 'x'.repeat(9000)).length < 400);
});

test('a server that keeps dying is started later and later, then no more', () => {
  let now = 0;
  const backoff = new Backoff(() => now);
  backoff.started();
  const waits = [1, 2, 3, 4, 5].map(() => backoff.next());
  assert.deepEqual(waits, [250, 1000, 4000, 15000, undefined]);
  assert.equal(backoff.tries, 4);
  now = 1;
  backoff.reset();
  assert.equal(backoff.next(), 250);
});

test('a server that ran well for a while starts again at once when it dies', () => {
  let now = 1;
  const backoff = new Backoff(() => now);
  backoff.started();
  backoff.next();
  backoff.next();
  backoff.started();
  now += 120_000;
  assert.equal(backoff.next(), 250);
});
