// The page in a real browser, with an extension that only plays back and writes down.

import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import esbuild from 'esbuild';
import { chromium, type Browser, type Page as Tab } from 'playwright-core';
import { pageHtml } from '../../src/chat/html';
import type { FileChanges } from '../../src/protocol';
import type { Desk, Saved, ToHost, ToPage } from '../src/bridge';
import { newConversation, type Action, type Conversation } from '../src/store';
import { DESK } from './story';
import { themed, type Theme } from './themes';

const SOURCE = join(process.env['CADDIE_VSCODE'] ?? '.', 'webview', 'src', 'main.tsx');
const ORIGIN = 'https://page.test';

let built: Promise<Map<string, Uint8Array>> | undefined;

/** The page as it is now, whatever stands in `dist`. */
async function build(): Promise<Map<string, Uint8Array>> {
  const options = { bundle: true, write: false, outdir: '/out', platform: 'browser', format: 'iife' } as const;
  const { outputFiles } = await esbuild.build({ ...options, entryPoints: [SOURCE], loader: { '.ttf': 'file' } });
  return new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
}

export async function launch(): Promise<Browser> {
  built ??= build();
  await built;
  const known = [
    process.env['CADDIE_CHROMIUM'] ?? '',
    ...['chromium', 'chromium-browser', 'google-chrome'].map((name) => `/usr/bin/${name}`),
  ];
  const executablePath = known.find((path) => existsSync(path));
  if (!executablePath) throw new Error('no Chromium found; install it or set CADDIE_CHROMIUM');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--no-first-run'] });
}

export interface Options {
  theme?: Theme;
  width?: number;
  height?: number;
  saved?: Saved;
  words?: Record<string, string>;
}

/** The page and the other end of its bridge. */
export class Panel {
  readonly requests: string[] = [];
  readonly troubles: string[] = [];

  private constructor(readonly tab: Tab) {}

  static async open(browser: Browser, options: Options = {}): Promise<Panel> {
    const { width = 420, height = 760, theme = 'dark' } = options;
    const context = await browser.newContext({ viewport: { width, height }, reducedMotion: 'reduce' });
    const panel = new Panel(await context.newPage());
    const { style, body } = themed(theme);
    panel.tab.on('console', (message) => {
      if (message.type() === 'error') panel.troubles.push(message.text());
    });
    panel.tab.on('pageerror', (error) => panel.troubles.push(String(error)));
    panel.tab.on('dialog', (dialog) => {
      panel.troubles.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    const html = pageHtml({
      ...{ script: `${ORIGIN}/main.js`, style: `${ORIGIN}/main.css`, source: ORIGIN, nonce: 'n0nce' },
      ...{ language: 'en', words: options.words },
    });
    await context.route('**/*', async (route) => {
      const url = route.request().url();
      if (!url.startsWith(`${ORIGIN}/`)) {
        panel.requests.push(url);
        return route.abort();
      }
      const name = new URL(url).pathname.slice(1);
      if (name === '') return route.fulfill({ contentType: 'text/html', body: html });
      const types: Record<string, string> = { js: 'text/javascript', css: 'text/css', ttf: 'font/ttf' };
      const kind = types[name.split('.').at(-1) ?? ''];
      const found = kind && (await built)?.get(name);
      return found ? route.fulfill({ contentType: kind, body: Buffer.from(found) }) : route.fulfill({ status: 404 });
    });
    await panel.tab.addInitScript(
      ({ style, body, saved }) => {
        const kept = { state: saved, sent: [] as unknown[] };
        const api = {
          postMessage: (message: unknown) => void kept.sent.push(message),
          getState: () => kept.state,
          setState: (state: typeof saved) => (kept.state = state),
        };
        Object.assign(window, { kept, acquireVsCodeApi: () => api });
        new MutationObserver((_, observer) => {
          if (!document.body) return;
          observer.disconnect();
          document.body.className = body;
          const sheet = new CSSStyleSheet();
          sheet.replaceSync(style);
          document.adoptedStyleSheets = [sheet];
        }).observe(document, { childList: true, subtree: true });
      },
      { style, body, saved: options.saved },
    );
    await panel.tab.goto(`${ORIGIN}/`);
    await panel.tab.locator('.composer-text').waitFor();
    return panel;
  }

  async start(
    conversation: Conversation = newConversation(),
    desk: Partial<Desk> = {},
    draft = '',
    changes: FileChanges[] = [],
  ): Promise<void> {
    await this.tell({
      type: 'start',
      conversation,
      desk: { ...DESK, ...desk },
      changes,
      draft,
      now: Date.now(),
    });
  }

  async tell(...messages: ToPage[]): Promise<void> {
    await this.tab.evaluate((all) => {
      for (const message of all) window.postMessage(message, '*');
      return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    }, messages);
  }

  async act(...actions: Action[]): Promise<void> {
    await this.tell({ type: 'actions', actions });
  }

  async desk(desk: Partial<Desk>): Promise<void> {
    await this.tell({ type: 'desk', desk: { ...DESK, ...desk } });
  }

  async changes(files: FileChanges[]): Promise<void> {
    await this.tell({ type: 'changes', files });
  }

  /** What the page said to the extension, of one kind. */
  async sent<Kind extends ToHost['type']>(type: Kind): Promise<Extract<ToHost, { type: Kind }>[]> {
    const all = await this.tab.evaluate(() => (window as unknown as { kept: { sent: ToHost[] } }).kept.sent);
    return all.filter((message): message is Extract<ToHost, { type: Kind }> => message.type === type);
  }

  async saved(): Promise<Saved | undefined> {
    return this.tab.evaluate(() => (window as unknown as { kept: { state?: Saved } }).kept.state);
  }

  async focused(): Promise<string> {
    return this.tab.evaluate(() => document.activeElement?.className ?? '');
  }

  async picture(name: string): Promise<void> {
    const folder = process.env['PICTURES'];
    if (folder) await this.tab.screenshot({ path: join(folder, `${name}.png`) });
  }

  async close(): Promise<void> {
    await this.tab.context().close();
  }
}
