import { createAddressLimit } from '../../server/limits/address-limit.ts';
import { OUTSIDE_PROBE_INTERVAL_MS, type Part, type PartDeps } from '../../server/part.ts';
import { createDelivery } from './delivery.ts';
import { createIntake, type Intake } from './intake.ts';
import { createMailer } from './mail.ts';
import { removeOldMessages } from './retention.ts';
import { contactRoutes } from './route.ts';
import type { ContactSettings } from './settings.ts';

const MAIL_PROBE_TIMEOUT_MS = 15_000;

/** Opens the contact form. When a mail server is configured, also opens the delivery of the messages. */
export function openContact(deps: PartDeps & { readonly config: ContactSettings }): Part {
  const { config, captcha, reportOutcome } = deps;
  const { mail, keptMs } = config.contact;
  const addressLimit = createAddressLimit({
    name: 'messages',
    perMinute: config.contactPerAddress,
  });
  const part = (submit: Intake['submit']): Part => ({
    routes: () => contactRoutes({ submit, captcha, addressLimit }),
    tags: { open: [{ name: 'contact', description: 'The contact form.' }] },
    housekeeping: { messages: () => removeOldMessages(deps, keptMs) },
    facts: {
      contact_form: captcha.configured ? 'on' : 'off',
      contact_mail: mail === undefined ? 'off' : 'on',
    },
  });
  if (mail === undefined) return part(createIntake(deps).submit);
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
  return { ...part(submit), background: [delivery], components: [component] };
}
