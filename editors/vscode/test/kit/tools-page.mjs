/** The Tools view, as a person sees and uses it. */
export class ToolsPage {
  constructor(bench) {
    this.bench = bench;
    this.page = bench.page;
    this.pane = this.page.locator('.pane-body').filter({ has: this.page.locator('.customview-tree') }).first();
  }

  async open() {
    if (!(await this.row('Built-in').isVisible())) {
      await this.page.locator('.activitybar').getByRole('tab', { name: 'Caddie' }).click();
    }
    await this.row('Built-in').waitFor({ timeout: 90_000 });
  }

  /** A row whose label is exactly this. */
  row(label) {
    const name = this.page.locator('.label-name').getByText(label, { exact: true });
    return this.page.locator('.customview-tree .monaco-list-row').filter({ has: name }).first();
  }

  /** What is read aloud: name, state, source, tokens. */
  said(label) {
    return this.row(label).getAttribute('aria-label');
  }

  async waitFor(label, words, timeout = 20_000) {
    const row = this.page.locator(`.customview-tree .monaco-list-row[aria-label*="${label}, ${words}"]`);
    await row.first().waitFor({ timeout });
  }

  async click(label, modifiers = []) {
    await this.row(label).locator('.label-name').click({ modifiers });
  }

  async action(label, title) {
    await this.row(label).hover();
    await this.row(label).getByRole('button', { name: title }).first().click();
  }

  async menu(label, title) {
    await this.row(label).click({ button: 'right' });
    await this.choose(title);
  }

  /** An entry of the view's own `…` menu. */
  async more(title) {
    await this.page.locator('.part.sidebar .title-actions, .part.sidebar .pane-header .actions').getByRole('button', { name: /Views and More|More Actions/ }).first().click();
    await this.choose(title);
  }

  /** A menu that has just opened may not hear the first click. */
  async choose(title) {
    const menu = this.page.locator('.monaco-menu');
    const entry = menu.locator('.action-label').getByText(title, { exact: true });
    for (let tries = 0; tries < 5; tries += 1) {
      await entry.click();
      if (await menu.waitFor({ state: 'hidden', timeout: 1500 }).then(() => true, () => false)) return;
    }
    throw new Error(`the menu did not take “${title}”`);
  }

  get message() {
    return this.page.locator('.tree-explorer-viewlet-tree-view .message').first();
  }

  labels() {
    return this.page.locator('.customview-tree .monaco-list-row .label-name').allTextContents();
  }
}
