/** The real workbench in a real browser, with our extension and the real server. One for a whole test file. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { chromium } from 'playwright-core';
import { ARTEFACTS, chromium as browserPath, EXTENSION, PYTHON, WORKBENCH_ENTRY, workbenchNode } from './paths.mjs';

const QUIET = {
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'security.workspace.trust.startupPrompt': 'never',
  'security.workspace.trust.banner': 'never',
  'window.autoDetectColorScheme': false,
};
const BROWSER = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--force-renderer-accessibility',
];

/**
 * @param {object} options
 * @param {string} options.name of the test file; screenshots go to a folder of this name
 * @param {Record<string, unknown>} [options.settings] of the user
 * @param {Record<string, unknown>} [options.workspaceSettings]
 * @param {Record<string, string>} [options.files] of the workspace, by relative path
 * @param {Record<string, Record<string, string>>} [options.further] folders beside the workspace with their files, by
 *   name; the window then opens a .code-workspace
 * @param {readonly string[]} [options.command] that runs the server; null: the extension looks for one itself
 * @param {Record<string, string>} [options.env] of the extension host, and so of the server
 * @param {boolean} [options.trust] false opens the folder untrusted
 * @param {string} [options.locale] of the editor: `zh-cn`
 * @param {boolean} [options.development] loads the extension from its folder instead of a VSIX (tests in the host)
 * @param {{width: number, height: number}} [options.size]
 */
export async function openWorkbench(options) {
  const run = mkdtempSync(join(tmpdir(), 'caddie-wb-'));
  const bench = new Workbench(run, options);
  try {
    await bench.start();
    return bench;
  } catch (error) {
    await bench.close(true);
    throw error;
  }
}

export class Workbench {
  constructor(run, options) {
    this.run = run;
    this.options = options;
    this.workspace = join(run, 'ws');
    this.window = options.further ? join(run, 'office.code-workspace') : this.workspace;
    this.log = [];
    this.shots = join(ARTEFACTS, options.name);
  }

  async start() {
    const { options, run } = this;
    this.prepare();
    this.port = await freePort();
    this.node = workbenchNode();
    this.env = this.environment();
    this.dirs = ['--config', join(run, 'config.yaml'), '--user-data-dir', join(run, 'data'), '--extensions-dir', join(run, 'ext')];
    if (!options.development) await this.install(ourVsix());
    const trust = options.trust === false ? [] : ['--disable-workspace-trust'];
    this.server = spawn(
      this.node,
      [WORKBENCH_ENTRY, ...this.dirs, '--auth', 'none', '--bind-addr', `127.0.0.1:${this.port}`, '--disable-telemetry',
        '--disable-update-check', ...trust, '--disable-getting-started-override', '--ignore-last-opened', this.window],
      { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    for (const stream of [this.server.stdout, this.server.stderr]) stream.on('data', (text) => this.log.push(String(text)));
    await until('the workbench answers', () => fetch(`http://127.0.0.1:${this.port}/healthz`).then((r) => r.ok, () => false), 30_000);
    this.browser = await chromium.launch({ executablePath: browserPath(), args: BROWSER });
    this.context = await this.browser.newContext({
      viewport: options.size ?? { width: 1280, height: 800 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    this.page = await this.newPage();
    if (options.open !== false) await this.open();
  }

  async newPage() {
    const page = await this.context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('console', (message) => this.log.push(`[page] ${message.text()}\n`));
    return page;
  }

  async goto(page = this.page) {
    const what = this.window === this.workspace ? 'folder' : 'workspace';
    await page.goto(`http://127.0.0.1:${this.port}/?${what}=${encodeURIComponent(this.window)}`, { timeout: 60_000 });
    await page.locator('.monaco-workbench .activitybar').waitFor({ timeout: 60_000 });
  }

  async open(page = this.page) {
    await this.goto(page);
    // Its status bar item is the first thing of an extension that runs.
    await page.locator('.statusbar-item[id="caddie.caddie.caddie.status"]').waitFor({ timeout: 60_000 });
  }

  /** Loads the built extension as one under development and runs a test entry in its host; the exit code. */
  async runInHost(entry, onLine) {
    const unpacked = join(this.run, 'unpacked');
    execFileSync('python3', ['-m', 'zipfile', '-e', ourVsix(), unpacked]);
    const folder = join(unpacked, 'extension');
    const uri = (path) => ({ $mid: 1, scheme: 'vscode-remote', authority: `127.0.0.1:${this.port}`, path });
    const { page } = this;
    const done = new Promise((ok) => void page.exposeFunction('codeAutomationExit', ok));
    await page.exposeFunction('codeAutomationLog', (type, args) => onLine([].concat(args).join(' ').trimEnd()));
    await page.addInitScript((options) => {
      if (window !== window.top) return;
      new MutationObserver((_, observer) => {
        const meta = document.getElementById('vscode-workbench-web-configuration');
        if (!meta) return;
        observer.disconnect();
        const configuration = JSON.parse(meta.dataset.settings);
        configuration.developmentOptions = { ...configuration.developmentOptions, ...options };
        meta.dataset.settings = JSON.stringify(configuration);
      }).observe(document, { childList: true, subtree: true });
    }, { extensions: [uri(folder)], extensionTestsPath: uri(entry) });
    await this.goto();
    const late = new Promise((ok) => setTimeout(ok, 300_000, 1).unref());
    return Promise.race([done, late]);
  }

  prepare() {
    const { options, run } = this;
    for (const folder of ['data/User', 'data/Machine', 'ext', 'ws', 'home', 'tmp']) mkdirSync(join(run, folder), { recursive: true });
    writeFileSync(join(run, 'config.yaml'), '');
    const command = options.command === undefined ? [PYTHON, '-P', '-m', 'caddie'] : options.command;
    const [machine, user] = byPlace(options.settings ?? {});
    writeJson(join(run, 'data/Machine/settings.json'), { ...machine, ...(command ? { 'caddie.server.command': command } : {}) });
    writeJson(join(run, 'data/User/settings.json'), { ...QUIET, ...user });
    for (const [path, text] of Object.entries(options.files ?? {})) this.write(path, text);
    for (const [name, files] of Object.entries(options.further ?? {})) {
      mkdirSync(this.folder(name));
      for (const [path, text] of Object.entries(files)) this.write(join(this.folder(name), path), text);
    }
    if (options.further) this.openFolders(Object.keys(options.further));
    if (options.workspaceSettings) this.write('.vscode/settings.json', JSON.stringify(options.workspaceSettings, null, 2));
    if (options.locale) this.speak(options.locale);
    rmSync(this.shots, { recursive: true, force: true });
    mkdirSync(this.shots, { recursive: true });
  }

  /** A language pack that translates nothing of the editor itself, as an installed one would leave it. */
  speak(locale) {
    const file = join(this.run, 'tmp/main.i18n.json');
    writeJson(file, { version: '1.0.0', contents: {} });
    writeJson(join(this.run, 'data/User/argv.json'), { locale });
    const extensions = [{ extensionIdentifier: { id: 'test.language' }, version: '1.0.0' }];
    writeJson(join(this.run, 'data/languagepacks.json'), { [locale]: { hash: 'test', extensions, translations: { vscode: file }, label: locale } });
  }

  environment() {
    const kept = Object.entries(process.env).filter(([name]) => !/^(XDG_|VSCODE_|CADDIE_|.*_API_KEY$)/.test(name));
    return {
      ...Object.fromEntries(kept),
      HOME: join(this.run, 'home'),
      TMPDIR: join(this.run, 'tmp'),
      EXTENSIONS_GALLERY: '{}',
      ...(process.env.CADDIE_PYTHONPATH ? { PYTHONPATH: process.env.CADDIE_PYTHONPATH } : {}),
      ...this.options.env,
    };
  }

  async install(vsix) {
    const done = spawn(this.node, [WORKBENCH_ENTRY, ...this.dirs, '--install-extension', vsix], { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = [];
    for (const stream of [done.stdout, done.stderr]) stream.on('data', (text) => said.push(String(text)));
    const code = await new Promise((ok) => done.on('exit', ok));
    if (code !== 0) throw new Error(`the VSIX was not installed:\n${said.join('')}`);
  }

  // What a person does.

  /** From anywhere, also from inside a webview: the palette's filtered row is clicked, never Enter pressed early. */
  async command(title, page = this.page) {
    await page.locator('.part.statusbar').click({ position: { x: 400, y: 8 } });
    await page.keyboard.press('F1');
    const box = page.locator('.quick-input-widget .quick-input-box input');
    await box.waitFor();
    await box.fill(`>${title}`);
    await page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first().click();
  }

  quickPick(text) {
    return this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
  }

  async typeIn(prompt, text) {
    await this.page.locator('.quick-input-widget').filter({ hasText: prompt }).waitFor();
    await this.page.keyboard.type(text);
    await this.page.keyboard.press('Enter');
  }

  notification(text) {
    return this.page.locator('.notifications-toasts .notification-toast').filter({ hasText: text }).first();
  }

  /** Closes menus, pickers and dialogs that a failed test left open. */
  async clear() {
    for (let n = 0; n < 4; n += 1) await this.page.keyboard.press('Escape');
  }

  async shot(name, clip) {
    await this.page.waitForTimeout(450); // what fades in has arrived
    const path = join(this.shots, `${name}.png`);
    await this.page.screenshot({ path, clip });
    return path;
  }

  // Files.

  /** A folder beside the workspace. */
  folder(name) {
    return join(this.run, name);
  }

  /** The window's folders from now on: the workspace, and these beside it. */
  openFolders(names) {
    writeJson(this.window, { folders: ['ws', ...names].map((path) => ({ path })) });
  }

  write(path, text) {
    const file = resolve(this.workspace, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Merges into the workspace's settings.json, which the editor watches (the user's it does not, in a browser). */
  set(settings) {
    this.write('.vscode/settings.json', JSON.stringify({ ...this.settings('workspace'), ...settings }, null, 2));
  }

  /** As a person does it: the editor does not watch that file in a browser. */
  async editMachine(settings) {
    const file = join(this.run, 'data/Machine/settings.json');
    const text = JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...settings }, null, 2);
    await this.command('Preferences: Open Remote Settings (JSON)');
    const editor = this.page.locator('.editor-instance').filter({ hasText: 'caddie.' }).last();
    await editor.locator('.view-lines').click();
    await this.page.evaluate((words) => navigator.clipboard.writeText(words), text);
    await this.page.keyboard.press('Control+A');
    await this.page.keyboard.press('Control+V');
    await this.page.keyboard.press('Control+S');
    await until('the settings are saved', () => readFileSync(file, 'utf8') === text);
    await this.clear();
  }

  read(path) {
    return readFileSync(resolve(this.workspace, path), 'utf8');
  }

  settings(scope) {
    const file = scope === 'user' ? join(this.run, 'data/User/settings.json') : join(this.workspace, '.vscode/settings.json');
    try {
      return JSON.parse(readFileSync(file, 'utf8').replace(/^\s*\/\/.*$/gm, '') || '{}');
    } catch {
      return {};
    }
  }

  async stopServer() {
    const { server } = this;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const gone = new Promise((ok) => server.once('exit', ok));
    server.kill('SIGTERM');
    const late = setTimeout(() => server.kill('SIGKILL'), 8000);
    await gone;
    clearTimeout(late);
  }

  async close(failed = false) {
    await this.browser?.close().catch(() => undefined);
    await this.stopServer();
    if (failed) {
      writeFileSync(join(this.shots, 'log.txt'), this.log.join(''));
      const logs = join(this.run, 'data/logs');
      if (existsSync(logs)) cpSync(logs, join(this.shots, 'logs'), { recursive: true, force: true });
    }
    rmSync(this.run, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

function ourVsix() {
  if (!process.env.CADDIE_VSIX) throw new Error('set CADDIE_VSIX to the extension that `make vscode` has built');
  return process.env.CADDIE_VSIX;
}

/** Tests that share a workbench: one that fails leaves a picture, and no menu open for the next. */
export function sharing(bench) {
  const state = { failures: 0 };
  const check = (name, run, timeout = 90_000) =>
    test(name, { timeout }, async () => {
      try {
        await run();
      } catch (error) {
        state.failures += 1;
        await bench().shot(`failed-${state.failures}`).catch(() => undefined);
        await bench().clear().catch(() => undefined);
        // Playwright's call log is long and says less than the picture.
        throw error instanceof Error ? new Error(`${error.message.slice(0, 900)}`, { cause: undefined }) : error;
      }
    });
  return { check, state };
}

export async function until(what, look, timeout = 15_000) {
  const end = Date.now() + timeout;
  let last;
  for (;;) {
    try {
      last = await look();
      if (last) return last;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`waited ${timeout} ms until ${what}; last: ${last instanceof Error ? last.message : JSON.stringify(last)}`);
    await new Promise((ok) => setTimeout(ok, 60));
  }
}

/** Settings about a machine (what to run, where to send) are the remote's, the others the person's. */
function byPlace(settings) {
  const { capabilities } = JSON.parse(readFileSync(join(EXTENSION, 'package.json'), 'utf8'));
  const ofMachine = new Set(capabilities.untrustedWorkspaces.restrictedConfigurations);
  const pick = (wanted) => Object.fromEntries(Object.entries(settings).filter(([key]) => ofMachine.has(key) === wanted));
  return [pick(true), pick(false)];
}

function writeJson(path, tree) {
  writeFileSync(path, JSON.stringify(tree, null, 2));
}

function freePort() {
  return new Promise((ok, bad) => {
    const server = createServer();
    server.once('error', bad);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => ok(port));
    });
  });
}
