import { z } from 'zod';
import { metadataPath, targetFilePath } from '../../answers/tuf/tuf-path.ts';
import { digestSchema } from '../../store/sequence/envelope.ts';
import type { OpenChannel } from './open-feeds.ts';
import type { PlannedDocument, PlannedFile } from './plan.ts';
import type { Questions } from './questions.ts';

/** Asks for the signed metadata of an application, so that clients of TUF can verify an export as well. */

interface TufPlan {
  readonly documents: readonly PlannedDocument[];
  readonly files: readonly PlannedFile[];
}

const NOTHING: TufPlan = { documents: [], files: [] };

const versioned = z.object({ version: z.int().positive() });
const metaSchema = z.object({ signed: z.object({ meta: z.record(z.string(), versioned) }) });
const roleSchema = z.object({
  signed: z.object({
    targets: z.record(z.string(), z.object({ hashes: z.object({ sha256: digestSchema }) })),
  }),
});

/**
 * Plans the metadata, the manifests of the releases that every client may get, and the files of these releases, at
 * addresses with their digests.
 *
 * @returns nothing for an application without a root of trust
 */
export async function askTuf(
  questions: Questions,
  application: string,
  channels: readonly OpenChannel[],
): Promise<TufPlan> {
  const documents: PlannedDocument[] = [];
  const ask = async (name: string, isLasting = true): Promise<Buffer | undefined> => {
    const path = `tuf/${application}/${name}`;
    const answer = await questions.ask(path.split('/'));
    if (answer.kind !== 'document') return undefined;
    const { body, contentType } = answer;
    documents.push({ path, body, contentType, isLasting });
    return body;
  };
  const timestamp = await ask('timestamp.json', false);
  if (timestamp === undefined) return NOTHING;
  const snapshotVersion = metaOf(timestamp)['snapshot.json']?.version ?? 0;
  const snapshot = await ask(metadataPath({ kind: 'snapshot', version: snapshotVersion }));
  if (snapshot === undefined) return NOTHING;
  const meta = metaOf(snapshot);
  let root = 1;
  while ((await ask(metadataPath({ kind: 'root', version: root }))) !== undefined) root += 1;
  await ask(metadataPath({ kind: 'targets', version: meta['targets.json']?.version ?? 0 }));
  const files = new Map<string, PlannedFile>();
  for (const { view, offered } of channels) {
    const channel = view.name;
    const version = meta[`channel-${channel}.json`]?.version;
    const role = version && (await ask(metadataPath({ kind: 'role', channel, version })));
    if (!role) continue;
    const { targets } = roleSchema.parse(JSON.parse(role.toString())).signed;
    const releases = new Map(offered.map(({ release }) => [release.version, release]));
    for (const [target, { hashes }] of Object.entries(targets)) {
      const [, , ofVersion = '', name = ''] = target.split('/');
      const release = releases.get(ofVersion);
      if (release === undefined) continue;
      const at = (digest: string, filename: string): string =>
        targetFilePath(application, { channel, version: ofVersion, digest, name: filename });
      await ask(at(hashes.sha256, name));
      for (const artifact of release.artifacts) {
        for (const file of [artifact, ...artifact.companions]) {
          const path = `tuf/${application}/${at(file.sha256, file.filename)}`;
          files.set(path, { path, application, file, isReplaced: false });
        }
      }
    }
  }
  return { documents, files: [...files.values()] };
}

function metaOf(metadata: Buffer): Readonly<Record<string, { readonly version: number }>> {
  return metaSchema.parse(JSON.parse(metadata.toString())).signed.meta;
}
