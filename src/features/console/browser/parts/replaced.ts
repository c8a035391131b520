import type { ReleaseOnChannel } from '../../answers.ts';

/** True when clients are offered a newer release in its place, and none is offered this one. */
export const isReplaced = ({ replacement }: Pick<ReleaseOnChannel, 'replacement'>): boolean =>
  replacement?.isComplete === true;
