import type { Captcha } from '../captcha/captcha.ts';
import { createDelivery } from '../contact/delivery.ts';
import { createIntake } from '../contact/intake.ts';
import { createMailer } from '../contact/mail.ts';
import { removeOldMessages } from '../contact/retention.ts';
import { createAddressLimit } from '../http/server/address-limit.ts';
import type { ContactRouteDeps } from '../http/website/contact.ts';
import { OUTSIDE_PROBE_INTERVAL_MS, type Part, type PartDeps } from './part.ts';

const MAIL_PROBE_TIMEOUT_MS = 15_000;

/** The contact form and, with a mail server, the delivery of its messages. */
export function createContactPart(
  deps: PartDeps & { readonly captcha: Captcha },
): Part & { readonly routes: ContactRouteDeps } {
  const { config, captcha, reportOutcome } = deps;
  const { mail, keptMs } = config.contact;
  const addressLimit = createAddressLimit({
    name: 'messages',
    perMinute: config.contactPerAddress,
  });
  const housekeeping = { messages: () => removeOldMessages(deps, keptMs) };
  if (mail === undefined) {
    const { submit } = createIntake(deps);
    return { routes: { submit, captcha, addressLimit }, housekeeping };
  }
  const mailer = createMailer(mail);
  const onOutcome = reportOutcome('mail', 'A mail could not be delivered; it is tried again.');
  const delivery = createDelivery({ ...deps, mailer, onOutcome });
  const { submit } = createIntake({ ...deps, onAccepted: (id) => delivery.wake(id) });
  const component = {
    kind: 'probed',
    id: 'mail',
    name: 'Mail',
    outageImpact: 'minor',
    probe: (signal: AbortSignal) => mailer.verify(signal),
    intervalMs: OUTSIDE_PROBE_INTERVAL_MS,
    timeoutMs: MAIL_PROBE_TIMEOUT_MS,
  } as const;
  return {
    routes: { submit, captcha, addressLimit },
    housekeeping,
    background: [delivery],
    components: [component],
  };
}
