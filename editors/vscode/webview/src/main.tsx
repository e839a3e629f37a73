// Starts the page: joins VS Code's end of the bridge with what is drawn.

import { render } from 'preact';
import { App } from './app';
import type { ToPage } from './bridge';
import { Page, type Host } from './page';
import './style.css';
import { useWords } from './words';

declare function acquireVsCodeApi(): Host;

const root = document.getElementById('root') as HTMLElement;
useWords(JSON.parse(root.dataset['words'] ?? '{}') as Record<string, string>);
const page = new Page(acquireVsCodeApi());
window.addEventListener('message', ({ data }: MessageEvent<ToPage>) => page.receive(data));
window.addEventListener('pagehide', () => page.saveNow());
render(<App page={page} />, root);
