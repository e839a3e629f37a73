// How does a model's Markdown look? Tokens become nodes of an allowed kind; there is no way from text to markup.

import { Component, Fragment, h, type ComponentChild, type ComponentChildren } from 'preact';
import { useContext, useMemo, useRef } from 'preact/hooks';
import { blocksOf, GrowingBlocks, type Block, type Token } from './blocks';
import { PageContext } from './context';
import { highlighted } from './highlight';
import { linkOf } from './links';
import { Icon } from './icon';
import { t } from './words';

export function Markdown({ text, live }: { text: string; live: boolean }) {
  const growing = useRef<GrowingBlocks>(null as unknown as GrowingBlocks);
  const whole = useMemo(() => (live ? undefined : blocksOf(text)), [text, live]);
  const blocks = whole ?? (growing.current ??= new GrowingBlocks()).update(text);
  return (
    <div class="markdown">
      {blocks.map((block, at) => (
        <BlockView key={at} block={block} live={live && at === blocks.length - 1} />
      ))}
    </div>
  );
}

/** Drawn again only when its own text changed. */
class BlockView extends Component<{ block: Block; live: boolean }> {
  override shouldComponentUpdate(next: { block: Block; live: boolean }): boolean {
    return next.block.source !== this.props.block.source || next.live !== this.props.live;
  }
  override render() {
    return <Fragment>{nodesOf(this.props.block.tokens, this.props.live)}</Fragment>;
  }
}

const TAGS = new Set(
  'p h1 h2 h3 h4 h5 h6 ul ol li blockquote table thead tbody tr th td em strong s a hr br code'.split(' '),
);
const HEADINGS: Record<string, string> = { h1: 'h3', h2: 'h3', h3: 'h4', h4: 'h5', h5: 'h6', h6: 'h6' };

interface Frame {
  draw: (children: ComponentChild[]) => ComponentChild;
  children: ComponentChild[];
}

function nodesOf(tokens: Token[], live: boolean): ComponentChildren {
  const stack: Frame[] = [{ draw: () => null, children: [] }];
  for (const token of tokens) {
    const top = stack.at(-1) as Frame;
    if (token.nesting === 1) {
      stack.push({ draw: elementOf(token), children: [] });
    } else if (token.nesting === -1 && stack.length > 1) {
      stack.pop();
      (stack.at(-1) as Frame).children.push(top.draw(top.children));
    } else {
      top.children.push(leaf(token, live));
    }
  }
  return (stack[0] as Frame).children;
}

function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? '');
}

function elementOf(token: Token): Frame['draw'] {
  if (token.hidden || !TAGS.has(token.tag)) return (children) => h(Fragment, null, ...children);
  if (token.tag === 'a') return (children) => <Link href={attribute(token, 'href')}>{children}</Link>;
  if (token.tag === 'table') {
    return (children) => (
      <div class="table" tabIndex={0} role="region" aria-label={t('Table')}>
        {h('table', null, ...children)}
      </div>
    );
  }
  const props: Record<string, string> = {};
  const start = attribute(token, 'start');
  if (token.tag === 'ol' && /^\d{1,9}$/.test(start)) props['start'] = start;
  const align = /text-align:(left|right|center)/.exec(attribute(token, 'style'));
  if (align) props['class'] = `align-${align[1] ?? 'left'}`;
  const heading = HEADINGS[token.tag];
  if (heading) props['class'] = `as-${token.tag}`;
  return (children) => h(heading ?? token.tag, props, ...children);
}

function leaf(token: Token, live: boolean): ComponentChild {
  switch (token.type) {
    case 'inline':
      return h(Fragment, null, nodesOf(token.children ?? [], live));
    case 'code_inline':
      return <code>{token.content}</code>;
    case 'fence':
    case 'code_block':
      return <CodeBlock code={token.content} language={token.info.trim().split(/[\s{,:]/, 1)[0] ?? ''} live={live} />;
    case 'hardbreak':
      return <br />;
    case 'softbreak':
      return '\n';
    case 'hr':
      return <hr />;
    case 'image':
      return <Picture address={attribute(token, 'src')} words={token.content} />;
    default:
      return token.content;
  }
}

export function Link({ href, children }: { href: string; children: ComponentChildren }) {
  const page = useContext(PageContext);
  const link = linkOf(href);
  if (!link) return <span>{children}</span>;
  const open = (event: Event) => {
    event.preventDefault();
    event.stopPropagation();
    page.post({ type: 'link', href });
  };
  const shown = link.kind === 'web' ? link.href : link.path + (link.line ? `:${link.line}` : '');
  // No real address: nothing but our own handler may follow it, whatever key or button is used.
  return (
    <a
      role="link"
      tabIndex={0}
      title={shown}
      class={link.kind === 'file' ? 'file' : undefined}
      onClick={open}
      onKeyDown={(event) => event.key === 'Enter' && open(event)}
    >
      {children}
    </a>
  );
}

/** Nothing is fetched for a model's words: a picture is an address that the person may open. */
function Picture({ address, words }: { address: string; words: string }) {
  return (
    <Link href={address}>
      <Icon name="file-media" /> {words || address}
    </Link>
  );
}

const LIVE_MOST = 8000;

export function CodeBlock({ code, language, live = false }: { code: string; language: string; live?: boolean }) {
  const page = useContext(PageContext);
  const text = code.replace(/\n$/, '');
  const colours = !live || text.length < LIVE_MOST;
  const body = useMemo(() => (colours ? highlighted(text, language) : text), [text, language, colours]);
  return (
    <div class="code" role="group" aria-label={language ? t('Code in {0}', language) : t('Code')}>
      <div class="code-head">
        <span class="code-language">{language}</span>
        <button type="button" class="icon" title={t('Copy')} aria-label={t('Copy')} onClick={() => page.copy(text)}>
          <Icon name="copy" />
        </button>
        <button
          type="button"
          class="icon"
          title={t('Insert at the cursor')}
          aria-label={t('Insert at the cursor')}
          onClick={() => page.post({ type: 'insert', code: text, language })}
        >
          <Icon name="insert" />
        </button>
      </div>
      <pre tabIndex={0}>
        <code>{body}</code>
      </pre>
    </div>
  );
}
