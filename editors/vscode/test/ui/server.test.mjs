/** The server: found, offered, installed, restarted when it dies, and given up on with a reason. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { OFFLINE } from '../kit/office.mjs';
import { EXTENSION, PYTHON } from '../kit/paths.mjs';
import { ToolsPage } from '../kit/tools-page.mjs';
import { openWorkbench, sharing, until } from '../kit/workbench.mjs';

const WAIT = { timeout: 60_000 };
/** Without the folders where a server of ours might be. */
const BARE = { PATH: '/usr/local/bin:/usr/bin:/bin', PIP_CACHE_DIR: join(process.env.HOME ?? '/tmp', '.cache/pip') };

describe('where there is no server', () => {
  let bench;
  const { check, state } = sharing(() => bench);

  before(async () => {
    bench = await openWorkbench({ name: 'install', command: null, settings: OFFLINE, env: BARE });
  }, { timeout: 240_000 });
  after(() => bench?.close(state.failures > 0), { timeout: 60_000 });

  check('it is said plainly, in a notification and in the view, with the ways out', async () => {
    await bench.notification('Caddie needs its server').waitFor(WAIT);
    await bench.page.locator('.activitybar').getByRole('tab', { name: 'Caddie' }).click();
    await bench.page.getByText('Caddie’s server is not installed here.').first().waitFor(WAIT);
    await bench.shot('missing');
    assert.match(await bench.page.locator('.part.statusbar').innerText(), /Caddie/);
  });

  check('an installation that is cancelled leaves nothing behind', async () => {
    await bench.notification('Caddie needs its server').getByRole('button', { name: 'Install', exact: true }).click();
    const progress = bench.notification('Installing Caddie’s server');
    await progress.waitFor();
    await progress.hover();
    await progress.getByRole('button', { name: 'Cancel' }).click();
    await progress.waitFor({ state: 'detached' });
    await until('the folder is gone', () => !environmentOf(bench));
  });

  check('the server is installed into an environment of its own, with progress, and runs', async () => {
    await bench.command('Caddie: Install Server');
    await bench.notification('Installing Caddie’s server').waitFor();
    await bench.shot('installing');
    await new ToolsPage(bench).row('Built-in').waitFor({ timeout: 400_000 });
    assert.ok(environmentOf(bench));
    await bench.shot('installed');
  }, 500_000);
});

function environmentOf(bench) {
  const folder = join(bench.run, 'data/User/globalStorage/caddie.caddie/server');
  return existsSync(folder) ? readdirSync(folder).length > 0 : false;
}

describe('a command that cannot run', () => {
  let bench;
  const { check, state } = sharing(() => bench);

  before(async () => {
    bench = await openWorkbench({ name: 'wrong-command', command: ['/no/such/caddie'], settings: OFFLINE });
  }, { timeout: 240_000 });
  after(() => bench?.close(state.failures > 0), { timeout: 60_000 });

  check('is named, with the setting to look at', async () => {
    await bench.notification('“/no/such/caddie” was not found').waitFor(WAIT);
    await bench.shot('wrong-command');
  });

  check('a changed setting is tried at once, without reload', async () => {
    await bench.editMachine({ 'caddie.server.command': [PYTHON, '-c', 'import no_such_package_of_ours'] });
    await bench.notification('No module named').waitFor(WAIT);
    await bench.editMachine({ 'caddie.server.command': [PYTHON, '-P', '-m', 'caddie'] });
    await new ToolsPage(bench).open();
  });
});

describe('a server that dies', () => {
  let bench, tools, pids;
  const { check, state } = sharing(() => bench);
  const seen = () => (existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').filter(Boolean).map(Number) : []);

  before(async () => {
    pids = join(process.env.TMPDIR ?? '/tmp', `caddie-pids-${process.pid}`);
    const command = [PYTHON, join(EXTENSION, 'test/kit/noted_server.py'), pids];
    bench = await openWorkbench({ name: 'dies', command, settings: OFFLINE });
    tools = new ToolsPage(bench);
    await tools.open();
  }, { timeout: 240_000 });
  after(() => bench?.close(state.failures > 0), { timeout: 60_000 });

  check('is started again by itself', async () => {
    const [first] = seen();
    process.kill(first, 'SIGKILL');
    await until('another one runs', () => seen().length === 2, 60_000);
    await tools.row('Bash').waitFor(WAIT);
  });

  check('stays down after the fifth time, says why, and can be started by hand', async () => {
    for (let deaths = 2; deaths <= 5; deaths += 1) {
      const known = seen();
      process.kill(known.at(-1), 'SIGKILL');
      if (deaths < 5) {
        await until('another one runs', () => seen().length > known.length, 60_000);
        await tools.row('Bash').waitFor(WAIT);
      }
    }
    await bench.notification('it was ended by SIGKILL').waitFor(WAIT);
    await bench.shot('stays-down');
    await bench.notification('it was ended by SIGKILL').getByRole('button', { name: 'Restart' }).click();
    await tools.row('Bash').waitFor(WAIT);
  }, 240_000);

  check('the log tells what happened', async () => {
    await bench.command('Caddie: Show Log');
    await bench.page.locator('.panel .view-lines').filter({ hasText: 'ended by SIGKILL' }).first().waitFor(WAIT);
    await bench.shot('log');
  });

  check('leaves no process when the window closes', async () => {
    await bench.page.close();
    await bench.stopServer();
    await until('the last server has ended', () => !isAlive(seen().at(-1)), 20_000);
  });
});

function isAlive(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[2] !== 'Z';
  } catch {
    return false;
  }
}
