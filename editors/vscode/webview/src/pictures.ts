// What was pasted or dropped: pictures travel as data, files by their address.

import type { Page } from './page';
import { t } from './words';

const MOST_BYTES = 5_000_000;
const TYPES = /^image\/(png|jpeg|gif|webp)$/;

export function attachPictures(page: Page, event: ClipboardEvent): void {
  const files = [...(event.clipboardData?.files ?? [])];
  if (files.length === 0) return;
  event.preventDefault();
  for (const file of files) void attach(page, file);
}

export function dropped(page: Page, event: DragEvent): void {
  const data = event.dataTransfer;
  if (!data) return;
  event.preventDefault();
  const listed = data.getData('application/vnd.code.uri-list') || data.getData('text/uri-list');
  const uris = listed.split(/\r?\n/).filter((line) => line && !line.startsWith('#'));
  if (uris.length > 0) page.post({ type: 'attachFiles', uris });
  else for (const file of data.files) void attach(page, file);
}

async function attach(page: Page, file: File): Promise<void> {
  if (!TYPES.test(file.type)) {
    page.post({ type: 'trouble', message: t('{0} is no picture; attach files with # or the + button.', file.name) });
  } else if (file.size > MOST_BYTES) {
    page.post({ type: 'trouble', message: t('{0} is larger than 5 MB, which is the most.', file.name) });
  } else {
    page.post({ type: 'attachPicture', name: file.name, dataUrl: await dataUrl(file) });
  }
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('unreadable'));
    reader.readAsDataURL(file);
  });
}
