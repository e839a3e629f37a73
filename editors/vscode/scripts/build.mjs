// Bundles the extension and the webview into dist/. `--watch` keeps doing it, `--production` minifies.
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const production = process.argv.includes('--production');

const common = {
  absWorkingDir: here,
  bundle: true,
  minify: production,
  sourcemap: production ? false : 'linked',
  legalComments: 'none',
  logLevel: 'warning',
};
const extension = {
  ...common,
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: ['vscode'],
};
const webview = {
  ...common,
  entryPoints: ['webview/src/main.tsx'],
  outfile: 'dist/webview/main.js',
  platform: 'browser',
  format: 'iife',
  target: 'chrome128',
  loader: { '.ttf': 'file' },
};

export const targets = [extension, ...(existsSync(join(here, 'webview/src/main.tsx')) ? [webview] : [])];

if (process.argv.includes('--watch')) {
  await Promise.all(targets.map(async (target) => (await esbuild.context(target)).watch()));
} else {
  rmSync(join(here, 'dist'), { recursive: true, force: true });
  await Promise.all(targets.map((target) => esbuild.build(target)));
}
