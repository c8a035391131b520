import type { ArtifactIdentity } from './release.ts';

/** A file of a release, as its stable address names it. */
export interface NamedFile {
  readonly application: string;
  readonly channel: string;
  readonly version: string;
  readonly artifact: ArtifactIdentity;
}

/**
 * The path of the stable address of a file, which redirects to a presigned URL. Unlike that URL, the address does not
 * expire, so a cached answer may contain it.
 */
export function downloadPath({ application, channel, version, artifact }: NamedFile): string {
  const { platform, arch, format } = artifact;
  const query = new URLSearchParams({ arch, format, version, channel, app: application });
  return `/api/v1/desktop/download/${platform}?${query}`;
}
