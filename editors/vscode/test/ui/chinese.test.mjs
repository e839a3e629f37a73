/** The extension in Simplified Chinese: manifest, views and what the code says. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { ACME, FILES, OFFLINE } from '../kit/office.mjs';
import { openWorkbench, sharing } from '../kit/workbench.mjs';

const WAIT = { timeout: 60_000 };
let bench, page;
const { check, state } = sharing(() => bench);

before(async () => {
  bench = await openWorkbench({
    name: 'chinese',
    locale: 'zh-cn',
    settings: { ...OFFLINE, 'caddie.mcp.servers': { acme: ACME } },
    files: FILES,
  });
  page = bench.page;
}, { timeout: 240_000 });
after(() => bench?.close(state.failures > 0), { timeout: 60_000 });

check('the Tools view, its rows and its message are in Chinese', async () => {
  await page.locator('.activitybar').getByRole('tab', { name: 'Caddie' }).click();
  await page.locator('.customview-tree .label-name').getByText('内置', { exact: true }).waitFor({ timeout: 90_000 });
  await page.locator('.customview-tree .monaco-list-row[aria-label*="find_invoices, 延迟"]').waitFor(WAIT);
  assert.match(await page.locator('.tree-explorer-viewlet-tree-view .message').first().innerText(), /更改写入工作区设置/);
  await bench.shot('tools');
});

check('commands and the status bar are in Chinese', async () => {
  await page.locator('.statusbar-item[aria-label*="代理"]').first().click();
  await bench.quickPick('选择提供商和模型').waitFor();
  await bench.shot('menu');
});
