import type { StoredDocument } from '../../store/sequence/json-schema.ts';
import { transitionSchema } from './transition.ts';

/** The documents of the contact form. */
export const contactDocuments: readonly StoredDocument[] = [
  {
    name: 'contact-transition',
    title: 'Transition of a message from the contact form',
    schema: transitionSchema,
  },
];
