import { type ExplainedUpdate, explainUpdate } from '../../answers/explain/explain-update.ts';
import { explanationJson } from '../../answers/explain/explanation-json.ts';
import { findStatusChanges, type StatusChange } from '../../catalog/find-status-change.ts';
import { appOption } from '../../cli/arguments.ts';
import { openContext } from '../../cli/context.ts';
import { printJson } from '../../cli/output.ts';
import { protocolNamed } from '../../cli/protocol-named.ts';
import type { Terminal } from '../../cli/terminal.ts';
import { AppError } from '../../core/errors.ts';
import { known } from '../../core/name-hint.ts';
import type { RevisionReference } from '../../domain/revision-reference.ts';
import type { TierTable } from '../../domain/tier.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import type { Protocol } from '../../updaters/protocol.ts';
import { servedFormats } from '../../updaters/registry.ts';
import { reportExplanation } from './report.ts';

interface ExplainOptions {
  readonly app?: string;
  readonly at?: RevisionReference;
  readonly version?: NonNullable<UpdateQuery['currentVersion']>;
  readonly platform: UpdateQuery['platform'];
  readonly arch?: NonNullable<UpdateQuery['arch']>;
  readonly id?: string;
  readonly channel: string;
  readonly format?: NonNullable<UpdateQuery['formats']>[number];
  readonly osVersion?: string;
  readonly manual: boolean;
  readonly allowDowngrade: boolean;
  readonly tier?: string;
  readonly updater?: string;
  readonly json: boolean;
}

export async function explain(terminal: Terminal, options: ExplainOptions): Promise<void> {
  const context = await openContext(terminal);
  const { tiers } = context.config.accounts;
  const query = queryOf(options, options.app ?? context.config.defaultApplication);
  const tier = tierOf(options.tier, tiers);
  const request = { query, tier, audience: 'publisher', reference: options.at } as const;
  const explained = await explainUpdate({ ...context, tiers }, request);
  const { signed } = explained.state.revision;
  const changes = await findStatusChanges(
    context,
    query.application,
    signed,
    withdrawnOffers(explained),
  );
  if (options.json) {
    const { kind, version, channels, reason } = signed.change;
    printJson(terminal, {
      ...explanationJson(explained),
      revision_by: signed.by,
      change: { kind, version, channels, reason },
      status_changes: changes.map(jsonOf),
    });
    return;
  }
  const app = appOption(query.application, context.config.defaultApplication);
  reportExplanation(terminal, { explained, changes, where: context.place.text, app });
}

/** @throws AppError `invalid_request` for an unknown updater, or a client that the service refuses */
function queryOf(options: ExplainOptions, application: string): UpdateQuery {
  const { format, updater } = options;
  // Without an updater, the client uses check-update.
  const protocol = updater === undefined ? undefined : protocolNamed(updater);
  if (protocol !== undefined && servedFormats(protocol, options.platform).length === 0) {
    throw new AppError(
      'invalid_request',
      `${protocol.title} has no clients on ${options.platform}.`,
    );
  }
  refuseOmissions(options, protocol);
  return {
    application,
    channel: options.channel,
    currentVersion: options.version ?? null,
    platform: options.platform,
    arch: options.arch ?? null,
    formats: format === undefined ? (protocol?.formatsFor(options.platform) ?? null) : [format],
    osVersion: options.osVersion ?? null,
    // The service compares a system version that the client states, in feeds as well.
    osGate: options.osVersion === undefined ? (protocol?.osGate ?? 'server') : 'server',
    installationId: options.id ?? null,
    isManual: options.manual,
    allowDowngrade: options.allowDowngrade,
    purpose: 'update',
    signatureScheme: protocol?.signatureScheme ?? null,
  };
}

const FACTS = { version: 'version', arch: 'architecture' } as const;

/** @throws AppError `invalid_request` when the client would have to state more */
function refuseOmissions(options: ExplainOptions, protocol: Protocol | undefined): void {
  const omissible = protocol?.mayOmit?.(options.platform) ?? [];
  for (const fact of ['version', 'arch'] as const) {
    if (options[fact] !== undefined || omissible.includes(fact)) continue;
    throw new AppError(
      'invalid_request',
      protocol === undefined
        ? `check-update refuses a client that does not state its ${FACTS[fact]}. Add --${fact}, or name the updater with --updater.`
        : `Every client of ${protocol.name} on ${options.platform} states its ${FACTS[fact]}. Add --${fact}.`,
    );
  }
}

/** @throws AppError `invalid_request` */
function tierOf(name: string | undefined, { names }: TierTable): string | null {
  if (name === undefined) return null;
  if (names.includes(name)) return name;
  throw new AppError(
    'invalid_request',
    `No tier ${JSON.stringify(name)} in TIERS. ${known('Tiers', names, name)}`,
  );
}

/** The offers whose status an operator asks about: who paused or yanked them, and when. */
function withdrawnOffers({ releases, passedOver, installed }: ExplainedUpdate) {
  const listings = [...releases.map(({ listing }) => listing), ...passedOver];
  return [...listings, ...(installed === undefined ? [] : [installed])]
    .filter(({ offer }) => offer.status !== 'active')
    .map(({ channel, offer }) => ({ channel, version: offer.version }));
}

function jsonOf({ channel, version, status, revision, at, by }: StatusChange): object {
  return { channel, version, status, catalog_revision: revision, at, by };
}
