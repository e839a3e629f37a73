// Which files have turns changed? Each may be looked at in the diff editor, whose arrows take single changes back.

import { useContext, useState } from 'preact/hooks';
import type { ChangedFile, Desk } from './bridge';
import { PageContext } from './context';
import { Icon } from './icon';
import { oneLine } from './text';
import { t } from './words';

export function Changes({ desk, isRunning }: { desk: Desk; isRunning: boolean }) {
  const page = useContext(PageContext);
  const [open, setOpen] = useState(true);
  const { changed, can, canRedo } = desk;
  if (changed.length === 0 && !canRedo) return null;
  if (changed.length === 0) {
    return (
      <div class="changes changes-head">
        <Icon name="discard" />
        <span class="row-detail">{t('The changes are taken back.')}</span>
        <button type="button" class="link" disabled={isRunning} onClick={() => page.post({ type: 'redo' })}>
          {t('Undo the undo')}
        </button>
      </div>
    );
  }
  return (
    <div class="changes" role="group" aria-label={t('Changed files')}>
      <div class="changes-head">
        <button type="button" class="row" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? 'chevron-down' : 'chevron-right'} />
          <span>{changed.length === 1 ? t('1 file changed') : t('{0} files changed', changed.length)}</span>
        </button>
        <button type="button" class="link" onClick={() => page.post({ type: 'keep' })}>
          {t('Keep')}
        </button>
        {can.undo && (
          <button type="button" class="link" disabled={isRunning} onClick={() => page.post({ type: 'undoTurn' })}>
            {t('Undo the turn')}
          </button>
        )}
      </div>
      {open && (
        <ul>
          {changed.map((file) => (
            <ChangedRow key={file.path} file={file} />
          ))}
        </ul>
      )}
    </div>
  );
}

function ChangedRow({ file }: { file: ChangedFile }) {
  const page = useContext(PageContext);
  const name = oneLine(file.shown);
  return (
    <li>
      <button
        type="button"
        class="changed-name"
        title={file.canDiff ? t('Open the diff of {0}', name) : t('Open {0}', name)}
        onClick={() => page.post({ type: 'openChange', path: file.path })}
      >
        <Icon name="diff-modified" />
        <span>{name}</span>
      </button>
      {file.added > 0 && <span class="added">+{file.added}</span>}
      {file.removed > 0 && <span class="removed">−{file.removed}</span>}
    </li>
  );
}
