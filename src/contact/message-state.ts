/**
 * How far a message has come. `kept`: there is no mail server to deliver it, and none has tried; `pending`: it is
 * about to be delivered, or tried again.
 *
 * In a file of its own, so that naming the states loads nothing else.
 */
export const MESSAGE_STATES = ['kept', 'pending', 'delivered', 'dead'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];
