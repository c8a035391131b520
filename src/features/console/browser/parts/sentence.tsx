import { withLocalTimes } from '../format.ts';

/** A sentence of the server, with its times in the form that the console writes. */
export const Sentence = ({ text }: { readonly text: string }) => <bdi>{withLocalTimes(text)}</bdi>;
