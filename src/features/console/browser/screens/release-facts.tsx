import type { ComponentChildren } from 'preact';
import type { ReleaseDetail } from '../../release-answers.ts';
import { CopyButton } from '../parts/copy.tsx';

/** What else the publisher stated. */
export function ReleaseFacts({ detail }: { readonly detail: ReleaseDetail }) {
  const { provenance, requires, mandatoryFor, endsNative, manifest } = detail;
  const { commit, buildUrl } = provenance;
  return (
    <section class="card about" aria-labelledby="facts-heading">
      <h2 id="facts-heading">About</h2>
      <dl class="facts">
        <Fact name="Commit">
          {commit === null ? (
            'not stated'
          ) : (
            <span class="hash">
              <code>{commit}</code>
              <CopyButton text={commit} what="commit" />
            </span>
          )}
        </Fact>
        <Fact name="Build">
          {buildUrl === null ? 'not stated' : <BuildLink address={buildUrl} />}
        </Fact>
        <Fact name="Updates from">{requires === null ? 'any version' : <bdi>{requires}</bdi>}</Fact>
        <Fact name="Mandatory for">
          {mandatoryFor === null ? 'no version' : <bdi>{mandatoryFor}</bdi>}
        </Fact>
        {endsNative.length > 0 && (
          <Fact name="Ends native builds for">{endsNative.join(', ')}</Fact>
        )}
        <Fact name="Manifest">{manifest}</Fact>
      </dl>
    </section>
  );
}

/** A publisher states the address: only a web address becomes a link. */
const BuildLink = ({ address }: { readonly address: string }) =>
  /^https?:\/\//.test(address) ? (
    <a href={address} rel="noreferrer noopener" target="_blank" class="wrap">
      <bdi>{address}</bdi>
    </a>
  ) : (
    <bdi class="wrap">{address}</bdi>
  );

const Fact = ({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
