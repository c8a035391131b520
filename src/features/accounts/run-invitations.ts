import { z } from 'zod';
import { type Context, openContext } from '../../cli/context.ts';
import { formatTime, printJson, printTable } from '../../cli/output.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { AppError } from '../../core/errors.ts';
import { normalizeEmail } from './accounts/account.ts';
import {
  endInvitations,
  INVITATION_DAYS_MAX,
  type Invitation,
  invite,
  listInvitations,
} from './accounts/invitations.ts';

interface Options {
  readonly json: boolean;
}

export async function inviteAddress(
  terminal: Terminal,
  address: string,
  { json, days }: Options & { readonly days: string },
): Promise<void> {
  const email = parseEmail(address);
  const life = parseDays(days);
  const context = await openContext(terminal, { subject: 'private data' });
  const { code, ...invitation } = await invite(depsOf(context), email, life);
  // A dry run does not store the code, so the code is not valid.
  const shown = terminal.session?.isDryRun ? null : code;
  if (json) return printJson(terminal, { ...jsonOf(invitation), code: shown });
  if (shown !== null) print(terminal, shown);
  print(
    terminal,
    `Send this code to ${email}. The registration form takes it in the field "invitation". The code works once, until ${formatTime(invitation.expiresAt)}, on a service with REGISTRATION=invite that uses ${context.place.text}. Slipway does not show it again.`,
  );
}

export async function list(terminal: Terminal, { json }: Options): Promise<void> {
  const context = await openContext(terminal, { subject: 'private data' });
  const invitations = await listInvitations(depsOf(context));
  if (json) return printJson(terminal, { invitations: invitations.map(jsonOf) });
  const where = `in ${context.place.text}`;
  if (invitations.length === 0) return print(terminal, `There are no open invitations ${where}.`);
  print(terminal, `Open invitations ${where}:`);
  printTable(
    terminal,
    ['address', 'invited', 'expires'],
    invitations.map(({ email, createdAt, expiresAt }) => [
      email,
      formatTime(createdAt),
      formatTime(expiresAt),
    ]),
  );
}

export async function withdraw(
  terminal: Terminal,
  address: string,
  { json }: Options,
): Promise<void> {
  const email = parseEmail(address);
  const context = await openContext(terminal, { subject: 'private data' });
  const withdrawn = await endInvitations(depsOf(context), email, 'withdrawn');
  if (withdrawn === 0) {
    throw new AppError(
      'unknown_invitation',
      `There is no open invitation of ${email}. "slipway accounts invitations" lists the open ones.`,
    );
  }
  if (json) printJson(terminal, { email, withdrawn });
  else
    print(
      terminal,
      `Withdrew ${withdrawn === 1 ? 'the invitation' : `${withdrawn} invitations`} of ${email} in ${context.place.text}. The address cannot register with the code any more.`,
    );
}

function depsOf(context: Context) {
  return { ...context, store: context.privateStore };
}

function jsonOf({ email, createdAt, expiresAt }: Invitation) {
  return { email, created_at: createdAt, expires_at: expiresAt };
}

/** @throws AppError `invalid_request` */
function parseEmail(text: string): string {
  const parsed = z.email().max(254).safeParse(text.trim());
  if (parsed.success) return normalizeEmail(parsed.data);
  throw new AppError('invalid_request', `${JSON.stringify(text)} is not a mail address.`);
}

/** @throws AppError `invalid_request` */
function parseDays(text: string): number {
  const days = Number(text);
  if (/^\d{1,2}$/.test(text) && days >= 1 && days <= INVITATION_DAYS_MAX) return days;
  throw new AppError(
    'invalid_request',
    `--days ${text}: give a whole number from 1 to ${INVITATION_DAYS_MAX}.`,
  );
}
