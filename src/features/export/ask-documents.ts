import { createHash } from 'node:crypto';
import type { Protocol } from '../../updaters/protocol.ts';
import type { StaticAddress } from '../../updaters/static-address.ts';
import type { OpenChannel } from './open-feeds.ts';
import type { PlannedDocument } from './plan.ts';
import type { Questions } from './questions.ts';

/** The answers of the service at the addresses of one dialect for one channel. */
export interface FeedDocuments {
  readonly documents: readonly PlannedDocument[];
  /** Addresses that the service redirects to a file. */
  readonly redirects: readonly { readonly path: string; readonly location: string }[];
}

/** @param bodies lets equal documents share their bytes: thousands of addresses have only a few different answers */
export async function askDocuments(
  questions: Questions,
  { application, protocol, channel }: Feed,
  bodies: SharedBodies,
): Promise<FeedDocuments> {
  const documents: PlannedDocument[] = [];
  const redirects: { path: string; location: string }[] = [];
  const base = feedSegments(application, channel.facts.name, protocol);
  const addresses = protocol.listStatic?.(channel.facts) ?? [];
  const ask = (path: StaticAddress['path']) => questions.ask([...base, ...path]);
  for (const { path, standIn } of uniqueAddresses(addresses)) {
    const name = [...base, ...path].join('/');
    const answer = await ask(path);
    if (answer.kind === 'file') redirects.push({ path: name, location: answer.location });
    else if (answer.kind === 'document') {
      const { body, contentType } = answer;
      documents.push({ path: name, body: bodies.share(body), contentType });
    } else if (standIn !== undefined) {
      const other = await ask(standIn.path);
      if (other.kind !== 'document' || !standIn.isNoUpdate(other.body.toString())) continue;
      const { body, contentType } = other;
      documents.push({ path: name, body: bodies.share(body), contentType });
    }
  }
  return { documents, redirects };
}

export interface Feed {
  readonly application: string;
  readonly protocol: Protocol;
  readonly channel: OpenChannel;
}

/** The segments of an address of a feed, below the address of the service. */
export function feedSegments(
  application: string,
  channel: string,
  { name }: Pick<Protocol, 'name'>,
): readonly string[] {
  return ['feeds', application, channel, name];
}

function uniqueAddresses(addresses: readonly StaticAddress[]): readonly StaticAddress[] {
  return [...new Map(addresses.map((each) => [each.path.join('/'), each])).values()];
}

export interface SharedBodies {
  /** Returns the first body that had the same bytes. */
  share(body: Buffer): Buffer;
}

export function createSharedBodies(): SharedBodies {
  const known = new Map<string, Buffer>();
  return {
    share: (body) => {
      const digest = createHash('sha256').update(body).digest('base64');
      const first = known.get(digest);
      if (first !== undefined) return first;
      known.set(digest, body);
      return body;
    },
  };
}
