/**
 * The states of a message, as operators see them. `kept`: no mail server is set up, and delivery was never
 * tried. `pending`: it is being delivered, or will be tried again. `dead`: delivery was given up.
 *
 * A separate file, so that the command line's help loads no packages.
 */
export const MESSAGE_STATES = ['kept', 'pending', 'delivered', 'dead'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];
