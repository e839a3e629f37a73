/** The chat panel as a person uses it. */
import { readFileSync } from 'node:fs';
import { until } from './workbench.mjs';

export class ChatPage {
  /** @param {import('./workbench.mjs').Workbench} bench */
  constructor(bench, selector = '.part.auxiliarybar') {
    this.bench = bench;
    this.page = bench.page;
    // One webview of the workbench is ours; its frame is laid over the part that it belongs to.
    this.frame = bench.page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
    this.selector = selector;
  }

  async open() {
    await this.bench.command('Caddie: Open Chat');
    await this.input.waitFor({ timeout: 60_000 });
  }

  get input() {
    return this.frame.locator('.composer-text');
  }

  get card() {
    return this.frame.locator('.ask').first();
  }

  button(name) {
    return this.frame.getByRole('button', { name, exact: true });
  }

  async type(text) {
    await this.input.click();
    await this.page.keyboard.type(text);
  }

  async send(text) {
    await this.type(text);
    await this.page.keyboard.press('Escape'); // no hint takes the Enter
    await this.page.keyboard.press('Enter');
  }

  text() {
    return this.frame.locator('.transcript').innerText();
  }

  /** The conversation, once it says so. */
  async says(words, timeout = 60_000) {
    const fits = words instanceof RegExp ? (text) => words.test(text) : (text) => text.includes(words);
    return until(`the chat says ${words}`, async () => {
      const text = await this.text();
      return fits(text) ? text : undefined;
    }, timeout);
  }

  async isIdle() {
    await until('the turn is over', async () => (await this.frame.locator('.status').count()) === 0, 60_000);
  }
}

/** What a scripted server got and was answered: `tests/fixtures/scripted_lsp_server.py` writes it down. */
export class Log {
  constructor(file) {
    this.file = file;
  }

  messages() {
    try {
      return readFileSync(this.file, 'utf8').split('\n').filter((line) => line.endsWith('}')).map((line) => JSON.parse(line));
    } catch {
      return [];
    }
  }

  sent(method) {
    return this.messages().filter((message) => message.method === method).map(({ params }) => params);
  }

  async answer(id) {
    const found = await until(`the answer to ${id}`, () => this.messages().find((message) => message.id === id && !message.method));
    return found.result ?? found.error;
  }
}
