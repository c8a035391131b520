/**
 * The states of a message, as operators see them. `kept`: no mail server is set up, so the service did not try to
 * deliver the message. `pending`: the service is delivering the message, or will try again. `dead`: the service has given up the
 * delivery.
 *
 * The states have their own file, so that the help of the command line loads no packages.
 */
export const MESSAGE_STATES = ['kept', 'pending', 'delivered', 'dead'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];
