// Runs the unit tests: bundles test/unit/*.test.ts and webview/**/*.test.ts, then hands them to Node's own runner.
// `node scripts/unit.mjs page [part of a name]` runs webview/**/*.page.ts instead: the built page in a real browser.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { globSync } from './glob.mjs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const [kind = 'test', part = ''] = process.argv.slice(2);
const tests = ['test/unit', 'webview']
  .flatMap((folder) => globSync(join(here, folder), `.${kind}.ts`))
  .filter((file) => file.includes(part));
const out = mkdtempSync(join(here, '.unit-'));
try {
  await esbuild.build({
    absWorkingDir: here,
    entryPoints: tests,
    outdir: out,
    outbase: here,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    sourcemap: 'inline',
    outExtension: { '.js': '.cjs' },
    define: { 'process.env.CADDIE_VSCODE': JSON.stringify(here) },
    logLevel: 'warning',
  });
  const files = globSync(out, '.cjs');
  const run = spawnSync(process.execPath, ['--enable-source-maps', '--test', '--test-concurrency=1', ...files], { stdio: 'inherit', cwd: here });
  process.exitCode = run.status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
