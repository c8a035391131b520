import { explainUpdate } from '../../answers/explain/explain-update.ts';
import type { Explanation } from '../../answers/explain/explanation.ts';
import { publisherJson } from '../../answers/explain/explanation-json.ts';
import {
  answer,
  decidedFrom,
  reasonRows,
  remarks,
} from '../../answers/explain/explanation-text.ts';
import { changeLines, isPast } from '../../answers/explain/remedies-text.ts';
import { compared } from '../../answers/explain/rules-text.ts';
import { appOption } from '../../cli/arguments.ts';
import { openContext } from '../../cli/context.ts';
import { alignColumns, printJson, printTable } from '../../cli/output.ts';
import { protocolNamed } from '../../cli/protocol-named.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { AppError } from '../../core/errors.ts';
import { known } from '../../core/name-hint.ts';
import type { RevisionReference } from '../../domain/revision-reference.ts';
import type { TierTable } from '../../domain/tier.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import type { Protocol } from '../../updaters/protocol.ts';
import { servedFormats } from '../../updaters/registry.ts';

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
  const explanation = await explainUpdate({ ...context, tiers }, request);
  if (options.json) {
    printJson(terminal, publisherJson(explanation));
    return;
  }
  const app = appOption(query.application, context.config.defaultApplication);
  report(terminal, explanation, context.place.text, app);
}

/** @throws AppError `invalid_request` for an unknown updater, or a client that the service refuses */
function queryOf(options: ExplainOptions, application: string): UpdateQuery {
  const { format, updater } = options;
  // When the options name no updater, the client uses check-update.
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
    // When a client states its system version, the service compares it, also in feeds.
    osGate: options.osVersion === undefined ? (protocol?.osGate ?? 'server') : 'server',
    installationId: options.id ?? null,
    isManual: options.manual,
    allowDowngrade: options.allowDowngrade,
    purpose: 'update',
    signatureScheme: protocol?.signatureScheme ?? null,
  };
}

const FACTS = { version: 'version', arch: 'architecture' } as const;

/** @throws AppError `invalid_request` when the client has to state a fact that the options leave out */
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

/**
 * Prints the answer, then the reasons, then the changes that would lead to another answer. The last part is a table of
 * every rule, for readers who check the decision.
 *
 * @param where the store
 * @param app see `appOption`
 */
function report(terminal: Terminal, explanation: Explanation, where: string, app: string): void {
  print(terminal, answer(explanation));
  print(terminal, `${decidedFrom(explanation)} in ${where}.`);
  const reasons = alignColumns(reasonRows(explanation));
  section(terminal, 'Why, from the newest release on:', reasons);
  section(terminal, 'Also:', remarks(explanation, app));
  const title = isPast(explanation)
    ? 'What would have changed it then (a command changes the present state):'
    : 'What would change it:';
  section(terminal, title, changeLines(explanation, app));
  if (explanation.releases.length === 0) return;
  print(terminal, '\nEvery rule, in the order in which it is applied:');
  printTable(terminal, ['version', 'rule', 'result', 'compared'], ruleRows(explanation));
}

function section(terminal: Terminal, title: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  print(terminal, `\n${title}`);
  for (const line of lines) print(terminal, `  ${line}`);
}

const RESULTS = { passed: 'passes', failed: 'FAILS', not_checked: '-' } as const;

function ruleRows(explanation: Explanation): readonly (readonly string[])[] {
  return explanation.releases.flatMap((release) =>
    release.rules.map((rule, index) => [
      index === 0 ? release.version : ' ',
      rule.rule.replace('_', ' '),
      RESULTS[rule.result],
      compared(rule, release, explanation),
    ]),
  );
}
