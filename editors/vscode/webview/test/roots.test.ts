import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortPath, shownPath } from '../src/roots';

const ALONE = [{ path: '/x/shop', name: '' }];
const SEVERAL = [
  { path: '/x/shop', name: 'shop' },
  { path: '/x/api', name: 'api' },
  { path: '/x/shop/lib', name: 'lib' },
];

test('in a window of one folder a path begins there', () => {
  assert.equal(shortPath('/x/shop/src/a.py', ALONE), 'src/a.py');
  assert.equal(shortPath('/x/shop', ALONE), '/x/shop');
  assert.equal(shownPath('src/a.py', ALONE), 'src/a.py');
  assert.equal(shownPath('/y/a.py', ALONE), '/y/a.py');
  assert.equal(shownPath('a.py', []), 'a.py');
});

test('in a window of several folders each path names its own, the innermost', () => {
  assert.equal(shortPath('/x/api/a.py', SEVERAL), 'api/a.py');
  assert.equal(shortPath('/x/apis/a.py', SEVERAL), '/x/apis/a.py');
  assert.equal(shortPath('/x/shop/lib/a.py', SEVERAL), 'lib/a.py');
  assert.equal(shownPath('api/a.py', SEVERAL), 'shop/api/a.py');
  assert.equal(shownPath('/x/api/a.py', SEVERAL), 'api/a.py');
  assert.equal(shownPath('C:\\x\\api\\a.py', [{ path: 'C:\\x\\api', name: 'api' }]), 'api/a.py');
});
