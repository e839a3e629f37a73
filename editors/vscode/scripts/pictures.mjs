// Copies the pictures of the docs from what the browser tests drew (`make test-vscode` first).
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { ARTEFACTS, REPOSITORY } from '../test/kit/paths.mjs';

const PICTURES = {
  'vscode-missing': 'install/missing',
  'vscode-tools': 'tools/states',
  'vscode-waiting': 'prompts/prompt-hidden',
  'vscode-permission': 'prompts/prompt-shown',
  'vscode-folders': 'folders/changes',
  'vscode-review': 'review/lenses',
  'vscode-untrusted': 'trust/untrusted',
};

for (const [name, shot] of Object.entries(PICTURES)) {
  const from = join(ARTEFACTS, `${shot}.png`);
  if (!existsSync(from)) throw new Error(`${from} is not there: run \`make test-vscode\` first`);
  copyFileSync(from, join(REPOSITORY, 'docs/pictures', `${name}.png`));
}
