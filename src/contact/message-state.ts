/** How far a message has come; in a file of its own, so that naming the states loads nothing else. */
export const MESSAGE_STATES = ['pending', 'delivered', 'dead'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];
