import type { Captcha } from '../captcha/captcha.ts';
import type { Clock, Randomness } from '../clock.ts';
import type { Config } from '../config.ts';
import { createDelivery, type Delivery } from '../contact/delivery.ts';
import { createIntake } from '../contact/intake.ts';
import type { Mailer } from '../contact/mail.ts';
import { createAddressLimit } from '../http/server/address-limit.ts';
import type { ContactRouteDeps } from '../http/website/contact.ts';
import type { Log } from '../log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';

export interface ContactParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly store: ObjectStore;
  readonly captcha: Captcha;
  /** Undefined when no mail server is set up: then messages are only stored, and read on the command line. */
  readonly mailer: Mailer | undefined;
  readonly onMailOutcome: (ok: boolean, sentence: string) => void;
}

export interface Contact {
  readonly route: ContactRouteDeps;
  readonly delivery: Delivery | undefined;
}

/** Builds the contact form and the delivery of its messages. */
export function createContact(parts: ContactParts): Contact {
  const { config, clock, randomness, log, store, captcha, mailer, onMailOutcome } = parts;
  const base = { store, clock, randomness };
  const delivery =
    mailer === undefined
      ? undefined
      : createDelivery({ ...base, log, mailer, onOutcome: onMailOutcome });
  const intake = createIntake({ ...base, captcha, onAccepted: (id) => delivery?.wake(id) });
  return {
    delivery,
    route: {
      submit: intake.submit,
      captcha,
      addressLimit: createAddressLimit({ perMinute: config.contactPerAddress }),
    },
  };
}
