import type { ChannelKeys } from '../../catalog/trust/channel-role.ts';
import { type PublicKey, parsePublicKey } from '../../catalog/trust/public-key.ts';
import { AppError } from '../../core/errors.ts';
import { readText } from '../../releases/trust/open-signer.ts';
import { type GivenKeys, type RootContent, refuseUnreachable } from './root-content.ts';

/** These functions change which keys may do what. */

interface Additions {
  readonly people?: GivenKeys | undefined;
  readonly operators?: GivenKeys | undefined;
  readonly channels: readonly { readonly channel: string; readonly given: GivenKeys }[];
}

/**
 * Returns the content with the added keys. A threshold replaces the present one only when the operator gives it.
 *
 * @throws AppError `invalid_request` for a threshold that cannot be reached
 */
export function addedTo(
  content: RootContent,
  { people, operators, channels }: Additions,
): RootContent {
  const all = [people, operators, ...channels.map(({ given }) => given)];
  const names = new Map([...content.names, ...all.flatMap((each) => [...(each?.names ?? [])])]);
  const byChannel = new Map(content.channels);
  for (const { channel, given } of channels) {
    byChannel.set(channel, joined(channel, byChannel.get(channel), given));
  }
  return {
    ...content,
    names,
    people: people === undefined ? content.people : joined('The root', content.people, people),
    operators: new Map([...content.operators, ...(operators?.keys ?? [])]),
    channels: byChannel,
  };
}

/** @param what the subject of a sentence about the keys */
export function joined(
  what: string,
  before: ChannelKeys | undefined,
  given: GivenKeys,
): ChannelKeys {
  const keys = new Map([...(before?.keys ?? []), ...given.keys]);
  const threshold = given.threshold ?? before?.threshold ?? 1;
  refuseUnreachable(what, threshold, keys.size);
  return { keys, threshold };
}

export function prolonged(content: RootContent, expiresAt: number): RootContent {
  return { ...content, expiresAt };
}

/**
 * The content without some keys.
 *
 * @param given public key files, names or ids
 * @param threshold replaces each threshold that becomes too high
 * @throws AppError `unknown_key`; `invalid_request` when a threshold cannot be reached any more
 */
export async function removedFrom(
  content: RootContent,
  given: readonly string[],
  threshold: number | undefined,
): Promise<RootContent> {
  const removed = new Set(await Promise.all(given.map((text) => findKey(content, text))));
  const without = (keys: ReadonlyMap<string, PublicKey>) =>
    new Map([...keys].filter(([id]) => !removed.has(id)));
  const reduced = (what: string, before: RootContent['people']): RootContent['people'] => {
    const keys = without(before.keys);
    if (before.threshold <= keys.size) return { keys, threshold: before.threshold };
    const lower = threshold ?? before.threshold;
    refuseUnreachable(`Without these keys, ${what}`, lower, keys.size);
    return { keys, threshold: lower };
  };
  return {
    ...content,
    people: reduced('the root', content.people),
    operators: without(content.operators),
    channels: new Map(
      [...content.channels].map(([channel, keys]) => [channel, reduced(channel, keys)]),
    ),
  };
}

async function findKey(content: RootContent, text: string): Promise<string> {
  const keys = new Map([
    ...content.people.keys,
    ...content.operators,
    ...[...content.channels.values()].flatMap((each) => [...each.keys]),
  ]);
  const byName = [...keys.keys()].filter(
    (id) => content.names.get(id) === text || (text.length >= 8 && id.startsWith(text)),
  );
  const [only] = byName;
  if (only !== undefined && byName.length === 1) return only;
  if (text.endsWith('.pub')) {
    const { id } = parsePublicKey(await readText(text), text);
    if (keys.has(id)) return id;
  }
  throw new AppError(
    'unknown_key',
    `${text} is no key of ${content.application}. "slipway trust show" lists the keys.`,
  );
}
