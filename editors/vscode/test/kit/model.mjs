/** A model's provider on loopback: plays what a test tells it, in the words of OpenAI's chat completions. */
import { createServer } from 'node:http';

export async function startModel() {
  const model = new Model();
  await new Promise((ok) => model.server.listen(0, '127.0.0.1', ok));
  return model;
}

class Model {
  requests = [];
  steps = [];
  waiting = [];

  constructor() {
    this.server = createServer((request, response) => void this.take(request, response));
  }

  get settings() {
    const url = `http://127.0.0.1:${this.server.address().port}/v1`;
    return { 'caddie.provider': 'openai-chat', 'caddie.baseUrl': url, 'caddie.model': 'office-model' };
  }

  /** What it answers next, one step a request. */
  play(...steps) {
    this.steps.push(...steps);
  }

  async close() {
    this.server.closeAllConnections();
    await new Promise((ok) => this.server.close(ok));
  }

  async take(request, response) {
    let body = '';
    for await (const part of request) body += part;
    if (!request.url.endsWith('/chat/completions')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'office-model', object: 'model' }] }));
      return;
    }
    this.requests.push({ headers: request.headers, body: JSON.parse(body) });
    const step = this.steps.shift() ?? say('There is nothing more to say.');
    await step.gate;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const delta of step.deltas) send(response, { delta, finish_reason: null });
    await step.rest;
    const read = Math.ceil(body.length / 3);
    const usage = { prompt_tokens: read, completion_tokens: 20, total_tokens: read + 20, ...step.usage };
    send(response, { delta: {}, finish_reason: step.finish }, usage);
    response.end('data: [DONE]\n\n');
  }
}

function send(response, choice, usage) {
  const chunk = { id: 'c1', object: 'chat.completion.chunk', model: 'office-model', choices: [{ index: 0, ...choice }], usage };
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
}

export function say(text, gate) {
  const parts = text.match(/[^]{1,40}/g) ?? [text];
  return { deltas: parts.map((content) => ({ role: 'assistant', content })), finish: 'stop', gate };
}

/** Thinks aloud before it says something. */
export function think(thought, text) {
  const said = say(text);
  return { ...said, deltas: [{ role: 'assistant', reasoning_content: thought }, ...said.deltas] };
}

/** Says it, and has not finished until the gate opens. */
export function goOn(text, rest) {
  return { ...say(text), rest };
}

let count = 0;
export function callTool(name, args, gate) {
  count += 1;
  const call = { index: 0, id: `call_${count}`, type: 'function', function: { name, arguments: JSON.stringify(args) } };
  return { deltas: [{ role: 'assistant', tool_calls: [call] }], finish: 'tool_calls', gate };
}

/** What the person's newest message was for the model: its text with all that goes beside it, and its pictures. */
export function said({ body }) {
  const { content } = body.messages.findLast(({ role }) => role === 'user');
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return {
    text: parts.map(({ text = '' }) => text).join('\n'),
    pictures: parts.flatMap(({ image_url: picture }) => (picture ? [picture.url] : [])),
  };
}

/** A gate that a test opens. */
export function gate() {
  let open;
  const promise = new Promise((ok) => (open = ok));
  return { promise, open };
}
