/**
 * The body of an answer from outside, in memory; undefined when it is larger than `bytesMax`.
 *
 * Counted while it is read: a stated length may be missing, or a lie. Leaving the loop ends the
 * connection. Rejects as reading does: the connection broke, the signal aborted.
 */
export async function readBody(
  response: Response,
  bytesMax: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Undefined for what is no JSON. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
}
