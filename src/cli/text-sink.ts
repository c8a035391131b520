import { Writable } from 'node:stream';

/** A stream that keeps its text, for a command whose output goes to no terminal and no file. */
export function createTextSink(): { readonly stream: Writable; readonly text: () => string } {
  const chunks: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      chunks.push(String(chunk));
      done();
    },
  });
  return { stream, text: () => chunks.join('') };
}
