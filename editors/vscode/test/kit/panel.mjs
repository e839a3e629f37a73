/** The chat panel's finer parts: cards, hints, what is said and when it is over. */
import { ChatPage } from './chat-page.mjs';
import { until } from './workbench.mjs';

export class Panel extends ChatPage {
  /** By its key: the palette knows our commands only once the extension has been read. */
  async open() {
    await this.page.locator('.statusbar-item[aria-label*="Caddie"]').first().waitFor({ timeout: 60_000 });
    await this.page.locator('.part.statusbar').click({ position: { x: 400, y: 8 } }); // out of a webview that may be gone
    await this.page.keyboard.press('Control+Alt+C');
    await this.input.waitFor({ timeout: 60_000 });
  }

  /** As a person does it: everything starts anew but what is stored. */
  async reloadWindow() {
    const reloaded = this.page.waitForEvent('load');
    await this.bench.command('Developer: Reload Window');
    await reloaded;
    await this.page.locator('.monaco-workbench .activitybar').waitFor({ timeout: 60_000 });
    await this.open();
  }

  get card() {
    return this.frame.locator('.ask').first();
  }

  get input() {
    return this.frame.locator('.composer-text');
  }

  button(name) {
    return this.frame.getByRole('button', { name, exact: true });
  }

  async type(text) {
    await this.input.click();
    await this.page.keyboard.type(text);
  }

  /** Sent whatever is hinted: a hint that is not chosen takes no Enter. */
  async ask(text) {
    await this.input.fill(text);
    await this.input.press('Enter');
  }

  text() {
    return this.frame.locator('.transcript').innerText();
  }

  /** The conversation, once it says so. */
  async says(words, timeout = 60_000) {
    return until(`the chat says ${words}`, async () => {
      const text = await this.text();
      return text.includes(words) && text;
    }, timeout);
  }

  async isIdle() {
    await until('the turn is over', async () => (await this.frame.locator('.status').count()) === 0, 60_000);
  }

  async isEmpty() {
    await until('the conversation is empty', async () => (await this.frame.locator('.item').count()) === 0, 30_000);
  }
}
