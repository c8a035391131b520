import type { Artifact } from '../domain/release.ts';
import type { PollOffer, ProtocolResponse } from './protocol.ts';

/** The JSON of Squirrel.Mac, which Electron's MSIX updater and older update servers use as well. */

/**
 * Squirrel.Mac reads `url`, `name`, `notes` and `pub_date`. It installs every update that it gets, and compares no
 * versions: the service compares the versions.
 */
export interface SquirrelUpdate {
  readonly url: string;
  readonly name: string;
  readonly notes: string;
  readonly pub_date: string;
  /** Newer clients apply the delta to the file of `from_version`, and fall back to `url`. */
  readonly delta?: {
    readonly from_version: string;
    readonly url: string;
    readonly sha256: string;
    readonly size: number;
  };
}

/** @param delta changes the client's own version into the offered version; undefined for none */
export function describeSquirrelUpdate(
  { release, artifact, fileUrl }: Pick<PollOffer, 'release' | 'artifact' | 'fileUrl'>,
  delta?: Artifact['companions'][number],
): SquirrelUpdate {
  const { version, name, notes, releasedAt } = release;
  return {
    url: fileUrl(version, artifact.filename),
    name: name ?? version,
    notes: notes.und ?? '',
    pub_date: squirrelDate(releasedAt),
    ...(delta?.base === undefined
      ? {}
      : {
          delta: {
            from_version: delta.base,
            url: fileUrl(version, delta.filename),
            sha256: delta.sha256,
            size: delta.size,
          },
        }),
  };
}

/** `2026-11-21T10:00:00+00:00`: Squirrel.Mac reads only dates without milliseconds, and with the offset in numbers. */
function squirrelDate(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19)}+00:00`;
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

export function squirrelJson(document: object): ProtocolResponse {
  return { status: 200, headers: JSON_TYPE, body: JSON.stringify(document) };
}
