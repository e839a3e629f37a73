// Runs the browser tests one file after the other: test-workbench.mjs [PART OF A FILE'S NAME ...]
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';
import { globSync } from './glob.mjs';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const wanted = process.argv.slice(2);
const vsix = process.env.CADDIE_VSIX ?? join(here, readdirSync(here).find((name) => name.endsWith('.vsix')) ?? '');
if (!vsix.endsWith('.vsix')) throw new Error('there is no VSIX: run `make vscode` first');

await esbuild.build({
  absWorkingDir: here,
  entryPoints: globSync(join(here, 'test/host'), '.ts'),
  outdir: '.host',
  bundle: true,
  external: ['vscode', 'mocha'],
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  sourcemap: 'inline',
  logLevel: 'warning',
});

const files = globSync(join(here, 'test/ui'), '.test.mjs').filter(
  (file) => wanted.length === 0 || wanted.some((part) => file.includes(part)),
);
// A browser, an editor and a server on a busy machine: what fails is tried once more, and that is told.
const failed = files.filter((file) => !passes(file));
const again = failed.filter((file) => !passes(file));
for (const file of failed.filter((one) => !again.includes(one))) console.log(`PASSED ONLY AT THE SECOND TRY: ${basename(file)}`);
for (const file of again) console.log(`FAILED TWICE: ${basename(file)}`);
// The chat's page alone, in the same browser: hostile words, long conversations, every key.
const page = wanted.length === 0 ? spawnSync(process.execPath, ['scripts/unit.mjs', 'page'], { stdio: 'inherit', cwd: here }).status : 0;
process.exitCode = again.length > 0 ? 1 : (page ?? 1);

function passes(file) {
  const run = spawnSync(process.execPath, ['--test', '--test-reporter=spec', file], {
    stdio: 'inherit',
    cwd: here,
    env: { ...process.env, CADDIE_VSIX: vsix },
  });
  return run.status === 0;
}
