import path from 'node:path';
import {
  type ChannelKeys,
  type Delegations,
  roleName,
  type StatedRoles,
} from '../../catalog/trust/channel-role.ts';
import { digestOfSigned, type MetadataJson, tufTime } from '../../catalog/trust/metadata.ts';
import { type PublicKey, parsePublicKey, tufKeyOf } from '../../catalog/trust/public-key.ts';
import { keyList, type TrustRoot } from '../../catalog/trust/root.ts';
import { counted } from '../../core/counted.ts';
import { AppError } from '../../core/errors.ts';
import { parseChannelName } from '../../domain/channel.ts';
import { readText } from '../../releases/trust/open-signer.ts';

/** What a root of trust states: who may change it, who operates the catalog, and who signs for each channel. */
export interface RootContent {
  readonly application: string;
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly firstRevision: number;
  readonly people: ChannelKeys;
  readonly operators: ReadonlyMap<string, PublicKey>;
  readonly channels: ReadonlyMap<string, ChannelKeys>;
  /** The version of each channel's role when the root is made: see `StatedRoles`. */
  readonly roles?: StatedRoles;
  readonly names: ReadonlyMap<string, string>;
}

/** Keys with a threshold, as an option states them: `k1.pub,k2.pub:2`. */
export interface GivenKeys extends Pick<ChannelKeys, 'keys'> {
  /** Undefined: the option states no threshold. */
  readonly threshold: number | undefined;
  readonly names: ReadonlyMap<string, string>;
}

/**
 * Reads the public keys of an option.
 *
 * @param option the option, for messages
 * @throws AppError `invalid_configuration`, `invalid_request`
 */
export async function readGivenKeys(text: string, option: string): Promise<GivenKeys> {
  const [, list = '', count] = /^(.*?)(?::(\d+))?$/s.exec(text) ?? [];
  const keys = new Map<string, PublicKey>();
  const names = new Map<string, string>();
  for (const file of list.split(',').map((each) => each.trim())) {
    if (file === '') throw refuse(`${option} ${text} names no key file. Example: k1.pub,k2.pub:2.`);
    const key = parsePublicKey(await readText(file), file);
    const name = path
      .basename(file, '.pub')
      .replaceAll(/[^\w.@-]/g, '-')
      .slice(0, 64);
    if (keys.has(key.id)) {
      throw refuse(`${option}: ${file} and ${names.get(key.id)} are the same key. Name it once.`);
    }
    keys.set(key.id, key);
    names.set(key.id, name);
  }
  return { keys, threshold: count === undefined ? undefined : Number(count), names };
}

/** Reads the keys of a channel: `stable=k1.pub,k2.pub:2`. @throws AppError as {@link readGivenKeys}; `invalid_name` */
export async function readChannelKeys(
  text: string,
): Promise<{ readonly channel: string; readonly given: GivenKeys }> {
  const at = text.indexOf('=');
  if (at < 1) {
    throw refuse(`--channel ${text} names no keys. Example: --channel stable=k1.pub,k2.pub:2.`);
  }
  const channel = parseChannelName(text.slice(0, at));
  return { channel, given: await readGivenKeys(text.slice(at + 1), '--channel') };
}

/** @throws AppError `invalid_request` for a threshold that no set of signatures can reach */
export function refuseUnreachable(what: string, threshold: number, count: number): void {
  if (threshold >= 1 && threshold <= count) return;
  throw refuse(
    count === 0
      ? `${what} would have no key. Add another key in the same command, or first.`
      : `${what} would have ${counted(count, 'key')} and the threshold ${threshold}. The threshold must be at least 1, and at most the number of keys.`,
  );
}

function refuse(message: string): AppError {
  return new AppError('invalid_request', message);
}

/** The content of a root that is in use. */
export function contentOf(root: TrustRoot, delegations: Delegations): RootContent {
  const { roles } = root.metadata.signed;
  const ids = roles.root?.keyIDs ?? [];
  return {
    application: root.application,
    version: root.version,
    expiresAt: root.expiresAt,
    firstRevision: root.firstRevision,
    people: {
      keys: new Map([...root.keys].filter(([id]) => ids.includes(id))),
      threshold: roles.root?.threshold ?? 1,
    },
    operators: root.operators,
    channels: delegations.channels,
    roles: delegations.roles,
    names: root.names,
  };
}

/**
 * The `signed` part of root metadata (TUF specification, section 4.3). The keys of a channel are operators, too: people
 * who may offer a release may also withdraw it.
 */
export function renderRoot(content: RootContent): MetadataJson['signed'] {
  const { people, application, version, firstRevision } = content;
  const operators = operatorsOf(content);
  const all = new Map([...people.keys, ...operators]);
  const byPeople = { keyids: [...people.keys.keys()], threshold: people.threshold };
  const byOperators = { keyids: [...operators.keys()], threshold: 1 };
  return {
    _type: 'root',
    spec_version: '1.0.31',
    version,
    expires: tufTime(content.expiresAt),
    consistent_snapshot: true,
    keys: keysJson(all),
    roles: { root: byPeople, targets: byPeople, snapshot: byOperators, timestamp: byOperators },
    x_slipway_application: application,
    x_slipway_first_revision: firstRevision,
    x_slipway_targets: digestOfSigned(renderDelegations(content)),
    x_slipway_names: Object.fromEntries([...content.names].filter(([id]) => all.has(id))),
  };
}

/** The operators of a content with the keys of its channels. */
export function operatorsOf({ operators, channels }: RootContent): ReadonlyMap<string, PublicKey> {
  return new Map([...operators, ...[...channels.values()].flatMap(({ keys }) => [...keys])]);
}

/** The `signed` part of the targets metadata that belong to the root: only delegations. */
export function renderDelegations(content: RootContent): MetadataJson['signed'] {
  const { application, version, channels, roles } = content;
  const all = new Map([...channels.values()].flatMap(({ keys }) => [...keys]));
  return {
    _type: 'targets',
    spec_version: '1.0.31',
    version,
    expires: tufTime(content.expiresAt),
    targets: {},
    delegations: {
      keys: keysJson(all),
      roles: [...channels].map(([channel, { keys, threshold }]) => ({
        name: roleName(channel),
        keyids: [...keys.keys()],
        threshold,
        terminating: true,
        paths: [`${application}/${channel}/*/*.json`],
      })),
    },
    x_slipway_application: application,
    ...(roles === undefined ? {} : { x_slipway_roles: Object.fromEntries(roles) as never }),
  };
}

function keysJson(keys: ReadonlyMap<string, PublicKey>): Record<string, never> {
  const json = [...keys].map(([id, key]) => [id, tufKeyOf(key).toJSON()]);
  return Object.fromEntries(json) as Record<string, never>;
}

/** Lines about who may do what, for people. */
export function describeRoot(content: RootContent): readonly (readonly [string, string])[] {
  const list = (keys: ReadonlyMap<string, PublicKey>): string => keyList(content, keys.keys());
  const { people, channels } = content;
  return [
    ['change the keys', `${people.threshold} of ${list(people.keys)}`],
    ...[...channels].map(
      ([channel, { keys, threshold }]) =>
        [`offer on ${channel}`, `${threshold} of ${list(keys)}`] as const,
    ),
    [channels.size === 0 ? 'operate and offer' : 'operate', `any of ${list(operatorsOf(content))}`],
  ];
}
