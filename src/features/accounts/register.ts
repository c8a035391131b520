import { AppError } from '../../core/errors.ts';
import type { AppendDeps } from '../../store/sequence/append.ts';
import { endInvitations, isInvited } from './accounts/invitations.ts';
import { padResponseTime } from './pad-response-time.ts';
import type { IdentityProvider, NewPerson } from './providers/identity-provider.ts';

/** The addresses that may register: all addresses, only the addresses that an admin invited, or none. */
export type Registration = 'open' | 'invite' | 'closed';

interface RegisterDeps extends AppendDeps {
  readonly provider: IdentityProvider;
  readonly registration: Registration;
}

/**
 * The minimum time of every registration, in milliseconds. It hides the provider's time, which may depend on the
 * address.
 */
const REGISTER_MS_MIN = 200;

/**
 * Registers a person if the rules allow it.
 *
 * An invitation is for one address. The service creates the account of an address only once, so an invitation works
 * only once. The service deletes the invitation last, so that the person can try again after a failure.
 *
 * @throws AppError `registration_refused`, the same for every reason
 */
export function register(
  deps: RegisterDeps,
  request: NewPerson & { readonly invitation?: string },
): Promise<void> {
  return padResponseTime(deps.clock, REGISTER_MS_MIN, () => registerIfAllowed(deps, request));
}

async function registerIfAllowed(
  deps: RegisterDeps,
  { invitation, ...person }: NewPerson & { readonly invitation?: string },
): Promise<void> {
  const { provider, registration } = deps;
  if (registration === 'open') {
    await provider.register(person);
    return;
  }
  const isAllowed = registration === 'invite' && (await isInvited(deps, person.email, invitation));
  const registered = isAllowed ? await provider.register(person) : undefined;
  if (registered === undefined || registered === 'exists') throw refused(registration);
  // When the provider does not accept the registration, the invitation stays valid for another try.
  if (registered !== 'not accepted') await endInvitations(deps, person.email, 'used');
}

function refused(registration: 'invite' | 'closed'): AppError {
  const message =
    registration === 'closed'
      ? 'Registration is closed on this service.'
      : 'Registration needs an unused invitation for this address. If you have registered with it already, sign in.';
  return new AppError('registration_refused', message);
}
