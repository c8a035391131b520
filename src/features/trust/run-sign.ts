import { optionOf } from '../../catalog/reading/draft-text.ts';
import { readManifest } from '../../catalog/reading/read.ts';
import { findMakers } from '../../catalog/trust/manifest-signature.ts';
import { keyList } from '../../catalog/trust/root.ts';
import { appOption } from '../../cli/arguments.ts';
import { isInteractive, requireConsent } from '../../cli/consent.ts';
import { type Context, openContext } from '../../cli/context.ts';
import { differenceJson, printDifference } from '../../cli/forecast/difference-report.ts';
import { wideQuestion } from '../../cli/forecast/wide-change.ts';
import { printJson, printWhenLive } from '../../cli/output.ts';
import { print, type SignDraft, type Terminal } from '../../cli/terminal.ts';
import { counted } from '../../core/counted.ts';
import { AppError } from '../../core/errors.ts';
import { openDraft } from '../../releases/publish/open-draft.ts';
import type { PublishResult } from '../../releases/publish/publish-request.ts';
import { offerSigned } from '../../releases/trust/offer-signed.ts';
import {
  readWaiting,
  type SignedRelease,
  signWaiting,
  type WaitingRelease,
} from '../../releases/trust/sign-draft.ts';
import { checkNamed, filesOf, type NamedDigests } from './named-files.ts';
import { printRelease, type ShownRelease } from './print-release.ts';
import { openTrusted } from './run-trust.ts';

interface SignOptions extends NamedDigests {
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
    else {
      print(
        terminal,
        `Nothing to do: ${channel} offers ${application} ${version} already, and its keys have signed it.`,
      );
      if (options.manifest !== undefined || options.sha256 !== undefined) {
        print(
          terminal,
          'Nothing was signed, so what --manifest and --sha256 name was compared with nothing.',
        );
      }
    }
    return;
  }
  const shown = await readShown(context, waiting);
  checkNamed({ manifest: waiting.draft.manifest.digest, files: shown.files }, options);
  if (!options.dryRun) requireNamed(terminal, version, options);
  // A wrong key must not come after a page of text.
  if (!options.dryRun) await context.trust.signers();
  const would = await rehearse(context, waiting);
  if (!options.json) printRelease(terminal, context, shown);
  await requireConsent(terminal, async () => {
    const about = { version, channels: [channel] };
    const wide = await wideQuestion(context, application, `Offering ${version}`, would, about);
    return `${wide}\n${signedSentence(shown)}`;
  });
  if (options.dryRun) {
    await reportDryRun(terminal, context, shown, would);
    return;
  }
  const signed = await signWaiting(context, trust, waiting, await context.trust.signers());
  const offered = signed.role && (await offerSigned(context, waiting, signed.role));
  await report(terminal, context, { waiting, signed, offered });
}

/** Fills the role `signDraft` of commands. */
export const signDraft: SignDraft = ({ session, ...terminal }, { app, channel, version }) => {
  // An answer to another question of the command is no answer to this one.
  const own = session === undefined ? {} : { session: { ...session, hasConsented: false } };
  return sign({ ...terminal, ...own }, version, { app, channel, json: false, dryRun: false });
};

async function readShown(context: Context, waiting: WaitingRelease): Promise<ShownRelease> {
  const { application, draft } = waiting;
  const { channel, keys, root } = waiting;
  const manifest = await readManifest(context, application, draft.version, draft.manifest);
  const makers = await findMakers(keys.keys, channel, manifest);
  const maker = makers.length === 0 ? undefined : keyList(root, makers);
  const { release } = manifest;
  return { waiting, maker, release, files: filesOf(release) };
}

/**
 * Where no person reads the digests, the command must say which ones it means. Otherwise a script signs what an attacker
 * put into the draft.
 *
 * @throws AppError `status_forbids`
 */
function requireNamed(terminal: Terminal, version: string, named: NamedDigests): void {
  if (named.manifest !== undefined || named.sha256 !== undefined) return;
  if (isInteractive(terminal) && terminal.session?.hasConsented !== true) return;
  throw new AppError(
    'status_forbids',
    `No person is asked about ${version}, so name what you sign: --sha256 NAME=HEX for every file, from your build; or --manifest DIGEST, after you have compared what "slipway sign ${version} --dry-run" shows. Nothing was signed.`,
  );
}

/** The last line before the answer. It repeats what the person compares, because the facts may have left the screen. */
function signedSentence({ waiting: { draft }, files }: ShownRelease): string {
  const { number, digest } = draft.manifest;
  return `You sign ${counted(files.length, 'file')} with manifest ${number}, SHA-256 ${digest.slice(0, 12)}….`;
}

async function reportDryRun(
  terminal: Terminal,
  context: Context,
  { waiting, maker, files }: ShownRelease,
  would: PublishResult,
): Promise<void> {
  const { application, channel, draft } = waiting;
  const { version, manifest } = draft;
  if (terminal.session?.printsJson === true) {
    printJson(terminal, {
      app: application,
      version,
      channel,
      manifest,
      made_by: maker ?? null,
      files,
      ...(await differenceJson(terminal, context, application, would)),
    });
    return;
  }
  await printDifference(terminal, context, application, would);
  const options = `${optionOf(channel)}${appOption(application, context.config.defaultApplication)}`;
  print(
    terminal,
    `To sign exactly this in a script: slipway sign ${version}${options} --manifest ${manifest.digest} --key FILE`,
  );
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
