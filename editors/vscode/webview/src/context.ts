// How does a component reach the page it is on?
import { createContext } from 'preact';
import type { Page } from './page';

export const PageContext = createContext<Page>(null as unknown as Page);
