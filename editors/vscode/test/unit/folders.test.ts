import assert from 'node:assert/strict';
import { test } from 'node:test';
import { globsIn, inTurns } from '../../src/chat/file-search';
import { shownPath } from '../../webview/src/roots';

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

test('files of the same name in two folders are told apart', () => {
  assert.deepEqual(['a.txt', '/x/api/a.txt', '/y/a.txt'].map((path) => shownPath(path, ROOTS)), [
    ...['shop/a.txt', 'api/a.txt', '/y/a.txt'],
  ]);
});
