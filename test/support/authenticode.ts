import {
  constants,
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import {
  type BaseBlock,
  BitString,
  BmpString,
  Constructed,
  fromBER,
  Integer,
  Null,
  ObjectIdentifier,
  OctetString,
  Sequence,
  Set as SetOf,
  UTCTime,
  Utf8String,
} from 'asn1js';

/** Certificates and Authenticode signatures that Node makes at run time, right ones and wrong ones. */

const oid = (value: string) => new ObjectIdentifier({ value });
const sequence = (...value: BaseBlock[]) => new Sequence({ value });
const setOf = (...value: BaseBlock[]) => new SetOf({ value });
const tagged = (tagNumber: number, ...value: BaseBlock[]) =>
  new Constructed({ idBlock: { tagClass: 3, tagNumber }, value });
const octets = (bytes: Uint8Array) => new OctetString({ valueHex: bytes });
const derOf = (block: BaseBlock) => Buffer.from(block.toBER());
const blockOf = (der: Uint8Array) => fromBER(der).result;

const HASH_OIDS: Readonly<Record<string, string>> = {
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
  md5: '1.2.840.113549.2.5',
};
const RSA_ENCRYPTION = '1.2.840.113549.1.1.1';
const SHA256_WITH_RSA = '1.2.840.113549.1.1.11';
const RSA_PSS = '1.2.840.113549.1.1.10';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';

/** A certificate with its key. */
export interface Identity {
  /** The common name and the organization. */
  readonly name: string;
  readonly key: KeyObject;
  readonly certificate: Buffer;
}

const nameBlock = (name: string) =>
  sequence(
    setOf(sequence(oid('2.5.4.10'), new Utf8String({ value: name }))),
    setOf(sequence(oid('2.5.4.3'), new Utf8String({ value: name }))),
  );

export function makeKey(kind: 'ec' | 'rsa' | 'rsa-pss' = 'ec'): KeyObject {
  if (kind === 'ec') return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const options = { modulusLength: 2048 };
  return kind === 'rsa'
    ? generateKeyPairSync('rsa', options).privateKey
    : generateKeyPairSync('rsa-pss', options).privateKey;
}

/** @param issuer absent: the certificate is signed with its own key */
export function makeIdentity(
  name: string,
  {
    key = makeKey(),
    issuer,
    serial = 7,
  }: { key?: KeyObject; issuer?: Identity; serial?: number } = {},
): Identity {
  const signer = issuer ?? { name, key };
  const algorithm = sequence(
    oid(signer.key.asymmetricKeyType === 'ec' ? ECDSA_WITH_SHA256 : SHA256_WITH_RSA),
  );
  const date = (text: string) => new UTCTime({ valueDate: new Date(text) });
  const statement = sequence(
    tagged(0, new Integer({ value: 2 })),
    new Integer({ value: serial }),
    algorithm,
    nameBlock(signer.name),
    sequence(date('2024-01-01'), date('2044-01-01')),
    nameBlock(name),
    blockOf(createPublicKey(key).export({ type: 'spki', format: 'der' })),
  );
  const signature = new BitString({ valueHex: sign('sha256', derOf(statement), signer.key) });
  return { name, key, certificate: derOf(sequence(statement, algorithm, signature)) };
}

/** The places in {@link unsignedProgram}. */
const OPTIONAL = 0x98;
const CHECKSUM_AT = OPTIONAL + 64;
const DIRECTORY_AT = OPTIONAL + 112 + 4 * 8;

/** A Windows program of 64 bits without a certificate table. */
export function unsignedProgram(): Buffer {
  const program = Buffer.alloc(600);
  program.write('MZ', 0, 'latin1');
  program.writeUInt32LE(0x80, 0x3c);
  program.write('PE\0\0', 0x80, 'latin1');
  program.writeUInt16LE(0x8664, 0x84);
  program.writeUInt16LE(240, 0x94);
  program.writeUInt16LE(0x20b, OPTIONAL);
  program.writeUInt32LE(16, OPTIONAL + 108);
  return program;
}

interface SigningOptions {
  readonly hash?: string;
  /** The object identifier of the signature algorithm; absent: what fits the key. */
  readonly algorithm?: string;
  /** The certificates in the signature; absent: the signer's. */
  readonly certificates?: readonly Identity[];
  readonly program?: Buffer;
  /** The signature covers the content itself. */
  readonly withoutAttributes?: boolean;
  /** The type that the attributes state, or null: they state none. */
  readonly contentType?: string | null;
  /** Changes the stated digest before it is signed. */
  readonly editMessageDigest?: (digest: Buffer) => void;
  /** Changes the attributes after they were signed. */
  readonly editAttributes?: (der: Buffer) => void;
  /** Changes the content after it was signed. */
  readonly editContent?: (der: Buffer) => void;
  readonly editValue?: (value: Buffer) => void;
  /** Repeats the attribute with the digest. */
  readonly repeatsDigest?: boolean;
}

/** `SpcPeImageData` without flags and with an empty link, as signing tools write it. */
const PE_IMAGE_DATA = Buffer.from('3009030100a004a2028000', 'hex');
const SPC_INDIRECT_DATA = '1.3.6.1.4.1.311.2.1.4';

/** A program with an Authenticode signature by the key of `signer`. */
export function signProgram(signer: Identity, options: SigningOptions = {}): Buffer {
  const { hash = 'sha256', program = unsignedProgram() } = options;
  const covered = [
    program.subarray(0, CHECKSUM_AT),
    program.subarray(CHECKSUM_AT + 4, DIRECTORY_AT),
    program.subarray(DIRECTORY_AT + 8),
  ];
  const fileHash = HASH_OIDS[hash] === undefined || hash === 'md5' ? 'sha256' : hash;
  const hashBlock = (name: string) => sequence(oid(HASH_OIDS[name] ?? name), new Null());
  const content = sequence(
    sequence(oid('1.3.6.1.4.1.311.2.1.15'), blockOf(PE_IMAGE_DATA)),
    sequence(
      hashBlock(fileHash),
      octets(createHash(fileHash).update(Buffer.concat(covered)).digest()),
    ),
  );
  const der = derOf(
    sequence(oid('1.2.840.113549.1.7.2'), tagged(0, signedData(signer, content, options))),
  );
  const length = Math.ceil((der.length + 8) / 8) * 8;
  const table = Buffer.alloc(length);
  table.writeUInt32LE(length, 0);
  table.writeUInt16LE(0x200, 4);
  table.writeUInt16LE(2, 6);
  der.copy(table, 8);
  const signed = Buffer.concat([program, table]);
  signed.writeUInt32LE(program.length, DIRECTORY_AT);
  signed.writeUInt32LE(length, DIRECTORY_AT + 4);
  return signed;
}

function signedData(signer: Identity, content: Sequence, options: SigningOptions): BaseBlock {
  const { hash = 'sha256', certificates = [signer] } = options;
  const hashBlock = sequence(oid(HASH_OIDS[hash] ?? hash), new Null());
  const der = derOf(content);
  const inner = Buffer.from(content.valueBlock.toBER());
  const attributes = setOf(...attributesOf(inner, options));
  const isDirect = options.withoutAttributes === true;
  const value = signatureOf(
    signer.key,
    hash,
    isDirect ? inner : derOf(attributes),
    options.algorithm,
  );
  options.editValue?.(value);
  options.editContent?.(der);
  const attributesDer = derOf(attributes);
  options.editAttributes?.(attributesDer);
  attributesDer[0] = 0xa0;
  const [issuer, serial] = [issuerOf(signer), serialOf(signer)];
  const keyType = signer.key.asymmetricKeyType;
  const own = keyType === 'ec' ? ECDSA_WITH_SHA256 : keyType === 'rsa' ? RSA_ENCRYPTION : RSA_PSS;
  return sequence(
    new Integer({ value: 1 }),
    setOf(hashBlock),
    sequence(oid(SPC_INDIRECT_DATA), tagged(0, blockOf(der))),
    tagged(0, ...certificates.map(({ certificate }) => blockOf(certificate))),
    setOf(
      sequence(
        new Integer({ value: 1 }),
        sequence(issuer, serial),
        hashBlock,
        ...(isDirect ? [] : [blockOf(attributesDer)]),
        sequence(oid(options.algorithm ?? own), new Null()),
        octets(value),
      ),
    ),
  );
}

function attributesOf(content: Buffer, options: SigningOptions): readonly BaseBlock[] {
  const { hash = 'sha256', contentType = SPC_INDIRECT_DATA } = options;
  const known = hash in HASH_OIDS ? hash : 'sha256';
  const digest = createHash(known).update(content).digest();
  options.editMessageDigest?.(digest);
  const stated = sequence(oid('1.2.840.113549.1.9.4'), setOf(octets(digest)));
  return [
    ...(contentType === null
      ? []
      : [sequence(oid('1.2.840.113549.1.9.3'), setOf(oid(contentType)))]),
    sequence(oid('1.3.6.1.4.1.311.2.1.12'), setOf(sequence(new BmpString({ value: 'App' })))),
    stated,
    ...(options.repeatsDigest === true ? [stated] : []),
  ];
}

function signatureOf(key: KeyObject, hash: string, bytes: Buffer, algorithm?: string): Buffer {
  const name = hash in HASH_OIDS ? hash : 'sha256';
  const isPss = algorithm === RSA_PSS || key.asymmetricKeyType === 'rsa-pss';
  return sign(name, bytes, isPss ? { key, padding: constants.RSA_PKCS1_PSS_PADDING } : key);
}

function fieldOf({ certificate }: Identity, index: number): BaseBlock {
  const statement = (blockOf(certificate) as Sequence).valueBlock.value[0] as Sequence;
  const field = statement.valueBlock.value[index];
  if (field === undefined) throw new Error('The certificate is cut off.');
  return field;
}
const serialOf = (identity: Identity) => fieldOf(identity, 1);
const issuerOf = (identity: Identity) => fieldOf(identity, 3);
