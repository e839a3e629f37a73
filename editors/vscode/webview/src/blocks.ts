// Which Markdown blocks does a text consist of, and which of them can further text still change? Pure.

import MarkdownIt from 'markdown-it';
import { linkOf } from './links';
import { clean } from './text';

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false });
parser.validateLink = (href) => linkOf(href) !== undefined;
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

export type Token = ReturnType<typeof parser.parse>[number];

export interface Block {
  source: string;
  tokens: Token[];
}

/** The blocks of a text that stays as it is. */
export function blocksOf(text: string): Block[] {
  return split(clean(text)).map(({ source, tokens }) => ({ source, tokens }));
}

interface Found extends Block {
  end: number;
}

function split(text: string): Found[] {
  const tokens = parser.parse(text, {});
  const lines = lineStarts(text);
  const found: Found[] = [];
  let from = 0;
  let start = 0;
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    if (token.level !== 0 || token.nesting === 1) continue;
    const opener = tokens[from] as Token;
    const end = lines[opener.map?.[1] ?? lines.length] ?? text.length;
    found.push({ source: text.slice(start, end), tokens: tokens.slice(from, at + 1), end });
    [from, start] = [at + 1, end];
  }
  return found;
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** Blocks of a clean text that only grows: what is settled is never parsed again, so that a long answer stays cheap. */
export class GrowingBlocks {
  private settled: Block[] = [];
  private settledTo = 0;

  update(text: string): Block[] {
    if (text.length < this.settledTo) [this.settled, this.settledTo] = [[], 0];
    const tail = split(text.slice(this.settledTo));
    const done = tail.slice(0, -1);
    const last = tail.at(-1);
    if (last && done.length > 0) {
      this.settled = [...this.settled, ...done];
      this.settledTo += (done.at(-1) as Found).end;
    }
    return last ? [...this.settled, last] : this.settled;
  }
}
