// An earlier message is being written anew: what happens to it and to all that followed when the new one is sent.

import { useContext } from 'preact/hooks';
import type { EditedMessage } from './bridge';
import { PageContext } from './context';
import { Icon } from './icon';
import type { Conversation } from './store';
import { oneLine } from './text';
import { t } from './words';

export function EditBanner({ editing }: { editing: EditedMessage | undefined }) {
  const page = useContext(PageContext);
  if (!editing) return <FirstStop conversation={page.conversation} />;
  const { files, takeBack, missing } = editing;
  const names = missing.map(oneLine).join(', ');
  return (
    <div class="editing" role="group" aria-label={t('Editing an earlier message')}>
      <div class="editing-head">
        <Icon name="edit" />
        <span>{t('Sending replaces this message and what follows')}</span>
        <button type="button" class="link" title={t('Cancel (Esc)')} onClick={() => page.post({ type: 'cancelEdit' })}>
          {t('Cancel')}
        </button>
      </div>
      {files > 0 && (
        <label class="editing-files">
          <input
            type="checkbox"
            checked={takeBack}
            onChange={(event) => page.post({ type: 'takeBack', on: event.currentTarget.checked })}
          />
          <span>
            {files === 1
              ? t('Also take back their changes to 1 file')
              : t('Also take back their changes to {0} files', files)}
          </span>
        </label>
      )}
      {names && <div class="editing-missing">{t('Not kept, so attach it again: {0}', names)}</div>}
    </div>
  );
}

/** The pencil was pressed while a turn runs. */
function FirstStop({ conversation }: { conversation: Conversation }) {
  const page = useContext(PageContext);
  if (!page.editNext || conversation.state === 'idle') return null;
  return (
    <div class="editing editing-head" role="group" aria-label={t('Editing an earlier message')}>
      <Icon name="edit" />
      <span>{t('A message can be changed once the turn is over')}</span>
      <button
        type="button"
        class="link"
        disabled={conversation.state === 'stopping'}
        onClick={() => page.post({ type: 'stop' })}
      >
        {t('Stop and edit')}
      </button>
      <button type="button" class="link" onClick={() => page.edit(undefined)}>
        {t('Cancel')}
      </button>
    </div>
  );
}
