/** The chat panel, as a person sees and uses it. */
export class ChatPage {
  constructor(bench) {
    this.bench = bench;
    this.page = bench.page;
  }

  get frame() {
    return this.page.frameLocator('.part.auxiliarybar iframe.webview.ready, iframe.webview.ready').first().frameLocator('#active-frame');
  }

  get input() {
    return this.frame.getByRole('textbox').first();
  }

  async open() {
    await this.bench.command('Caddie: Open Chat');
    await this.input.waitFor({ timeout: 60_000 });
  }

  /** The whole side bar goes, as a person hides it. */
  async hide() {
    await this.bench.command('View: Hide Secondary Side Bar');
    await this.page.locator('.part.auxiliarybar').waitFor({ state: 'hidden' });
  }

  async send(text) {
    if (!(await this.input.isVisible())) await this.open();
    await this.input.click();
    await this.page.keyboard.type(text);
    await this.page.keyboard.press('Enter');
  }
}
