// Is the page fit for screen readers and for eyes that need contrast? axe-core says, in each theme.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { launch, Panel } from './browser';
import { BASH, call, CHANGED, done, EDIT, hint, play, REMINDER, STORY, turn } from './story';
import type { Theme } from './themes';

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

const AXE = readFileSync(
  createRequire(join(process.env['CADDIE_VSCODE'] ?? '.', 'package.json')).resolve('axe-core'),
  'utf8',
);
/** The page is a part of the workbench, which has the headings and landmarks. */
const RULES = {
  'page-has-heading-one': { enabled: false },
  region: { enabled: false },
  'landmark-one-main': { enabled: false },
};

for (const theme of ['dark', 'light', 'contrast'] as Theme[]) {
  test(`the ${theme} page has no fault that axe knows`, { timeout: 60_000 }, async () => {
    const browser = await launch();
    const panel = await Panel.open(browser, { theme });
    const question = {
      id: 'db',
      question: 'Which?',
      multiple: false,
      options: [{ label: 'SQLite' }, { label: 'PostgreSQL' }],
    };
    await panel.start(
      play(...STORY, ...turn([call('c9', 'failed', { result: 'exited with 1', isError: true })], 't1', 90)),
      {
        asks: [
          { kind: 'permission', ask: REMINDER },
          { kind: 'permission', ask: EDIT },
          { kind: 'permission', ask: BASH },
          { kind: 'question', ask: { requestId: 'q', title: 'Database', questions: [question] } },
        ],
        hints: [
          hint('create_credit_note', 0.83, 'Create a credit note'),
          hint('export_ledger', 0.41, 'Export the ledger'),
        ],
        ...{
          savings: { saved: 41_000, total: 61_000 },
          queue: [{ id: '1', text: 'and then', picks: [], attachments: [] }],
        },
        editing: { turnId: 't1', item: 1, files: 2, takeBack: true, missing: ['a.py:1-3'], earlier: '' },
        canRedo: true,
        chips: [{ id: 'c', kind: 'file', name: 'invoices.py' }],
      },
    );
    await panel.changes(CHANGED);
    await panel.tab.getByRole('button', { name: 'Changes in src/billing/invoices.py' }).click();
    await panel.tab.locator('.composer-text').fill('and if it was paid twice');
    await panel.tab.keyboard.press('Tab');
    for (const row of await panel.tab.locator('.call .row').all()) await row.click();
    await panel.tab.mouse.move(0, 0);
    await panel.tab.evaluate(AXE);
    const faults = (await panel.tab.evaluate(
      (rules) =>
        (window as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } }).axe.run({
          rules,
        }),
      RULES,
    )) as { violations: Violation[] };
    const told = faults.violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary ?? ''}`).join('\n   ')}`,
    );
    assert.deepEqual(told, []);
    await panel.act(...turn([done()], 't1', 99));
    await browser.close();
  });
}
