/**
 * Reads the body of another service's response into memory.
 *
 * It counts the bytes that it reads: the stated length may be missing or wrong. Leaving the loop closes the
 * connection.
 *
 * @returns undefined when the body is larger than `bytesMax`
 * @throws the error of the read: the connection broke, or the signal aborted
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

/** Undefined for bytes that are not JSON. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
}
