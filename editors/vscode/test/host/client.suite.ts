import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { chatTurn, toolsChanged, toolsExplain, toolsList, toolsSetState } from '../../src/protocol';
import { caddie, file, until, write } from './kit';

describe('the connection', () => {
  it('a request starts a stopped server, and what listens goes on listening', async () => {
    const { client } = await caddie();
    let heard = 0;
    const listening = client.onEvent(toolsChanged, () => (heard += 1));
    await client.stop();
    assert.equal(client.state, 'stopped');
    const { tools } = await client.request(toolsList, {});
    assert.ok(tools.some((tool) => tool.name === 'Bash'));
    await client.request(toolsSetState, { changes: [{ tool: 'Sleep', state: 'disabled' }], scope: 'workspace' });
    await until('the change was heard', () => heard);
    await client.request(toolsSetState, { changes: [{ tool: 'Sleep', state: 'default' }], scope: 'workspace' });
    listening.dispose();
  });

  it('restarts that are asked for at once end with a server that answers', async () => {
    const { client } = await caddie();
    const first = client.restart();
    const second = client.restart();
    await Promise.all([first, second]);
    assert.equal(client.state, 'ready');
    const { tools } = await client.request(toolsList, {});
    assert.ok(tools.some((tool) => tool.name === 'Bash'));
  });

  it('an error is the server’s own sentence', async () => {
    const { client } = await caddie();
    const wrong = { changes: [{ tool: '', state: 'enabled' as const }], scope: 'workspace' as const };
    await assert.rejects(client.request(toolsSetState, wrong), /expected the name of a tool or a glob/);
  });

  it('a cancelled turn is answered as cancelled, and the next one works', async () => {
    const { client } = await caddie();
    const source = new vscode.CancellationTokenSource();
    const turn = client.request(chatTurn, { message: 'sleep 20 seconds' }, source.token);
    setTimeout(() => source.cancel(), 300);
    await assert.rejects(turn, (error: { code?: number }) => error.code === -32800);
    const { found } = await client.request(toolsExplain, { tool: 'Bash' });
    assert.ok(found);
  });

  it('F08: a state that is changed while a turn runs holds at once', async () => {
    const { client } = await caddie();
    const source = new vscode.CancellationTokenSource();
    const turn = client.request(chatTurn, { message: 'sleep 20 seconds' }, source.token).catch(() => undefined);
    await client.request(toolsSetState, { changes: [{ tool: 'Grep', state: 'disabled' }], scope: 'workspace' });
    const { state } = await client.request(toolsExplain, { tool: 'Grep' });
    assert.equal(state, 'disabled');
    source.cancel();
    await turn;
    await client.request(toolsSetState, { changes: [{ tool: 'Grep', state: 'default' }], scope: 'workspace' });
  });

  it('the server reads what is not saved yet', async () => {
    const { client } = await caddie();
    await write('draft.txt', 'saved\n');
    const editor = await vscode.window.showTextDocument(file('draft.txt'));
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), 'not saved yet and '));
    const { text } = await client.request(chatTurn, { message: 'read draft.txt' });
    assert.match(text, /not saved yet and saved/);
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });
});
