import { useEffect, useState } from 'preact/hooks';
import type { MarkdownPreview, NotesText, ReleaseDetail } from '../../answers.ts';
import type { Change, MarkdownRequest } from '../../changes/change-request.ts';
import { failureOf, post } from '../api.ts';
import { useSurroundings } from '../context.ts';
import { Button } from '../parts/button.tsx';
import { Field, Segments, TextField } from '../parts/field.tsx';
import { Review } from '../parts/review.tsx';
import { useChange } from '../state/change.ts';

/** The notes of a release, and their editor. */

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
    <Segments
      legend="Language of the notes"
      options={notes.map(({ locale }) => [locale, languageName(locale)])}
      chosen={shown.locale}
      onChoose={onChoose}
    />
  );

interface EditorProps extends Props {
  readonly locale: string;
  readonly onClose: () => void;
}

/** Edits the notes in one language. After a failed request, the typed text stays. */
function NotesEditor({ app, detail, reload, locale: first, onClose }: EditorProps) {
  const { notes, version } = detail;
  const textIn = (wanted: string) => notes.find(({ locale }) => locale === wanted)?.markdown ?? '';
  const [locale, setLocale] = useState(first);
  const [drafts, setDrafts] = useState<Readonly<Record<string, string>>>({});
  const markdown = drafts[locale] ?? textIn(locale);
  const rendered = useMarkdown(markdown);
  const state = useChange({ app, seen: detail, reload });
  const write = (text: string) => {
    setDrafts({ ...drafts, [locale]: text });
    if (state.reviewed !== null) state.forget();
  };
  const choose = (wanted: string) => {
    setLocale(wanted);
    state.forget();
  };
  const isRemoval = markdown.trim() === '';
  const change: Change = {
    kind: 'notes',
    version,
    locale,
    markdown: isRemoval ? null : markdown,
    reason: null,
  };
  const isSame = markdown === textIn(locale) || locale === '';
  return (
    <div class="notes-editor">
      <TextField
        label="Language"
        hint={
          <>
            A BCP 47 tag such as <code>de</code> or <code>pt-BR</code>; <code>und</code> is for any
            language. {locale !== '' && <bdi>{languageName(locale)}</bdi>}
          </>
        }
        value={locale}
        list="notes-locales"
        onInput={choose}
      />
      <datalist id="notes-locales">
        {notes.map((text) => (
          <option key={text.locale} value={text.locale} />
        ))}
      </datalist>
      <div class="editor-panes">
        <Field label="Markdown" hint="Empty text removes the notes in this language.">
          {({ id, hint }) => (
            <textarea
              id={id}
              rows={12}
              dir="auto"
              aria-describedby={hint}
              value={markdown}
              onInput={(event) => write(event.currentTarget.value)}
            />
          )}
        </Field>
        <section class="field" aria-label="Live preview">
          <span class="label">As clients show it</span>
          <div class="notes-preview">
            {rendered.problem !== null && <p class="error-text">{rendered.problem}</p>}
            <SafeHtml html={rendered.html} locale={locale} />
          </div>
        </section>
      </div>
      <Review
        state={state}
        change={isSame ? null : change}
        confirmLabel={isRemoval ? 'Remove these notes' : 'Save notes'}
        danger={isRemoval}
        doneTitle={`The notes of ${version} are ${isRemoval ? 'removed' : 'saved'}`}
        onDone={() => {
          void reload();
          onClose();
        }}
      >
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
      </Review>
    </div>
  );
}

const PAUSE_MS = 250;

interface Rendered {
  readonly html: string;
  readonly problem: string | null;
}

/**
 * The HTML that the server renders. The page requests it a moment after the operator stops typing. The page ignores the
 * answers to earlier texts.
 */
function useMarkdown(markdown: string): Rendered {
  const [rendered, setRendered] = useState<Rendered>({ html: '', problem: null });
  useEffect(() => {
    let isOld = false;
    const render = async () => {
      const request: MarkdownRequest = { markdown };
      try {
        const { html } = await post<MarkdownPreview>('/console/api/markdown', request);
        if (!isOld) setRendered({ html, problem: null });
      } catch (error) {
        const problem = failureOf(error).message;
        if (!isOld) setRendered((before) => ({ ...before, problem }));
      }
    };
    const timer = setTimeout(render, PAUSE_MS);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [markdown]);
  return rendered;
}

/**
 * Notes as the server rendered them. Only this component puts HTML into the page. The server removes everything that
 * could run or load something, and the page's Content-Security-Policy also forbids such content.
 */
const SafeHtml = ({ html, locale }: { readonly html: string; readonly locale: string }) => (
  <div
    class="notes"
    dir="auto"
    lang={locale === 'und' ? undefined : locale}
    dangerouslySetInnerHTML={{ __html: html }}
  />
);

/** @param locale BCP 47; `und` when no language is stated. @returns a text such as `German (de)` */
function languageName(locale: string): string {
  if (locale === 'und') return 'Any language';
  try {
    const name = new Intl.DisplayNames(['en'], { type: 'language' }).of(locale);
    return name === undefined || name === locale ? locale : `${name} (${locale})`;
  } catch {
    return locale;
  }
}
