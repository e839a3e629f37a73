// Makes caddie-<version>.vsix: the bundles, the server's wheel, and what the editor shows. Nothing else.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const repository = dirname(dirname(here));
const python = process.env.PYTHON ?? join(repository, '.venv/bin/python');
const { version } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
const out = join(here, `caddie-${version}.vsix`);
const run = (command, args) => execFileSync(command, args, { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] });

for (const old of readdirSync(here).filter((name) => /^caddie-.*\.vsix$/.test(name))) rmSync(join(here, old));
run(process.execPath, ['scripts/build.mjs', '--production']);
mkdirSync(join(here, 'dist/server'), { recursive: true });
const pip = ['-m', 'pip', 'wheel', '--quiet', '--disable-pip-version-check', '--no-deps', '-w', 'dist/server', repository];
run(python, pip);
if (!existsSync(join(here, 'LICENSE'))) copyFileSync(join(repository, 'LICENSE'), join(here, 'LICENSE'));
const vsce = join(here, 'node_modules/@vscode/vsce/vsce');
run(process.execPath, [vsce, 'package', '--no-dependencies', '--allow-missing-repository', '-o', out]);
rmSync(join(here, 'LICENSE'));
console.log(`${out}  ${Math.round(statSync(out).size / 1024)} KB`);
