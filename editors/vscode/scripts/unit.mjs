// Runs the unit tests: bundles test/unit/*.test.ts and webview/**/*.test.ts, then hands them to Node's own runner.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { globSync } from './glob.mjs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const tests = [...globSync(join(here, 'test/unit'), '.test.ts'), ...globSync(join(here, 'webview'), '.test.ts')];
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
  const run = spawnSync(process.execPath, ['--enable-source-maps', '--test', ...files], { stdio: 'inherit', cwd: here });
  process.exitCode = run.status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
