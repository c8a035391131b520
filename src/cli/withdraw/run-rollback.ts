import { counted, listed } from '../../core/counted.ts';
import { clientSentences } from '../../releases/forecast/clients-text.ts';
import type { SeenChecks } from '../../releases/forecast/seen-checks.ts';
import { planRollback, type Rollback, rollBack } from '../../releases/withdraw/roll-back.ts';
import { rollbackSentences } from '../../releases/withdraw/rollback-text.ts';
import type { ChangeOptions, ConsentOptions } from '../arguments.ts';
import { requireConsent } from '../consent.ts';
import { openContext } from '../context.ts';
import {
  differenceJson,
  printClientTable,
  printDifference,
} from '../forecast/difference-report.ts';
import { readSeenChecks } from '../forecast/seen-checks.ts';
import { alignColumns, firstLines, printJson, printWhenLive } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';

interface RollbackOptions extends ChangeOptions, ConsentOptions {
  readonly app?: string;
  readonly to: string;
  readonly channel: string;
  readonly reason?: string;
}

export async function rollback(terminal: Terminal, options: RollbackOptions): Promise<void> {
  const context = await openContext(terminal);
  const application = options.app ?? context.config.defaultApplication;
  const { to, channel, reason = null } = options;
  const request = { application, to, channel, reason };
  const seen = await readSeenChecks(context, application);
  const plan = await planRollback(context, request, seen);
  const isDryRun = terminal.session?.isDryRun === true;
  // A dry run prints the releases and the clients with the difference.
  if (!options.json && !isDryRun) {
    printPlan(terminal, `${application} in ${context.place.text}`, to, plan, seen);
  }
  const count = counted(plan.withdrawn.length, 'release');
  await requireConsent(
    terminal,
    `This yanks ${count} of ${application} permanently: ${versionsOf(plan)}.`,
  );
  const done = await rollBack(context, request, plan.withdrawn);
  if (options.json) {
    const { withdrawn: yanked, clients, inherited, revision, changed } = done;
    printJson(terminal, {
      app: application,
      to,
      channel: done.channel,
      yanked,
      inherited,
      catalog_revision: revision,
      changed,
      clients,
      ...(await differenceJson(terminal, context, application, done, seen)),
    });
    return;
  }
  print(
    terminal,
    `Rolled back ${application} to ${to} on ${done.channel} in ${context.place.text} (catalog revision ${done.revision}): yanked ${versionsOf(done)}.`,
  );
  if (isDryRun) for (const sentence of rollbackSentences(to, plan)) print(terminal, sentence);
  printWhenLive(terminal, context, done.announced);
  await printDifference(terminal, context, application, done, seen);
}

function versionsOf({ withdrawn }: Pick<Rollback, 'withdrawn'>): string {
  return listed(withdrawn.map(({ version }) => version));
}

/** Prints what will happen, which releases clients get afterwards, and what a rollback does not do. */
function printPlan(
  terminal: Terminal,
  where: string,
  to: string,
  plan: Rollback,
  seen: readonly SeenChecks[],
): void {
  const { channel, withdrawn, clients } = plan;
  print(terminal, `A rollback of ${where} to ${to} on ${channel} yanks these releases:`);
  const rows = withdrawn.map(({ version, channels }) => [version, channels.join(', ')]);
  for (const line of firstLines(alignColumns([['VERSION', 'CHANNELS'], ...rows]))) {
    print(terminal, line);
  }
  print(terminal, 'Afterwards, clients get:');
  printClientTable(terminal, clients, plan);
  for (const sentence of clientSentences(clients, seen)) print(terminal, sentence);
  for (const sentence of rollbackSentences(to, plan)) print(terminal, sentence);
}
