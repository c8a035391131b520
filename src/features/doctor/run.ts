import { openContext } from '../../cli/context.ts';
import { EXIT } from '../../cli/exit-code.ts';
import { alignColumns, printJson } from '../../cli/output.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import type { Check } from '../../core/check.ts';
import { AppError } from '../../core/errors.ts';
import { parseHttpUrl } from '../../core/settings/kinds.ts';
import { readVersion, systemClock } from '../../core/system.ts';
import { ask } from './ask-over-http.ts';
import { diagnoseAddress } from './diagnose/address.ts';
import { diagnoseStore } from './diagnose-deps.ts';

interface DoctorOptions {
  readonly url?: string;
  readonly json: boolean;
}

export async function doctor(terminal: Terminal, options: DoctorOptions): Promise<number> {
  const url = options.url === undefined ? undefined : parseAddress(options.url);
  const context = await openContext(terminal, { mayBeNew: true });
  // An operator may check the service from a machine that has no store.
  const knowsStore = url === undefined || (await context.hasStore());
  const store = knowsStore ? await diagnoseStore(terminal, context) : undefined;
  const service =
    url === undefined
      ? undefined
      : await diagnoseAddress({
          ask,
          clock: systemClock,
          url,
          version: readVersion(),
          catalogs: knowsStore ? context : undefined,
          trust: context.trust,
          application: context.config.defaultApplication,
        });
  const checks = [...(store ?? []), ...(service ?? [])];
  if (options.json) printJson(terminal, { checks });
  else {
    if (store !== undefined) printChecks(terminal, `The store ${context.place.text}:`, store);
    if (service !== undefined) printChecks(terminal, `The service ${url}:`, service);
    printSummary(terminal, checks);
  }
  return checks.some(({ outcome }) => outcome === 'failed') ? EXIT.failed : EXIT.done;
}

/** @throws AppError `invalid_configuration` */
function parseAddress(text: string): string {
  const url = parseHttpUrl(text);
  if (url !== undefined) return url;
  throw new AppError(
    'invalid_configuration',
    `--url must be the http:// or https:// address of the service, and is ${JSON.stringify(text)}.`,
  );
}

const REMEDY = '→ ';

/** Prints a group of checks, with the remedy below each finding. */
function printChecks(terminal: Terminal, title: string, checks: readonly Check[]): void {
  print(terminal);
  print(terminal, title);
  const rows = checks.flatMap(({ outcome, name, detail, remedy }) => [
    [`  ${outcome}`, name, detail],
    ...(remedy === null ? [] : [[' ', ' ', `${REMEDY}${remedy}`]]),
  ]);
  for (const line of alignColumns(rows)) print(terminal, line);
}

/** Prints the last line, with the numbers of failed checks and of warnings. */
function printSummary(terminal: Terminal, checks: readonly Check[]): void {
  const count = (wanted: Check['outcome']) =>
    checks.filter(({ outcome }) => outcome === wanted).length;
  const failures = count('failed');
  const warnings = count('warning');
  print(terminal);
  if (failures === 0 && warnings === 0) print(terminal, 'Everything works.');
  else if (failures === 0) print(terminal, `Nothing failed. Warnings: ${warnings}.`);
  else print(terminal, `Failed: ${failures}. Warnings: ${warnings}.`);
}
