import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { toolsList, toolsSetState } from '../../src/protocol';
import { readSettings, writeSetting } from '../../src/settings';
import { caddie, read, until, write } from './kit';

const settings = () => vscode.workspace.getConfiguration('caddie');

async function reset(): Promise<void> {
  for (const target of [vscode.ConfigurationTarget.Workspace, vscode.ConfigurationTarget.Global]) {
    for (const key of ['tools.disabled', 'tools.enabled', 'tools.deferred', 'hints.limit']) await settings().update(key, undefined, target);
  }
}

describe('settings', () => {
  beforeEach(reset);
  after(reset);

  it('only what the person wrote is told to the server, by scope; defaults are not', async () => {
    await settings().update('hints.limit', 2, vscode.ConfigurationTarget.Global);
    await settings().update('tools.disabled', ['Grep'], vscode.ConfigurationTarget.Workspace);
    const { user, workspace } = readSettings();
    assert.deepEqual(user['hints'], { limit: 2 });
    assert.equal(user['search'], undefined);
    assert.deepEqual(workspace, { tools: { disabled: ['Grep'] } });
  });

  it('the extension’s own settings are not told, misspelt ones are', async () => {
    await write('.vscode/settings.json', JSON.stringify({ 'caddie.tools.dissabled': ['Grep'] }));
    await until('it is read', () => (readSettings().workspace['tools'] as Record<string, unknown> | undefined)?.['dissabled']);
    assert.equal(readSettings().user['server'], undefined);
    await write('.vscode/settings.json', '{}');
  });

  it('F03: states of tools of a server that is not there are kept as they were written', async () => {
    const { client } = await caddie();
    const names = ['mcp__later__a', 'mcp__later__b', 'mcp__Later__C'];
    await settings().update('tools.disabled', names, vscode.ConfigurationTarget.Workspace);
    for (let round = 0; round < 3; round += 1) await client.restart();
    await client.request(toolsSetState, { changes: [{ tool: 'Grep', state: 'disabled' }], scope: 'workspace' });
    assert.deepEqual([...settings().get<string[]>('tools.disabled', [])].sort(), [...names, 'Grep'].sort());
  });

  it('a state that is set over the wire is in settings.json, with the file’s comments kept, and effective', async () => {
    const { client } = await caddie();
    await write('.vscode/settings.json', '{\n  // mine\n  "caddie.hints.limit": 2\n}\n');
    await until('it is read', () => settings().get('hints.limit') === 2);
    const { changed } = await client.request(toolsSetState, { changes: [{ tool: 'WebFetch', state: 'disabled' }], scope: 'workspace' });
    assert.deepEqual(changed.map((tool) => [tool.name, tool.state, tool.stateSource.scope]), [['WebFetch', 'disabled', 'editorWorkspace']]);
    assert.match(await read('.vscode/settings.json'), /\/\/ mine[^]*"WebFetch"/);
    const { tools } = await client.request(toolsList, {});
    assert.equal(tools.find((tool) => tool.name === 'WebFetch')?.state, 'disabled');
  });

  it('the last entry that goes takes its key along', async () => {
    await writeSetting('tools.disabled', ['Grep'], 'workspace');
    await writeSetting('tools.disabled', null, 'workspace');
    assert.equal(settings().inspect('tools.disabled')?.workspaceValue, undefined);
  });
});
