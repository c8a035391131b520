import type { Explained, ExplainedRelease } from '../../answers.ts';
import { Icon } from '../parts/icon.tsx';
import { Sentence, Time } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';

interface Props {
  readonly app: string;
  readonly explained: Explained;
}

export function ExplainAnswer({ app, explained }: Props) {
  const { offered, headline, revision, at, releases, remedies } = explained;
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
      {remedies.length > 0 && (
        <section class="card" aria-labelledby="remedies-heading">
          <h2 id="remedies-heading">What would change it</h2>
          <ul class="plain-list">
            {remedies.map((remedy) => (
              <li key={remedy}>
                <Sentence text={remedy} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="card" aria-labelledby="rules-heading">
        <h2 id="rules-heading">Every rule, in order</h2>
        {releases.length === 0 && <p>The decision looked at no release.</p>}
        {releases.map((release) => (
          <Rules
            key={`${release.version} ${release.channel}`}
            app={app}
            release={release}
            isOpen={release.version === offered || release === releases[0]}
          />
        ))}
      </section>
    </>
  );
}

interface RulesProps {
  readonly app: string;
  readonly release: ExplainedRelease;
  readonly isOpen: boolean;
}

function Rules({ app, release, isOpen }: RulesProps) {
  const { version, channel, outcome, rules } = release;
  const failed = rules.filter(({ passes }) => !passes).length;
  return (
    <details class="rules" open={isOpen}>
      <summary>
        <bdi class="version">{version}</bdi>
        <span class="tag">{channel}</span>
        <span class={`status ${failed === 0 ? 'good' : 'critical'}`}>
          <Icon name={failed === 0 ? 'check' : 'cross'} />
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
