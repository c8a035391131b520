import { useState } from 'preact/hooks';
import { ARCHES, FORMATS, PLATFORMS } from '../../../../domain/platform.ts';
import type { Explained, Overview } from '../../answers.ts';
import { apiOf } from '../api.ts';
import { Button } from '../parts/button.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { Loading, Page } from '../parts/page.tsx';
import { hrefOf, navigate, searchOf } from '../router.ts';
import { usePolled } from '../state/polled.ts';
import { ExplainAnswer } from './explain-answer.tsx';

interface Props {
  readonly app: string;
  readonly query: URLSearchParams;
}

const NAMES = [
  ...['version', 'platform', 'arch', 'channel', 'format', 'os_version'],
  ...['id', 'manual', 'allow_downgrade', 'tier', 'at'],
] as const;
type Values = Readonly<Record<string, string>>;

const valuesOf = (query: URLSearchParams): Values =>
  Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? '']));

export function ExplainScreen({ app, query }: Props) {
  const asked = valuesOf(query);
  const isAsked = asked.platform !== '';
  const path = isAsked ? apiOf(app, `explain${searchOf(asked)}`) : null;
  const polled = usePolled<Explained>(path, { once: true });
  return (
    <Page title="Explain" above={<bdi>{app}</bdi>} below="Why a client gets a release, or none">
      <div class="columns explain">
        <ExplainForm
          key={query.toString()}
          app={app}
          asked={asked}
          reload={polled.reload}
          isBusy={isAsked && polled.value === null && polled.failure === null}
        />
        <div aria-live="polite" class="main-column">
          {!isAsked ? (
            <div class="empty">
              <h2>Describe a client</h2>
              <p>
                Enter what the client tells the service. The console then shows the decision that
                the service makes, with every rule.
              </p>
            </div>
          ) : polled.value === null || polled.failure !== null ? (
            <Loading failure={polled.failure} reload={polled.reload} what="the answer" rows={8} />
          ) : (
            <ExplainAnswer app={app} explained={polled.value} />
          )}
        </div>
      </div>
    </Page>
  );
}

interface FormProps {
  readonly app: string;
  readonly asked: Values;
  readonly isBusy: boolean;
  readonly reload: () => Promise<void>;
}

function ExplainForm({ app, asked, isBusy, reload }: FormProps) {
  const overview = usePolled<Overview>(apiOf(app, 'overview'), { once: true });
  const [values, setValues] = useState<Values>({
    ...asked,
    platform: asked.platform || PLATFORMS[0],
    arch: asked.arch || ARCHES[0],
  });
  const field = (name: string) => ({
    value: values[name] ?? '',
    onInput: (value: string) => setValues({ ...values, [name]: value }),
  });
  const channels = overview.value?.channels.map(({ name }) => name) ?? [];
  const known = new Set([...channels, values.channel ?? ''].filter(Boolean));
  const choice = (name: string, options: readonly string[], none?: string) => ({
    value: values[name] ?? '',
    onChange: field(name).onInput,
    options: [
      ...(none === undefined ? [] : [['', none] as const]),
      ...options.map((option) => [option, option] as const),
    ],
  });
  const submit = (event: Event) => {
    event.preventDefault();
    const href = hrefOf({ screen: 'explain', app }, values);
    if (href === location.pathname + location.search) void reload();
    else navigate(href);
  };
  return (
    <form class="card side-column" onSubmit={submit} aria-label="The client">
      <div class="fields">
        <SelectField label="Platform" {...choice('platform', PLATFORMS)} />
        <SelectField label="Architecture" {...choice('arch', ARCHES)} />
      </div>
      <TextField
        label="Version"
        hint="Leave it empty when nothing is installed yet."
        placeholder="1.4.0"
        {...field('version')}
      />
      <div class="fields">
        <SelectField label="Channel" {...choice('channel', [...known], 'default')} />
        <SelectField label="Format" {...choice('format', FORMATS, 'the usual ones')} />
      </div>
      <TextField
        label="Installation id"
        hint="It decides when a rollout reaches the client."
        {...field('id')}
      />
      <details open={values.os_version !== '' || values.tier !== '' || values.at !== ''}>
        <summary>More about the client</summary>
        <TextField label="System version" placeholder="10.0.19045" {...field('os_version')} />
        <TextField label="Tier of the account" {...field('tier')} />
        <TextField
          label="At"
          hint="Enter a revision or a time. For a future time, the answer is a forecast."
          placeholder="2026-11-22T10:00:00Z"
          {...field('at')}
        />
      </details>
      <CheckField label="A person asks for updates by hand" {...field('manual')} />
      <CheckField label="The client accepts older versions" {...field('allow_downgrade')} />
      <div class="actions">
        <Button kind="primary" submit busy={isBusy}>
          Explain
        </Button>
      </div>
    </form>
  );
}

interface CheckProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

const CheckField = ({ label, value, onInput }: CheckProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={value === 'true'}
      onChange={(event) => onInput(event.currentTarget.checked ? 'true' : '')}
    />
    {label}
  </label>
);
