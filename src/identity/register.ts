import { AppError } from '../errors.ts';
import type { AppendDeps } from '../sequence/append.ts';
import { endInvitations, isInvited } from './accounts/invitations.ts';
import type { IdentityProvider, NewPerson } from './providers/identity-provider.ts';

/** Who may register: anybody, who was invited, or nobody. */
export type Registration = 'open' | 'invite' | 'closed';

export interface RegisterDeps extends AppendDeps {
  readonly provider: IdentityProvider;
  readonly registration: Registration;
}

/** What a refusal takes at the least, whatever is wrong with the invitation. */
const REFUSAL_MS_MIN = 200;

/**
 * Registers a person, if they may.
 *
 * An invitation is for one address, whose account can be created only once: that it is used up follows
 * from there. It is deleted after that, so that a failure in between does not cost the invited person
 * their invitation.
 *
 * @throws AppError `registration_refused`, the same for every reason, and the provider's
 */
export async function register(
  deps: RegisterDeps,
  { invitation, ...person }: NewPerson & { readonly invitation?: string },
): Promise<void> {
  const { provider, registration, clock } = deps;
  if (registration === 'open') {
    await provider.register(person);
    return;
  }
  const due = clock.now() + REFUSAL_MS_MIN;
  const isAllowed = registration === 'invite' && (await isInvited(deps, person.email, invitation));
  const registered = isAllowed ? await provider.register(person) : undefined;
  if (registered === undefined || registered === 'exists') {
    await clock.sleep(Math.max(0, due - clock.now()));
    throw refused(registration);
  }
  // After a registration that the provider did not accept there is no account: one can try again.
  if (registered !== 'not accepted') await endInvitations(deps, person.email, 'used');
}

function refused(registration: 'invite' | 'closed'): AppError {
  const sentence =
    registration === 'closed'
      ? 'Nobody can register here.'
      : 'Registering needs an invitation for this address that was not used yet. If you registered with it, sign in.';
  return new AppError('registration_refused', sentence);
}
