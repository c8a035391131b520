import { size } from '../../../../web/browser/size.ts';
import type { ArtifactDetail, ReleaseDetail } from '../../release-answers.ts';
import { counted } from '../format.ts';
import { CopyButton } from '../parts/copy.tsx';

export function ArtifactList({ detail }: { readonly detail: ReleaseDetail }) {
  const { artifacts, signedDocuments } = detail;
  return (
    <section class="card" aria-labelledby="artifacts-heading">
      <h2 id="artifacts-heading">Artifacts</h2>
      {artifacts.length === 0 && <p>This release has no artifacts yet.</p>}
      <ul class="artifacts">
        {artifacts.map((artifact) => (
          <li key={artifact.filename}>
            <Artifact artifact={artifact} />
          </li>
        ))}
      </ul>
      {signedDocuments.length > 0 && (
        <p class="hint">
          Signed by the publisher:{' '}
          {signedDocuments.map((name) => (
            <bdi key={name}>{name} </bdi>
          ))}
        </p>
      )}
    </section>
  );
}

function Artifact({ artifact }: { readonly artifact: ArtifactDetail }) {
  const { platform, arch, format, filename, signatures, companions, minimumOsVersion } = artifact;
  return (
    <details>
      <summary>
        <span class="target">
          {platform}-{arch}
        </span>
        <span class="tag">{format}</span>
        <bdi class="filename" title={filename}>
          {filename}
        </bdi>
        <span class="numeric">{size(artifact.size)}</span>
      </summary>
      <dl class="facts">
        <Hash name="SHA-256" value={artifact.sha256} />
        <Hash name="SHA-512" value={artifact.sha512} />
        {signatures.map((signature) => (
          <Hash
            key={signature.value}
            name={`${signature.scheme}${signature.keyId === null ? '' : ` ${signature.keyId}`}`}
            value={signature.value}
          />
        ))}
        <div>
          <dt>Signatures</dt>
          <dd>{signatures.length === 0 ? 'none' : counted(signatures.length, 'signature')}</dd>
        </div>
        <div>
          <dt>Needs</dt>
          <dd>
            {minimumOsVersion === null ? 'any system version' : `${platform} ${minimumOsVersion}`}
          </dd>
        </div>
        {companions.map((companion) => (
          <div key={companion.filename}>
            <dt>{companion.kind}</dt>
            <dd>
              <bdi>{companion.filename}</bdi>, {size(companion.size)}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

const Hash = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div>
    <dt>
      <bdi>{name}</bdi>
    </dt>
    <dd class="hash">
      <code>{value}</code>
      <CopyButton text={value} what={name} />
    </dd>
  </div>
);
