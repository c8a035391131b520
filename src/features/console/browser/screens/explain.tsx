import { useState } from 'preact/hooks';
import { ARCHES, FORMATS, PLATFORMS } from '../../../../domain/platform.ts';
import type { Explained, Overview } from '../../answers.ts';
import { apiOf } from '../api.ts';
import { Button } from '../parts/button.tsx';
import { optionsOf, SelectField, TextField, withChosen } from '../parts/field.tsx';
import { Icon } from '../parts/icon.tsx';
import { Loading, Page } from '../parts/page.tsx';
import { Sentence, Time } from '../parts/time.tsx';
import { hrefOf, navigate, searchOf } from '../router.ts';
import { usePolled } from '../state/polled.ts';

interface Props {
  readonly app: string;
  readonly query: URLSearchParams;
}

const NAMES = [
  'version',
  'platform',
  'arch',
  'channel',
  'format',
  'os_version',
  'id',
  'manual',
  'allow_downgrade',
  'tier',
  'at',
] as const;
type Values = Readonly<Record<string, string>>;

const valuesOf = (query: URLSearchParams): Values =>
  Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? '']));

export function ExplainScreen({ app, query }: Props) {
  const asked = valuesOf(query);
  const isAsked = asked.platform !== '';
  const path = isAsked ? apiOf(app, `explain${searchOf(asked)}`) : null;
  const polled = usePolled<Explained>(path, { once: true });
  const overview = usePolled<Overview>(apiOf(app, 'overview'), { once: true });
  const page = {
    title: 'Explain',
    above: <bdi>{app}</bdi>,
    below: 'Why a client gets a release, or none',
  };
  // The application does not exist, so no client can be described.
  if (overview.failure?.status === 404) {
    return (
      <Page {...page}>
        <Loading app={app} failure={overview.failure} reload={overview.reload} what="the answer" />
      </Page>
    );
  }
  return (
    <Page {...page}>
      <div class="columns explain">
        <ExplainForm
          key={query.toString()}
          app={app}
          channels={overview.value?.channels.map(({ name }) => name) ?? []}
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
            <Loading
              app={app}
              failure={polled.failure}
              reload={polled.reload}
              what="the answer"
              rows={8}
            />
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
  readonly channels: readonly string[];
  readonly asked: Values;
  readonly isBusy: boolean;
  readonly reload: () => Promise<void>;
}

function ExplainForm({ app, channels, asked, isBusy, reload }: FormProps) {
  const [values, setValues] = useState<Values>({
    ...asked,
    platform: asked.platform || PLATFORMS[0],
    arch: asked.arch || ARCHES[0],
  });
  const field = (name: string) => ({
    value: values[name] ?? '',
    onInput: (value: string) => setValues({ ...values, [name]: value }),
  });
  const known = withChosen(channels, values.channel);
  const choice = (name: string, options: readonly string[], none?: string) => ({
    value: values[name] ?? '',
    onChange: field(name).onInput,
    options: optionsOf(options, none),
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
        <SelectField label="Channel" {...choice('channel', known, 'default')} />
        <SelectField label="Format" {...choice('format', FORMATS, 'usual')} />
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

interface AnswerProps {
  readonly app: string;
  readonly explained: Explained;
}

function ExplainAnswer({ app, explained }: AnswerProps) {
  const { headline, compared, isPast, remarks, remedies } = explained;
  const { version: offered, catalog_revision: revision, at, releases } = explained.explanation;
  return (
    <>
      <section class={`card answer ${offered === null ? 'none' : 'offered'}`}>
        <Icon name={offered === null ? 'skip' : 'check'} />
        <div>
          <h2>
            <Sentence text={headline} />
          </h2>
          <p class="hint">
            Decided for <Time at={at} ago /> from revision {revision}.
          </p>
        </div>
      </section>
      {remarks.length > 0 && (
        <section class="card" aria-labelledby="remarks-heading">
          <h2 id="remarks-heading">Also</h2>
          <ul class="plain-list">
            {remarks.map((remark) => (
              <li key={remark}>
                <Sentence text={remark} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {remedies.length > 0 && (
        <section class="card" aria-labelledby="remedies-heading">
          <h2 id="remedies-heading">
            {isPast ? 'What would have changed it then' : 'What would change it'}
          </h2>
          {remedies.map((each) => (
            <RemediesOfRelease key={each.version} app={app} {...each} />
          ))}
        </section>
      )}
      <section class="card" aria-labelledby="rules-heading">
        <h2 id="rules-heading">Every rule, in order</h2>
        {releases.length === 0 && <p>The decision looked at no release.</p>}
        {releases.map((release, index) => (
          <Rules
            key={`${release.version} ${release.channel}`}
            app={app}
            release={release}
            sentences={compared[index] ?? []}
            isOpen={release.version === offered || release === releases[0]}
          />
        ))}
      </section>
    </>
  );
}

type RemediesProps = Explained['remedies'][number] & { readonly app: string };

/** The changes after which the client would be offered a release, each with its command. */
function RemediesOfRelease({ app, version, failedRules, remedies }: RemediesProps) {
  return (
    <div class="remedies">
      {version !== null && (
        <h3>
          For <a href={hrefOf({ screen: 'release', app, version })}>{version}</a>
        </h3>
      )}
      {failedRules > 1 && (
        <p>{failedRules} rules hold it back, and each of them must admit the client:</p>
      )}
      <ul class="plain-list">
        {remedies.map(({ text, command }) => (
          <li key={text}>
            <Sentence text={command === null ? `${text}.` : `${text}:`} />
            {command !== null && <pre class="command">{command}</pre>}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface RulesProps {
  readonly app: string;
  readonly release: Explained['explanation']['releases'][number];
  /** For each rule of the release, a sentence about the values that the rule compared. */
  readonly sentences: readonly string[];
  readonly isOpen: boolean;
}

function Rules({ app, release, sentences, isOpen }: RulesProps) {
  const { version, channel, outcome } = release;
  const rules = release.rules
    .map(({ rule, result }, index) => ({
      rule,
      isChecked: result !== 'not_checked',
      passes: result === 'passed',
      sentence: sentences[index] ?? '',
    }))
    .filter(({ isChecked }) => isChecked);
  const isAdmitted = rules.every(({ passes }) => passes);
  return (
    <details class="rules" open={isOpen}>
      <summary>
        <bdi class="version">{version}</bdi>
        <span class="tag">{channel}</span>
        <span class={`status ${isAdmitted ? 'good' : 'critical'}`}>
          <Icon name={isAdmitted ? 'check' : 'cross'} />
          <bdi>{outcome === 'offer' ? 'offered' : outcome.replaceAll('_', ' ')}</bdi>
        </span>
      </summary>
      <ol>
        {rules.map(({ rule, passes, sentence }) => (
          <li key={rule}>
            <span class={`status ${passes ? 'good' : 'critical'}`}>
              <Icon name={passes ? 'check' : 'cross'} />
              {passes ? 'passes' : 'fails'}
            </span>
            <strong>{rule.replaceAll('_', ' ')}</strong>
            <Sentence text={sentence} />
          </li>
        ))}
      </ol>
      <a href={hrefOf({ screen: 'release', app, version })}>
        Release <bdi>{version}</bdi>
      </a>
    </details>
  );
}
