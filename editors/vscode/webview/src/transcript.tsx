// Which part of a long conversation is drawn? Items stand in stretches; a stretch far from view is an empty box of its
// height. The browser's own scroll anchoring keeps what is read in place when a box above gets its real height.

import { Component, createRef, type ComponentChildren } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { PageContext } from './context';
import { Icon } from './icon';
import { ItemView } from './items';
import type { Conversation, Item } from './store';
import { t } from './words';

const STRETCH = 30;
const MARGIN = '1500px 0px';
const AT_END = 32;

export function Transcript({ conversation, children }: { conversation: Conversation; children: ComponentChildren }) {
  const page = useContext(PageContext);
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [sight] = useState(() => new Sight());
  const [isAtEnd, setAtEnd] = useState(page.scroll === undefined);
  const sticks = useRef(isAtEnd);
  const { items } = conversation;

  useLayoutEffect(() => {
    const box = scroller.current as HTMLDivElement;
    sight.watch(box);
    const toEnd = () => {
      if (sticks.current) box.scrollTop = box.scrollHeight;
    };
    const resized = new ResizeObserver(toEnd);
    resized.observe(content.current as HTMLDivElement);
    resized.observe(box);
    toEnd();
    return () => {
      resized.disconnect();
      sight.stop();
    };
  }, [sight]);

  // What was in sight before the page was loaded anew is in sight again.
  useLayoutEffect(() => {
    const box = scroller.current as HTMLDivElement;
    const { scroll } = page;
    if (!scroll || sticks.current) return;
    const item = box.querySelector<HTMLElement>(`[data-item="${scroll.item}"]`);
    if (item) box.scrollTop = item.offsetTop + scroll.offset;
  }, [page.started]);

  useLayoutEffect(() => {
    if (page.ends === 0) return;
    sticks.current = true;
    const box = scroller.current as HTMLDivElement;
    box.scrollTop = box.scrollHeight;
  }, [page.ends]);

  const scrolled = () => {
    const box = scroller.current as HTMLDivElement;
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < AT_END;
    sticks.current = atEnd;
    if (atEnd !== isAtEnd) setAtEnd(atEnd);
    page.setScroll(atEnd ? undefined : firstInSight(box));
  };

  const lastStart = Math.max(items.length - 1, 0) - (Math.max(items.length - 1, 0) % STRETCH);
  const wanted = page.scroll && items.findIndex((item) => item.id === page.scroll?.item);
  const live = conversation.state === 'idle' ? -1 : lastShown(items);
  const stretches = [];
  for (let from = 0; from < items.length; from += STRETCH) {
    const part = items.slice(from, from + STRETCH);
    const isNear = from >= lastStart - STRETCH || (wanted !== undefined && wanted >= from && wanted < from + STRETCH);
    stretches.push(
      <Stretch
        key={part[0]?.id}
        items={part}
        sight={sight}
        near={isNear}
        leaving={page.desk.editing?.item ?? Infinity}
        live={live >= from && live < from + STRETCH ? (items[live]?.id ?? -1) : -1}
      />,
    );
  }
  return (
    <div class="transcript-frame">
      <div
        class="transcript"
        ref={scroller}
        onScroll={scrolled}
        role="log"
        aria-live="off"
        aria-label={t('Conversation')}
        tabIndex={0}
      >
        <div class="transcript-content" ref={content}>
          {stretches}
          {children}
        </div>
      </div>
      {!isAtEnd && (
        <button
          type="button"
          class="to-end"
          title={t('Go to the end')}
          aria-label={t('Go to the end')}
          onClick={() => {
            sticks.current = true;
            const box = scroller.current as HTMLDivElement;
            box.scrollTop = box.scrollHeight;
          }}
        >
          <Icon name="arrow-down" />
        </button>
      )}
    </div>
  );
}

function lastShown(items: Item[]): number {
  let at = items.length - 1;
  while (at >= 0 && items[at]?.void) at--;
  return at;
}

function firstInSight(box: HTMLElement): { item: number; offset: number } | undefined {
  const top = box.getBoundingClientRect().top;
  for (const stretch of box.querySelectorAll('.stretch')) {
    if (stretch.getBoundingClientRect().bottom <= top) continue;
    for (const item of stretch.querySelectorAll<HTMLElement>('[data-item]')) {
      if (item.getBoundingClientRect().bottom <= top) continue;
      return { item: Number(item.dataset['item']), offset: box.scrollTop - item.offsetTop };
    }
  }
  return undefined;
}

/** Tells stretches whether they are near what is seen. */
class Sight {
  private observer: IntersectionObserver | undefined;
  private readonly told = new Map<Element, (isNear: boolean) => void>();
  /** Mean height of an item, for stretches that were never drawn. */
  private total = 0;
  private count = 0;

  watch(root: Element): void {
    this.observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) this.told.get(entry.target)?.(entry.isIntersecting);
      },
      { root, rootMargin: MARGIN },
    );
    for (const element of this.told.keys()) this.observer.observe(element);
  }

  add(element: Element, tell: (isNear: boolean) => void): void {
    this.told.set(element, tell);
    this.observer?.observe(element);
  }

  remove(element: Element): void {
    this.told.delete(element);
    this.observer?.unobserve(element);
  }

  stop(): void {
    this.observer?.disconnect();
  }

  measured(height: number, items: number): void {
    this.total += height;
    this.count += items;
  }

  estimate(items: number): number {
    return items * (this.count ? this.total / this.count : 48);
  }
}

interface StretchProps {
  items: Item[];
  sight: Sight;
  near: boolean;
  live: number;
  /** This item and all after it go when the message in the input is sent. */
  leaving: number;
}

class Stretch extends Component<StretchProps, { seen: boolean }> {
  override state = { seen: false };
  private readonly box = createRef<HTMLDivElement>();
  private height: number | undefined;

  override componentDidMount(): void {
    if (this.box.current) this.props.sight.add(this.box.current, (seen) => this.onSight(seen));
  }

  override componentWillUnmount(): void {
    if (this.box.current) this.props.sight.remove(this.box.current);
  }

  override shouldComponentUpdate(next: StretchProps, state: { seen: boolean }): boolean {
    const { items, near, live, leaving } = this.props;
    const last = next.items.at(-1)?.id ?? 0;
    if (next.leaving !== leaving && Math.min(next.leaving, leaving) <= last) return true;
    if (state.seen !== this.state.seen || next.near !== near || next.live !== live) return true;
    return next.items.length !== items.length || next.items.some((item, at) => item !== items[at]);
  }

  private onSight(seen: boolean): void {
    if (!seen && this.state.seen && this.box.current) {
      this.height = this.box.current.offsetHeight;
      this.props.sight.measured(this.height, this.props.items.length);
    }
    if (seen !== this.state.seen) this.setState({ seen });
  }

  override render({ items, near, live, leaving, sight }: StretchProps, { seen }: { seen: boolean }) {
    if (!near && !seen) {
      return (
        <div class="stretch" ref={this.box} style={{ height: `${this.height ?? sight.estimate(items.length)}px` }} />
      );
    }
    return (
      <div class="stretch" ref={this.box}>
        {items.map((item) => !item.void && <ItemView key={item.id} item={item} live={item.id === live} leaves={item.id >= leaving} />)}
      </div>
    );
  }
}

/** Draws again each second while `runs`. */
export function useClock(runs: boolean): void {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!runs) return undefined;
    const timer = setInterval(() => tick((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, [runs]);
}
