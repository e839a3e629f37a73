/** A language model that says what the test tells it, over real HTTP. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { EXTENSION, PYTHON } from './paths.mjs';

export class Model {
  static async start() {
    const model = new Model();
    model.process = spawn(PYTHON, [join(EXTENSION, 'test/kit/model.py')], { stdio: ['pipe', 'pipe', 'inherit'] });
    model.lines = createInterface({ input: model.process.stdout })[Symbol.asyncIterator]();
    model.url = (await model.next()).url;
    return model;
  }

  /** Settings and environment that lead to it. */
  get settings() {
    return { 'caddie.provider': 'anthropic', 'caddie.baseUrl': this.url, 'caddie.model': 'claude-sonnet-5' };
  }

  get env() {
    return { ANTHROPIC_API_KEY: 'test-key' };
  }

  reply(text) {
    return this.ask({ do: 'reply', text });
  }

  call(tool, params) {
    return this.ask({ do: 'call', tool, params });
  }

  stall() {
    return this.ask({ do: 'stall' });
  }

  reset() {
    return this.ask({ do: 'reset' });
  }

  requests() {
    return this.ask({ do: 'requests' });
  }

  async close() {
    this.process.stdin.end();
    await new Promise((ok) => this.process.once('exit', ok));
  }

  async ask(command) {
    this.process.stdin.write(`${JSON.stringify(command)}\n`);
    return (await this.next()).result;
  }

  async next() {
    const { value, done } = await this.lines.next();
    if (done) throw new Error('the model has ended');
    return JSON.parse(value);
  }
}
