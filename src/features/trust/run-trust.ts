import { rootKey } from '../../catalog/documents/keys.ts';
import type { Channels } from '../../catalog/documents/revision-document.ts';
import { readLastRevisionNumber, readRevision } from '../../catalog/reading/read.ts';
import type { ApplicationTrust } from '../../catalog/trust/application-trust.ts';
import { createTrust } from '../../catalog/trust/create-trust.ts';
import { renderMetadata } from '../../catalog/trust/metadata.ts';
import { type PublicKey, shortId } from '../../catalog/trust/public-key.ts';
import type { WriterDeps } from '../../catalog/writing/change.ts';
import { renewFreshness } from '../../catalog/writing/signing.ts';
import { askHidden } from '../../cli/ask-hidden.ts';
import { isInteractive, requireConsent } from '../../cli/consent.ts';
import { type Context, openContext } from '../../cli/context.ts';
import { alignColumns, formatTime, indented, printJson } from '../../cli/output.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { AppError } from '../../core/errors.ts';
import type { UncoveredOffer } from '../../releases/trust/find-uncovered.ts';
import { isPresent } from '../../store/presence.ts';
import { digestOf } from '../../store/sequence/envelope.ts';
import { commitRoot, type RootChange, type SignedChannel, signRoot } from './change-root.ts';
import { checkTrust } from './check-trust.ts';
import { createKeyFiles, publicFileOf, writeNew } from './new-key.ts';
import {
  contentOf,
  describeRoot,
  operatorsOf,
  type RootContent,
  readChannelKeys,
  readGivenKeys,
} from './root-content.ts';
import { addedTo, joined, prolonged, removedFrom } from './root-edits.ts';

interface AppOptions {
  readonly app?: string;
  readonly json: boolean;
}

interface ChangeOptions extends AppOptions {
  readonly dryRun: boolean;
  readonly yes: boolean;
}

/** The options of a change after which the given keys may sign releases. */
interface RootOptions extends ChangeOptions {
  /** See `--releases`. */
  readonly releases?: string;
}

interface KeyOptions {
  readonly channel?: readonly string[];
  readonly operators?: string;
}

const DAY_MS = 86_400_000;

export async function newKey(
  terminal: Terminal,
  file: string,
  { passphrase: isProtected, p256 }: { readonly passphrase: boolean; readonly p256: boolean },
): Promise<void> {
  const passphrase = isProtected ? await askNewPassphrase(terminal, file) : undefined;
  const key = await createKeyFiles({ file, passphrase, isP256: p256 });
  print(terminal, `Made the ${key.algorithm} key ${shortId(key.id)}:`);
  const rows = [
    [
      file,
      `the private key. ${isProtected ? 'Keep it where only you can read it.' : 'It has no passphrase: give it only to the machine that signs.'}`,
    ],
    [publicFileOf(file), 'the public key, for "slipway trust init" and "slipway trust add"'],
  ];
  for (const line of indented(2, alignColumns(rows))) print(terminal, line);
}

async function askNewPassphrase(terminal: Terminal, file: string): Promise<string> {
  const given = terminal.environment().TRUST_KEY_PASSPHRASE;
  const typed = given ?? (await askHidden(terminal, `New passphrase of ${file}`));
  if (typed === undefined || typed.length < 8) {
    throw new AppError(
      'invalid_request',
      'A passphrase needs at least 8 characters. Type one, set TRUST_KEY_PASSPHRASE, or give --no-passphrase.',
    );
  }
  if (given !== undefined || terminal.stdin.isTTY !== true) return typed;
  if ((await askHidden(terminal, 'The same passphrase again')) === typed) return typed;
  throw new AppError('invalid_request', 'The two passphrases differ. Nothing was written.');
}

export async function init(
  terminal: Terminal,
  options: RootOptions &
    KeyOptions & { readonly root: string; readonly out: string; readonly expires: number },
): Promise<void> {
  const context = await openContext(terminal, { mayBeNew: true, makesRoot: true });
  const application = options.app ?? context.config.defaultApplication;
  const unverified = { ...context, trust: undefined };
  const newest = await readRevision(unverified, application);
  // Without its first root, a signed application gets a new one: the people have lost the keys of the old root.
  const hasRoot = await isPresent(context.store, rootKey(application, 1));
  if (newest?.signed.trust !== undefined && hasRoot) {
    throw new AppError(
      'status_forbids',
      `${application} has a root of trust already. To change its keys: slipway trust add, remove or rotate.`,
    );
  }
  const signers = await context.trust.signers();
  const given = await readGivenKeys(options.root, '--root');
  const people = joined('The root', undefined, given);
  const empty: RootContent = {
    application,
    version: 1,
    expiresAt: context.clock.now() + options.expires * DAY_MS,
    firstRevision: (await readLastRevisionNumber(unverified, application)) + 1,
    people,
    operators: new Map(),
    channels: new Map(),
    roles: new Map(Object.entries(newest?.signed.trust?.channels ?? {})),
    names: given.names,
  };
  const added = addedTo(empty, await readAdditions(options));
  const content =
    added.operators.size === 0 && added.channels.size === 0
      ? { ...added, operators: people.keys }
      : added;
  const signed = await signRoot(content, undefined, signers);
  const change = (deps: WriterDeps, seen?: Channels): Promise<RootChange> =>
    commitRoot({ ...deps, trust: undefined }, signed, {
      ...(seen === undefined ? {} : { seen }),
      trust: createTrust({
        store: deps.store,
        clock: deps.clock,
        roots: new Map([[application, signed.root]]),
        unsigned: new Set(),
        signers: async () => signers,
        freshMs: context.config.trust.freshMs,
      }),
      reason: 'root 1',
    });
  const would = await change({ ...context, ...context.rehearse() });
  await askAboutOffers(terminal, options, content, would);
  // The file comes first: without it, no command could read the signed catalog.
  if (!options.dryRun) await writeNew(options.out, signed.rootBytes, 0o644);
  const made = await change(context, would.before);
  reportRoot(terminal, options, content, made);
  if (options.json || options.dryRun) return;
  print(
    terminal,
    `Next: copy ${options.out} to each machine that runs the service or a command, and set TRUST_ROOT to it. Keep a copy outside the bucket: whoever can change it decides whom they trust.`,
  );
}

export async function add(
  terminal: Terminal,
  options: RootOptions & KeyOptions & { readonly root?: string },
): Promise<void> {
  const additions = await readAdditions(options);
  const people =
    options.root === undefined ? undefined : await readGivenKeys(options.root, '--root');
  if (
    people === undefined &&
    additions.operators === undefined &&
    additions.channels.length === 0
  ) {
    throw new AppError(
      'invalid_request',
      'Nothing to add. Give --operators, --channel or --root with public key files.',
    );
  }
  await changeRoot(terminal, options, (content) => addedTo(content, { ...additions, people }));
}

export async function remove(
  terminal: Terminal,
  keys: readonly string[],
  options: RootOptions & KeyOptions & { readonly threshold?: number },
): Promise<void> {
  // A key may be the only one of a channel. A thief of it could make a separate addition fail.
  const additions = await readAdditions(options);
  await changeRoot(terminal, options, (content) =>
    removedFrom(addedTo(content, additions), keys, options.threshold),
  );
}

export async function rotate(
  terminal: Terminal,
  options: RootOptions & { readonly expires: number },
): Promise<void> {
  await changeRoot(terminal, options, (content, now) =>
    prolonged(content, now + options.expires * DAY_MS),
  );
}

/** Makes and commits the next root. */
async function changeRoot(
  terminal: Terminal,
  options: RootOptions,
  edit: (content: RootContent, now: number) => RootContent | Promise<RootContent>,
): Promise<void> {
  const context = await openContext(terminal);
  const { trust: known, application } = openTrusted(context, options.app);
  const previous = await readContent(known);
  const edited = await edit(previous, context.clock.now());
  const operators = operatorsOf(edited);
  const removed = new Set([...operatorsOf(previous).keys()].filter((id) => !operators.has(id)));
  // A thief of a key that is removed now may have signed a timestamp that stops every command.
  known.distrust(removed);
  const newest = await readRevision(context, application);
  const signers = await context.trust.signers();
  const content = {
    ...edited,
    version: previous.version + 1,
    firstRevision: (await readLastRevisionNumber(context, application)) + 1,
    roles: new Map(Object.entries(newest?.signed.trust?.channels ?? {})),
  };
  const signed = await signRoot(content, previous, signers);
  const change = (deps: WriterDeps, seen?: Channels): Promise<RootChange> => {
    const trust = context.trust.signingWith(signers, deps.store);
    for (const each of [deps.trust, trust]) each?.of(application)?.distrust(removed);
    const reason = `root ${content.version}`;
    return commitRoot(deps, signed, { trust, reason, ...(seen === undefined ? {} : { seen }) });
  };
  const would = await change({ ...context, ...context.rehearse() });
  await askAboutOffers(terminal, options, content, would);
  reportRoot(terminal, options, content, await change(context, would.before));
}

async function readAdditions({ channel = [], operators }: KeyOptions) {
  const channels = await Promise.all(channel.map(readChannelKeys));
  const given = operators === undefined ? undefined : await readGivenKeys(operators, '--operators');
  return { channels, operators: given };
}

/**
 * Shows the releases that the given keys sign, and asks about them and about releases that are no longer offered. A
 * script states the digest of the shown list, because a thief of a key may have chosen these releases. It also has to
 * say that a loss of offers is intended.
 *
 * @throws AppError `status_forbids`; `state_changed` for the digest of another list
 */
async function askAboutOffers(
  terminal: Terminal,
  { releases: given, json }: RootOptions,
  content: RootContent,
  { lost, signs }: RootChange,
): Promise<void> {
  const { session } = terminal;
  if (lost.length + signs.length === 0) return;
  if (!json) for (const line of signedLines(signs)) print(terminal, line);
  const digest = digestOf(signs);
  if (given !== undefined && given !== digest) {
    throw new AppError(
      'state_changed',
      `--releases names another list than the keys would sign now. Nothing was changed. Look at the list with --dry-run.`,
    );
  }
  const kept = lost.length === 0 ? '' : ' Clients that have them keep them.';
  const text = `${offersSentences(content, { lost, signs })}${kept}`;
  if (session?.isDryRun === true) return;
  if (isInteractive(terminal)) return requireConsent(terminal, text);
  if (signs.length > 0 && given === undefined) {
    const why = `${text} Nothing was changed. Look at these releases with --dry-run, and add the option --releases that it prints.`;
    throw new AppError('status_forbids', why);
  }
  if (lost.length === 0 || session?.hasConsented === true) return;
  const why = `${text} Nothing was changed. To make the change all the same, add --yes.`;
  throw new AppError('status_forbids', why);
}

/** Lists what the given keys sign: settings of channels, and releases with the digests of their manifests. */
function signedLines(signs: readonly SignedChannel[]): readonly string[] {
  if (signs.length === 0) return [];
  const rows = signs.flatMap(({ channel, inherits, allow_downgrade: allows, releases }) => [
    ...(inherits === null ? [] : [[channel, 'inherits', inherits, '']]),
    ...(allows ? [[channel, 'allows downgrades', '', '']] : []),
    ...releases.map(({ version, manifest }) => [
      channel,
      version,
      `manifest ${manifest.number}`,
      manifest.digest,
    ]),
  ]);
  return [
    'The keys that you give sign, with the SHA-256 of each manifest:',
    ...indented(2, alignColumns(rows)),
    `In a script: --releases ${digestOf(signs)}`,
  ];
}

const OFFERS_SHOWN = 10;

function offersSentences(
  { channels }: RootContent,
  { lost, signs }: Pick<RootChange, 'lost' | 'signs'>,
): string {
  const named = (offers: readonly UncoveredOffer[]): string => {
    const names = offers.map(({ channel, version }) => `${version} on ${channel}`);
    const more = names.length > OFFERS_SHOWN ? ` and ${names.length - OFFERS_SHOWN} more` : '';
    return `${names.slice(0, OFFERS_SHOWN).join(', ')}${more}`;
  };
  const keyless = [...new Set(lost.map(({ channel }) => channel))].filter(
    (channel) => !channels.has(channel),
  );
  const keys =
    keyless.length === 0
      ? 'Give the keys of those channels with --key too, to sign them now.'
      : `The root names no keys for ${keyless.join(', ')}, so nothing is offered there: add --channel ${keyless[0]}=NAME.pub:1.`;
  const releases = signs.flatMap(({ channel, releases: of }) =>
    of.map(({ version }) => ({ channel, version })),
  );
  const what =
    releases.length === 0 ? 'the settings of channels' : `these releases: ${named(releases)}`;
  return [
    ...(signs.length === 0 ? [] : [`With this change, the keys that you give sign ${what}.`]),
    ...(lost.length === 0
      ? []
      : [
          `These releases are not offered from then on, because too few keys of their channels signed them: ${named(lost)}.`,
          keys,
        ]),
  ].join(' ');
}

function reportRoot(
  terminal: Terminal,
  { json }: AppOptions,
  content: RootContent,
  { root, revision, lost, signs }: RootChange,
): void {
  if (json) {
    printJson(terminal, {
      app: root.application,
      root: root.version,
      revision,
      lost,
      signs,
      releases: signs.length === 0 ? null : digestOf(signs),
    });
    return;
  }
  print(
    terminal,
    `Root ${root.version} of ${root.application} is in use since catalog revision ${revision}:`,
  );
  printContent(terminal, content);
  const sentences = offersSentences(content, { lost, signs });
  if (sentences !== '') print(terminal, sentences);
  if (root.version > 1 && terminal.session?.isDryRun !== true) {
    const file = `root-${root.version}.json`;
    print(
      terminal,
      `Next: slipway trust show --out ${file}, and replace TRUST_ROOT with it on each machine.`,
    );
  }
}

function printContent(terminal: Terminal, content: RootContent): void {
  for (const line of indented(2, alignColumns(describeRoot(content)))) print(terminal, line);
  print(terminal, `The root expires on ${formatTime(new Date(content.expiresAt).toISOString())}.`);
}

/** @throws AppError `invalid_configuration` without a root */
export function openTrusted(
  context: Context,
  app: string | undefined,
): { readonly application: string; readonly trust: ApplicationTrust } {
  const application = app ?? context.config.defaultApplication;
  const trust = context.trust.of(application);
  if (trust !== undefined) return { application, trust };
  throw new AppError(
    'invalid_configuration',
    `No root of trust is installed for ${application}. Set TRUST_ROOT to its root file; "slipway trust init" makes one.`,
  );
}

async function readContent(trust: ApplicationTrust): Promise<RootContent> {
  const root = await trust.newestRoot();
  return contentOf(root, await trust.delegationsAt(root.firstRevision));
}

export async function show(
  terminal: Terminal,
  { app, json, out }: AppOptions & { readonly out?: string },
): Promise<void> {
  const context = await openContext(terminal);
  const { application, trust } = openTrusted(context, app);
  const content = await readContent(trust);
  if (out !== undefined) {
    await writeNew(out, renderMetadata((await trust.newestRoot()).json), 0o644);
  }
  if (json) {
    printJson(terminal, { app: application, ...contentJson(content) });
    return;
  }
  print(terminal, `Root ${content.version} of ${application} in ${context.place.text}:`);
  printContent(terminal, content);
  if (out !== undefined) print(terminal, `Wrote it to ${out}.`);
}

function contentJson(content: RootContent) {
  const rows = (keys: ReadonlyMap<string, PublicKey>) =>
    [...keys].map(([id, { algorithm }]) => ({
      id,
      name: content.names.get(id) ?? null,
      algorithm,
    }));
  return {
    root: content.version,
    expires: new Date(content.expiresAt).toISOString(),
    first_revision: content.firstRevision,
    people: { threshold: content.people.threshold, keys: rows(content.people.keys) },
    operators: rows(content.operators),
    channels: Object.fromEntries(
      [...content.channels].map(([channel, { keys, threshold }]) => [
        channel,
        { threshold, keys: rows(keys) },
      ]),
    ),
  };
}

export async function renew(
  terminal: Terminal,
  options: ChangeOptions & { readonly revision?: number },
): Promise<void> {
  const context = await openContext(terminal);
  const { application, trust: known } = openTrusted(context, options.app);
  const newest = await readRevision(context, application);
  if (newest?.signed.trust === undefined) {
    throw new AppError('unknown_application', `${application} has no signed catalog revision yet.`);
  }
  const { revision, at, by, change, trust } = newest.signed;
  const what = [change.kind, change.version].filter((word) => word !== null).join(' ');
  const state = `Catalog revision ${revision} of ${application}: ${what}, ${formatTime(at)}, by ${by}.`;
  await refuseUnknown(known, revision, options.revision, {
    isAsked: isInteractive(terminal) && !options.yes,
    now: context.clock.now(),
  });
  await requireConsent(
    terminal,
    `${state} Services will trust that it is the newest state. If you know of a later change, answer no, and restore the store first.`,
  );
  const fresh = options.dryRun
    ? undefined
    : await renewFreshness(context, application, { revision, digest: newest.digest, trust });
  const expires = fresh && new Date(fresh.expiresAt).toISOString();
  if (options.json) {
    printJson(terminal, { app: application, revision, expires: expires ?? null });
    return;
  }
  print(terminal, state);
  if (expires !== undefined)
    print(terminal, `Signed. The timestamp expires on ${formatTime(expires)}.`);
}

/** Without a person, the last timestamp must be younger than this: see `watch-freshness.ts`. */
const RENEWED_WITHIN_MS = 24 * 3_600_000;

/**
 * Refuses to declare a state new before an operator has looked at it: an attacker may have deleted later changes.
 *
 * @param named the revision that the operator names as the newest; undefined: none
 * @throws AppError `state_changed`
 */
async function refuseUnknown(
  trust: ApplicationTrust,
  newest: number,
  named: number | undefined,
  { isAsked, now }: { readonly isAsked: boolean; readonly now: number },
): Promise<void> {
  if (named !== undefined && named !== newest) {
    throw new AppError(
      'state_changed',
      `The newest revision of ${trust.application} is ${newest}, not ${named}. Nothing was signed.`,
    );
  }
  const fresh = await trust.freshness();
  const isRecent = fresh !== undefined && now - fresh.signedAt < RENEWED_WITHIN_MS;
  if (isAsked || isRecent || named !== undefined) return;
  throw new AppError(
    'state_changed',
    `The last timestamp of ${trust.application} is older than a day, or missing, so a person has to look at the state: run "slipway trust renew" on a terminal, or add --revision ${newest} when you know that this is the newest revision. Nothing was signed.`,
  );
}

export async function check(terminal: Terminal, { app, json }: AppOptions): Promise<number> {
  const context = await openContext(terminal);
  const { application, trust } = openTrusted(context, app);
  const { facts, problems } = await checkTrust(context, trust);
  if (json) printJson(terminal, { app: application, facts: Object.fromEntries(facts), problems });
  else {
    print(terminal, `Trust of ${application} in ${context.place.text}:`);
    for (const line of indented(2, alignColumns(facts))) print(terminal, line);
    for (const problem of problems) print(terminal, `Problem: ${problem}`);
    if (problems.length === 0) print(terminal, 'All signatures are valid.');
  }
  return problems.length === 0 ? 0 : 1;
}
