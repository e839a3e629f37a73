import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Changes } from '../../src/chat/changes';
import { globsIn, inTurns } from '../../src/chat/file-search';

const ROOTS = [
  { path: '/x/shop', name: 'shop' },
  { path: '/x/api', name: 'api' },
];

test('a file is searched in every folder, and without the name of its own folder in front', () => {
  assert.deepEqual(globsIn('api', 'a', false), ['**/*[aA]*']);
  assert.deepEqual(globsIn('api', 'src/a', true), ['**/*[sS][rR][cC]*/**/*[aA]*']);
  assert.deepEqual(globsIn('api', 'AP/a', true), ['**/*[aA][pP]*/**/*[aA]*', '**/*[aA]*']);
  assert.deepEqual(globsIn('api', 'api/a', false), ['**/*[aA][pP][iI]*/**/*[aA]*']);
  assert.deepEqual(globsIn('api', 'a{*}b', true), ['**/*[aA][bB]*']);
});

test('no folder keeps the files of others out', () => {
  assert.deepEqual(inTurns([['a1', 'a2', 'a3'], [], ['c1']]), ['a1', 'c1', 'a2', 'a3']);
  assert.deepEqual(inTurns([]), []);
});

test('files of the same name in two folders are told apart, with the lines of each', () => {
  const changes = new Changes(() => ROOTS);
  const preview = (path: string, unified: string) => ({ kind: 'diff' as const, path, before: path, after: '', unified });
  changes.previewed(preview('/x/api/a.txt', '+1\n+2'));
  changes.previewed(preview('/x/shop/src/a.txt', '-1'));
  changes.previewed(preview('/x/shop/a.txt', '+1'));
  changes.turnChanged('t1', ['a.txt', '/x/api/a.txt']);
  assert.deepEqual(
    changes.list().map(({ path, shown, added, removed }) => ({ path, shown, added, removed })),
    [
      { path: 'a.txt', shown: 'shop/a.txt', added: 1, removed: 0 },
      { path: '/x/api/a.txt', shown: 'api/a.txt', added: 2, removed: 0 },
    ],
  );
  assert.equal(changes.before('a.txt'), '/x/shop/a.txt');
  assert.equal(changes.before('/x/api/a.txt'), '/x/api/a.txt');
});
