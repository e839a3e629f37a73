import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Theme } from './themes';
import { launch, Panel } from './browser';
import { BASH, CHANGED, done, EDIT, hint, play, REMINDER, STORY, turn } from './story';

const HINTS = [
  hint('create_credit_note', 0.83, 'Create a credit note for a paid invoice'),
  hint('export_ledger', 0.41, 'Export ledger entries as CSV or JSON'),
];

test('pictures of the panel', async () => {
  const browser = await launch();
  for (const [name, theme, width] of [
    ['dark', 'dark', 420],
    ['light', 'light', 420],
    ['contrast', 'contrast', 420],
    ['narrow', 'dark', 300],
  ] as [string, Theme, number][]) {
    const panel = await Panel.open(browser, { theme, width, height: 900 });
    await panel.start(play(...STORY), {
      ...{ asks: [{ kind: 'permission', ask: REMINDER }], hints: HINTS, picks: [hint('find_invoices', 0.9, 'Find')] },
      ...{ savings: { saved: 41_000, total: 61_000 } },
      chips: [{ id: 'c', kind: 'file', name: 'invoices.py' }],
    });
    await panel.tab.locator('.composer-text').fill('and if it was paid twice, give the money ba');
    await panel.tab.keyboard.press('Tab');
    await panel.picture(`story-${name}`);
    await panel.desk({
      asks: [
        { kind: 'permission', ask: EDIT },
        { kind: 'permission', ask: BASH },
        {
          kind: 'question',
          ask: {
            ...{ requestId: 'q', title: 'Which database?' },
            questions: [
              {
                ...{ id: 'db', question: 'Where should the ledger be kept?', multiple: false, header: 'Storage' },
                options: [{ label: 'SQLite', description: 'One file' }, { label: 'PostgreSQL' }],
              },
            ],
          },
        },
      ],
      queue: [{ id: 'q1', text: 'And then run the tests', picks: [], attachments: [] }],
    });
    await panel.picture(`asks-${name}`);
    const editing = { turnId: 't1', item: 1, files: 3, takeBack: true, missing: ['invoices.py:3-9'], earlier: '' };
    await panel.start(play(...STORY, ...turn([done()], 't1', 99)), { editing, canRedo: true }, '', CHANGED);
    await panel.tab.getByRole('button', { name: 'Changes in src/billing/invoices.py' }).click();
    await panel.tab.locator('.composer-text').fill('Which invoices are overdue?');
    await panel.picture(`review-${name}`);
    assert.deepEqual(panel.troubles, []);
    await panel.close();
  }
  await browser.close();
});
