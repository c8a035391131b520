import { useState } from 'preact/hooks';
import type { Change } from '../../change-answers.ts';
import type { ReleaseDetail } from '../../release-answers.ts';
import { useSurroundings } from '../context.ts';
import { Button } from '../parts/button.tsx';
import { Field, TextField } from '../parts/field.tsx';
import { Review } from '../parts/review.tsx';
import { SafeHtml } from '../parts/safe-html.tsx';
import { useChange } from '../state/change.ts';
import { languageName } from './language.ts';
import { useMarkdown } from './use-markdown.ts';

interface Props {
  readonly app: string;
  readonly detail: ReleaseDetail;
  readonly reload: () => Promise<void>;
  readonly locale: string;
  readonly onClose: () => void;
}

/** Edits the notes in one language. A failed request keeps the typed text. */
export function NotesEditor({ app, detail, reload, locale: first, onClose }: Props) {
  const { tell } = useSurroundings();
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
        onDone={(changed) => {
          tell({
            title: `The notes of ${version} are ${isRemoval ? 'removed' : 'saved'}`,
            sentences: changed.sentences,
            paused: null,
          });
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
