import { isDeepStrictEqual } from 'node:util';
import {
  type ChannelJson,
  type Channels,
  channelIn,
  isHidden,
} from '../../catalog/documents/revision-document.ts';
import { readApplications, readRevision } from '../../catalog/reading/read.ts';
import {
  needsCreate,
  unknownApplication,
  unknownChannel,
} from '../../catalog/reading/unknown-release.ts';
import {
  type Committed,
  changeCatalog,
  registerApplication,
  type WriterDeps,
} from '../../catalog/writing/change.ts';
import { AppError } from '../../core/errors.ts';
import {
  DEFAULT_CHANNEL,
  isPrereleaseChannel,
  parseApplicationName,
  parseChannelName,
} from '../../domain/channel.ts';
import { checkReason } from '../../domain/reason.ts';
import { refuseReservedName } from '../../domain/reserved-name.ts';
import { type ForeseenNewest, foreseeNewest } from '../forecast/foresee-newest.ts';
import { withoutOldOffers } from '../offer/keep-newest-offers.ts';
import {
  type ChannelEdit,
  type ChannelSettings,
  changedSettings,
  refuseChain,
  type ShownSettings,
  settingsOf,
  withSettings,
} from './channel-settings.ts';
import { removeChannel } from './remove-channel.ts';

type ChannelAction =
  /** `create`: true when the command may create a new application for the channel. */
  | { readonly kind: 'create'; readonly settings: ChannelSettings; readonly create: boolean }
  | { readonly kind: 'set'; readonly settings: ChannelSettings }
  /** `force`: true when the command may retire releases that the channel lists. */
  | { readonly kind: 'remove'; readonly force: boolean };

export interface ChannelRequest {
  readonly application: string;
  readonly channel: string;
  readonly action: ChannelAction;
  /** For the history. */
  readonly reason: string | null;
}

/** The effect of a change of a channel. */
export interface ChannelEffect {
  /** The channel's own name, when the command used an alias. */
  readonly channel: string;
  /** Null: the channel did not exist before, or is removed. */
  readonly settingsBefore: ShownSettings | null;
  readonly settings: ShownSettings | null;
  /** The versions that the channel lists no longer; after a change of `keep`, newest first. */
  readonly dropped: readonly string[];
  /**
   * The newest release before and after the change, for each channel and target where the change makes a difference.
   */
  readonly clients: readonly ForeseenNewest[];
}

/** @throws AppError `invalid_name`, `invalid_request` */
function checkRequest(request: ChannelRequest): ChannelRequest {
  checkReason(request.reason);
  const application = parseApplicationName(request.application);
  return { ...request, application, channel: parseChannelName(request.channel) };
}

/**
 * The effect that {@link changeChannel} would have now. It writes nothing.
 *
 * @throws AppError the codes of {@link changeChannel}
 */
export async function planChannel(deps: WriterDeps, asked: ChannelRequest): Promise<ChannelEffect> {
  const request = checkRequest(asked);
  await refuseUnlisted(deps, request);
  const channels = (await readRevision(deps, request.application))?.signed.channels ?? {};
  const now = deps.clock.now();
  const after = edit(request, channels, now);
  return effectOf(request, channels, after, now);
}

interface ChangeChannelDeps extends WriterDeps {
  /** Called before the first write to a store. Throws for a store that could lose a commit. */
  readonly ensureConforming: () => Promise<void>;
}

/**
 * Creates or removes a channel, or changes its settings, in one commit.
 *
 * @throws AppError `invalid_name`; `invalid_request` for a circle or a chain that is too long; `needs_create`,
 *   `unknown_application`, `unknown_channel`; `status_forbids` when the channel exists with other settings, or may not
 *   be removed
 */
export async function changeChannel(
  deps: ChangeChannelDeps,
  asked: ChannelRequest,
): Promise<Committed & ChannelEffect> {
  const request = checkRequest(asked);
  const { application, action, reason } = request;
  const isListed = await refuseUnlisted(deps, request);
  if (!isListed) {
    edit(request, {}, deps.clock.now());
    await deps.ensureConforming();
    await registerApplication(deps, application);
  }
  const { plan, ...committed } = await changeCatalog(deps, application, (before) => {
    const now = deps.clock.now();
    const edited = edit(request, before, now);
    const plan = effectOf(request, before, edited, now);
    if (isDeepStrictEqual(before, edited.channels)) return { edit: undefined, plan };
    const change = {
      kind: 'channel' as const,
      version: null,
      channels: [request.channel],
      reason,
      summary: summaryOf(action.kind, plan),
    };
    // A change that removes or drops something only makes a revision smaller, so it needs no room.
    const needsRoom = action.kind !== 'remove' && edited.dropped.length === 0;
    return { edit: { change, ...edited, needsRoom }, plan };
  });
  return { ...committed, ...plan };
}

/** `set keep 20, inherits beta`, for the history. */
function summaryOf(
  kind: ChannelAction['kind'],
  { settings, settingsBefore }: Pick<ChannelEffect, 'settings' | 'settingsBefore'>,
): string {
  if (kind !== 'set' || settings === null || settingsBefore === null) return kind;
  const changed = changedSettings(settingsBefore, settings);
  return `set ${changed.map(([name, , value]) => `${name} ${value}`).join(', ')}`;
}

/**
 * @returns whether the list of applications has the application
 * @throws AppError `needs_create`, `unknown_application`, `invalid_name`
 */
async function refuseUnlisted(
  deps: WriterDeps,
  { application, action }: ChannelRequest,
): Promise<boolean> {
  const applications = await readApplications(deps);
  if (applications.includes(application)) return true;
  if (action.kind !== 'create') throw await unknownApplication(deps, application);
  if (!action.create) throw needsCreate(application, applications);
  refuseReservedName(application);
  return false;
}

function effectOf(
  { channel }: ChannelRequest,
  before: Channels,
  { channels: after, dropped }: ChannelEdit,
  now: number,
): ChannelEffect {
  const old = before[channel];
  const next = after[channel];
  return {
    channel,
    settingsBefore: old === undefined ? null : settingsOf(old),
    settings: next === undefined ? null : settingsOf(next),
    dropped,
    clients: foreseeNewest(before, after, channel, now),
  };
}

function edit(request: ChannelRequest, channels: Channels, now: number): ChannelEdit {
  const { application, channel: name, action } = request;
  if (action.kind === 'create') return createChannel(request, action.settings, channels);
  const channel = channelIn(channels, name);
  if (channel === undefined) throw unknownChannel(application, name, channels);
  if (action.kind === 'remove') return removeChannel(application, channels, name, action.force);
  const changed = { ...channels, [name]: withSettings(channel, action.settings) };
  if (action.settings.inherits !== undefined) refuseChain(application, changed, name);
  return withoutOldOffers(changed, name, { added: undefined, now });
}

/** @throws AppError `status_forbids` when the channel exists and a stated setting differs */
function createChannel(
  { application, channel: name }: ChannelRequest,
  settings: ChannelSettings,
  channels: Channels,
): ChannelEdit {
  const known = channelIn(channels, name);
  if (known !== undefined && !isHidden(known)) {
    if (isDeepStrictEqual(withSettings(known, settings), known)) return { channels, dropped: [] };
    throw new AppError(
      'status_forbids',
      `${application} has a channel ${name} already, with other settings: "slipway channels" lists them. To change them, run slipway channels set ${name} with the same options.`,
    );
  }
  // The default is the same as for a channel that `publish --create` makes.
  const inherits = isPrereleaseChannel(name, null) ? DEFAULT_CHANNEL : null;
  // A draft may have created the channel. No client sees such a channel until it offers a release, or until this
  // command creates it.
  const { hidden: _hidden, ...drafting } = known ?? { inherits, offers: [], retired: [] };
  const empty: ChannelJson = drafting;
  const changed = { ...channels, [name]: withSettings(empty, settings) };
  if (settings.inherits !== undefined) refuseChain(application, changed, name);
  return { channels: changed, dropped: [] };
}
