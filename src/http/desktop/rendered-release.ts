import type { Artifact, Release } from '../../domain/release.ts';
import type { PresignedUrl } from '../../object-store/object-store.ts';

/**
 * The part of an update's answer that is the same for every client of an artifact, as JSON text without
 * its opening brace; made once per artifact, notes and signing window.
 */
export interface RenderedReleases {
  render(release: Release, artifact: Artifact, notes: string | null, link: PresignedUrl): string;
}

interface Rendered {
  readonly link: PresignedUrl;
  /** As many as a release has translations of its notes. */
  readonly byNotes: Map<string | null, string>;
}

export function createRenderedReleases(): RenderedReleases {
  // By artifact, not by link: releases with the same bytes share a link. Weak, so that it goes with it.
  const byArtifact = new WeakMap<Artifact, Rendered>();
  return {
    render: (release, artifact, notes, link) => {
      let rendered = byArtifact.get(artifact);
      if (rendered?.link !== link) {
        rendered = { link, byNotes: new Map() };
        byArtifact.set(artifact, rendered);
      }
      let text = rendered.byNotes.get(notes);
      if (text === undefined) {
        text = renderRelease(release, artifact, notes, link);
        rendered.byNotes.set(notes, text);
      }
      return text;
    },
  };
}

function renderRelease(
  release: Release,
  artifact: Artifact,
  notes: string | null,
  link: PresignedUrl,
): string {
  return JSON.stringify({
    version: release.version,
    released_at: release.releasedAt,
    notes,
    platform: artifact.platform,
    arch: artifact.arch,
    download: describeDownload(artifact, link),
  }).slice(1);
}

/** A file and the link to it, as answers state them. */
export function describeDownload(artifact: Artifact, link: PresignedUrl) {
  const { filename, format, size, sha256, sha512, signatures } = artifact;
  return {
    url: link.url,
    expires_at: link.expiresAt.toISOString(),
    filename,
    format,
    size,
    sha256,
    sha512,
    signatures: signatures.map(({ scheme, keyId, value }) => ({ scheme, key_id: keyId, value })),
  };
}
