import { useState } from 'preact/hooks';
import type { NotesText, ReleaseDetail } from '../../release-answers.ts';
import { useSurroundings } from '../context.ts';
import { Button } from '../parts/button.tsx';
import { SafeHtml } from '../parts/safe-html.tsx';
import { languageName } from './language.ts';
import { NotesEditor } from './notes-editor.tsx';

interface Props {
  readonly app: string;
  readonly detail: ReleaseDetail;
  readonly reload: () => Promise<void>;
}

export function NotesCard({ app, detail, reload }: Props) {
  const { start } = useSurroundings();
  const { notes, cells } = detail;
  const [locale, setLocale] = useState<string | null>(null);
  const [isEditing, setEditing] = useState(false);
  const shown = notes.find((text) => text.locale === locale) ?? notes[0];
  // No client sees the notes of a yanked release, and the server refuses to change them.
  const mayEdit = start.mayChange && cells.some(({ status }) => status !== 'yanked');
  return (
    <section class="card" aria-labelledby="notes-heading">
      <div class="card-head">
        <h2 id="notes-heading">Release notes</h2>
        {mayEdit && !isEditing && (
          <Button onClick={() => setEditing(true)}>
            {notes.length === 0 ? 'Write notes' : 'Edit notes'}
          </Button>
        )}
      </div>
      {isEditing ? (
        <NotesEditor
          app={app}
          detail={detail}
          reload={reload}
          locale={shown?.locale ?? 'und'}
          onClose={() => setEditing(false)}
        />
      ) : shown === undefined ? (
        <p class="muted">This release has no notes.</p>
      ) : (
        <>
          <Languages notes={notes} shown={shown} onChoose={setLocale} />
          <SafeHtml html={shown.html} locale={shown.locale} />
        </>
      )}
    </section>
  );
}

interface LanguagesProps {
  readonly notes: readonly NotesText[];
  readonly shown: NotesText;
  readonly onChoose: (locale: string) => void;
}

const Languages = ({ notes, shown, onChoose }: LanguagesProps) =>
  notes.length < 2 ? null : (
    <fieldset class="segments">
      <legend class="visually-hidden">Language of the notes</legend>
      {notes.map(({ locale }) => (
        <button
          key={locale}
          type="button"
          aria-pressed={locale === shown.locale}
          onClick={() => onChoose(locale)}
        >
          {languageName(locale)}
        </button>
      ))}
    </fieldset>
  );
