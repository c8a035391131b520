/** Points of the curve Ed25519 (RFC 8032, section 5.1). The numbers are public, so their duration tells nothing. */

/**
 * True when 32 bytes can be a public key. About half of all random values, such as private keys, are no point of the
 * curve.
 */
export function isEdPublicKey(bytes: Uint8Array): boolean {
  const key = decodePoint(bytes);
  return key !== undefined && !hasSmallOrder(key);
}

const PRIME = 2n ** 255n - 19n;
/** The order of the base point (RFC 8032, section 5.1). */
export const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const D = modulo(-121665n * power(121666n, PRIME - 2n));
const D2 = modulo(2n * D);
const ROOT_OF_MINUS_ONE = power(2n, (PRIME - 1n) / 4n);

/** Extended coordinates: x = X/Z, y = Y/Z, xy = T/Z. */
interface Point {
  readonly X: bigint;
  readonly Y: bigint;
  readonly Z: bigint;
  readonly T: bigint;
}

const NEUTRAL: Point = { X: 0n, Y: 1n, Z: 1n, T: 0n };
export const BASE = basePoint();

function basePoint(): Point {
  const y = modulo(4n * power(5n, PRIME - 2n));
  const encoded = new Uint8Array(32);
  writeNumber(y, encoded);
  return decodePoint(encoded) ?? NEUTRAL;
}

export function add(a: Point, b: Point): Point {
  const A = modulo((a.Y - a.X) * (b.Y - b.X));
  const B = modulo((a.Y + a.X) * (b.Y + b.X));
  const C = modulo(a.T * D2 * b.T);
  const E = modulo(2n * a.Z * b.Z);
  const e = B - A;
  const f = E - C;
  const g = E + C;
  const h = B + A;
  return { X: modulo(e * f), Y: modulo(g * h), Z: modulo(f * g), T: modulo(e * h) };
}

export function negate({ X, Y, Z, T }: Point): Point {
  return { X: modulo(-X), Y, Z, T: modulo(-T) };
}

export function multiply(point: Point, scalar: bigint): Point {
  let result = NEUTRAL;
  let addend = point;
  for (let rest = scalar; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = add(result, addend);
    addend = add(addend, addend);
  }
  return result;
}

/**
 * True for one of the eight points whose multiple by 8 is the neutral point, for which x is 0 and y is 1. An attacker
 * can sign any file for such a key without its private key. Newer versions of Node refuse such a key when they verify
 * (nodejs/node#64026), and Node 22.19 does not, so Slipway decides itself.
 */
export function hasSmallOrder(point: Point): boolean {
  const { X, Y, Z } = multiply(point, 8n);
  return X === 0n && Y === Z;
}

export function encodePoint({ X, Y, Z }: Point): Uint8Array {
  const inverse = power(Z, PRIME - 2n);
  const encoded = new Uint8Array(32);
  writeNumber(modulo(Y * inverse), encoded);
  if ((modulo(X * inverse) & 1n) === 1n) encoded[31] = (encoded[31] ?? 0) | 0x80;
  return encoded;
}

/** RFC 8032, section 5.1.3. Undefined for bytes that are no point of the curve. */
export function decodePoint(encoded: Uint8Array): Point | undefined {
  const number = readNumber(encoded);
  const isOdd = number >> 255n === 1n;
  const y = number & (2n ** 255n - 1n);
  if (y >= PRIME) return undefined;
  const u = modulo(y * y - 1n);
  const v = modulo(D * y * y + 1n);
  const candidate = modulo(u * v ** 3n * power(modulo(u * v ** 7n), (PRIME - 5n) / 8n));
  const square = modulo(v * candidate * candidate);
  let root: bigint | undefined;
  if (square === u) root = candidate;
  else if (square === modulo(-u)) root = modulo(candidate * ROOT_OF_MINUS_ONE);
  if (root === undefined || (root === 0n && isOdd)) return undefined;
  const x = (root & 1n) === (isOdd ? 1n : 0n) ? root : PRIME - root;
  return { X: x, Y: y, Z: 1n, T: modulo(x * y) };
}

function modulo(value: bigint): bigint {
  const rest = value % PRIME;
  return rest < 0n ? rest + PRIME : rest;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let factor = modulo(base);
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = modulo(result * factor);
    factor = modulo(factor * factor);
  }
  return result;
}

/** Little endian. */
export function readNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

function writeNumber(value: bigint, bytes: Uint8Array): void {
  let rest = value;
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = Number(rest & 0xffn);
    rest >>= 8n;
  }
}
