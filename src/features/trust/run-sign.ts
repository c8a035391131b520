import { targetNames } from '../../catalog/list-drafts.ts';
import { readManifest } from '../../catalog/read.ts';
import { requireConsent } from '../../cli/consent.ts';
import { type Context, openContext } from '../../cli/context.ts';
import { differenceJson, printDifference } from '../../cli/forecast/difference-report.ts';
import { wideQuestion } from '../../cli/forecast/wide-change.ts';
import {
  alignColumns,
  formatBytes,
  indented,
  printJson,
  printNotes,
  printWhenLive,
} from '../../cli/output.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { AppError } from '../../core/errors.ts';
import { openDraft } from '../../releases/drafts/open-draft.ts';
import type { PublishResult } from '../../releases/publish/publish-request.ts';
import {
  readWaiting,
  type SignedRelease,
  signWaiting,
  type WaitingRelease,
} from '../../releases/trust/sign-draft.ts';
import { openTrusted } from './run-trust.ts';

interface SignOptions {
  readonly app?: string;
  readonly channel: string;
  readonly json: boolean;
  readonly dryRun: boolean;
}

export async function sign(
  terminal: Terminal,
  version: string,
  options: SignOptions,
): Promise<void> {
  const context = await openContext(terminal);
  const { application, trust } = openTrusted(context, options.app);
  const { channel } = options;
  const waiting = await readWaiting(context, trust, { channel, version });
  if (waiting === undefined) {
    if (options.json) printJson(terminal, { app: application, version, channel, offered: true });
    else
      print(
        terminal,
        `Nothing to do: ${channel} offers ${application} ${version} already, and its keys have signed it.`,
      );
    return;
  }
  // A wrong key must not come after a page of text.
  if (!options.dryRun) await context.trust.signers();
  const would = await rehearse(context, waiting);
  if (!options.json) await printRelease(terminal, context, waiting);
  await requireConsent(terminal, () =>
    wideQuestion(context, application, `Offering ${version}`, would, {
      version,
      channels: [channel],
    }),
  );
  if (options.dryRun) {
    if (!options.json) await printDifference(terminal, context, application, would);
    else
      printJson(terminal, {
        app: application,
        version,
        channel,
        ...(await differenceJson(terminal, context, application, would)),
      });
    return;
  }
  const signed = await signWaiting(context, trust, waiting, await context.trust.signers());
  const offered = signed.role && (await offer(context, waiting, signed.role));
  await report(terminal, context, { waiting, signed, offered });
}

/** Tries in memory what clients get once enough people have signed. */
function rehearse(context: Context, { application, channel, draft }: WaitingRelease) {
  const deps = { ...context, ...context.rehearse(), assumesSigned: true };
  const { version } = draft;
  return openDraft(deps, {
    application,
    channel,
    version,
    allowStranded: true,
    allowPrerelease: true,
  });
}

async function offer(
  context: Context,
  { application, channel, draft }: WaitingRelease,
  role: NonNullable<SignedRelease['role']>,
): Promise<PublishResult> {
  // Only what people have seen and signed is offered, whatever keys this process has.
  const deps = { ...context, signedRoles: { [channel]: role }, signsNoRole: true };
  const result = await openDraft(deps, {
    application,
    channel,
    version: draft.version,
    allowStranded: true,
    allowPrerelease: true,
  });
  if (result.held === null) return result;
  throw new AppError(
    'state_changed',
    `Another release of ${channel} was signed at the same time, so the signatures of ${draft.version} are for an older state. Nothing is lost: run "slipway sign ${draft.version}" again; the others have to sign again, too.`,
  );
}

async function printRelease(
  terminal: Terminal,
  context: Context,
  { application, channel, draft, keys, next, signatures }: WaitingRelease,
): Promise<void> {
  const { release } = await readManifest(context, application, draft.version, draft.manifest);
  const { provenance } = release;
  print(terminal, `${application} ${draft.version} on ${channel} in ${context.place.text}:`);
  const facts = [
    ['commit', provenance.commit ?? ''],
    ['build', provenance.buildUrl ?? ''],
    ['requires', release.requires ?? 'any version'],
    ['mandatory for', release.mandatoryFor ?? 'none'],
    ['ends builds for', targetNames(release.endsNative) || 'no machine'],
    ['signed documents', release.carried.map(({ name }) => name).join(', ') || 'none'],
    ['channel inherits', String(next.x_slipway_inherits ?? 'nothing')],
    ['downgrades', next.x_slipway_allow_downgrade === true ? 'allowed' : 'not allowed'],
    ['signatures', `${signatures.length} of ${keys.threshold}`],
  ];
  for (const line of indented(2, alignColumns(facts))) print(terminal, line);
  print(terminal, 'Its files, with their SHA-256:');
  const files = release.artifacts
    .flatMap((artifact) => [artifact, ...artifact.companions])
    .map(({ filename, size, sha256 }) => [filename, formatBytes(size), sha256]);
  for (const line of indented(2, alignColumns(files))) print(terminal, line);
  printNotes(terminal, release.notes);
}

async function report(
  terminal: Terminal,
  context: Context,
  {
    waiting,
    signed,
    offered,
  }: {
    readonly waiting: WaitingRelease;
    readonly signed: SignedRelease;
    readonly offered: PublishResult | undefined;
  },
): Promise<void> {
  const { application, channel, draft, keys } = waiting;
  const { version } = draft;
  if (terminal.session?.printsJson === true) {
    printJson(terminal, {
      app: application,
      version,
      channel,
      signed_by: signed.signedBy,
      waits_for: offered === undefined ? signed.waitsFor : [],
      threshold: keys.threshold,
      offered: offered !== undefined,
      catalog_revision: offered?.revision ?? null,
    });
    return;
  }
  if (offered === undefined) {
    const missing = keys.threshold - signed.signedBy.length;
    print(
      terminal,
      `Signed ${application} ${version} for ${channel}: ${signed.signedBy.length} of ${keys.threshold}, by ${signed.signedBy.join(', ')}. ${missing} more of: ${signed.waitsFor.join(', ')}.`,
    );
    return;
  }
  print(
    terminal,
    `Signed by ${signed.signedBy.join(', ')}. ${channel} offers ${application} ${version} now (catalog revision ${offered.revision}).`,
  );
  printWhenLive(terminal, context, offered.announced);
  await printDifference(terminal, context, application, offered);
}
