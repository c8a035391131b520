import { type ReaderDeps, readApplications, readRevision } from '../../../catalog/reading/read.ts';
import { parseRoot, type TrustRoot } from '../../../catalog/trust/root.ts';
import type { Trust } from '../../../catalog/trust/trust.ts';
import type { Finding } from '../../../core/check.ts';
import { isAppError } from '../../../core/errors.ts';
import { type AddressDeps, answered, parse } from './ask.ts';
import { failed, ok, skipped, warning } from './finding.ts';

/** Checks that this machine, and the service, have the root of trust of each signed application. */

/**
 * The dependencies of checks that read catalogs. Without any root of trust they verify nothing, because the other checks
 * must work on such a machine too: {@link checkSignatures} names the signed applications.
 */
export function readingWithoutRoot<D extends ReaderDeps>(deps: D): D {
  const hasRoots = (deps.trust?.applications.length ?? 0) > 0;
  return hasRoots ? deps : { ...deps, trust: undefined };
}

interface SignedApplications {
  /** The applications with a root here, which therefore are verified. */
  readonly verified: readonly string[];
  /** The signed applications that TRUST_UNSIGNED names. */
  readonly unverified: readonly string[];
  /** Why the other signed applications are refused, by their names. */
  readonly refused: ReadonlyMap<string, string>;
}

async function findSigned(deps: ReaderDeps, trust: Trust): Promise<SignedApplications> {
  const verified: string[] = [];
  const unverified: string[] = [];
  const refused = new Map<string, string>();
  for (const name of await readApplications({ ...deps, trust: undefined })) {
    const refusal = trust.refusalOf(name) ?? (await refusalOf(deps, trust, name));
    if (refusal !== undefined) refused.set(name, refusal);
    else if (trust.of(name) !== undefined) verified.push(name);
    else if (trust.withoutRoot(name)?.isUnverified() === true) unverified.push(name);
  }
  return { verified, unverified, refused };
}

async function refusalOf(
  deps: ReaderDeps,
  trust: Trust,
  application: string,
): Promise<string | undefined> {
  const rootless = trust.withoutRoot(application);
  if (rootless === undefined) return undefined;
  try {
    await rootless.look(await readSoundRevision(deps, application));
    return undefined;
  } catch (error) {
    if (isAppError(error, 'root_missing')) return error.message;
    throw error;
  }
}

/** Leaves out a corrupt revision: another check reports it. */
async function readSoundRevision(deps: ReaderDeps, application: string) {
  try {
    return await readRevision({ ...deps, trust: undefined }, application);
  } catch (error) {
    if (isAppError(error) && error.kind === 'corrupt') return undefined;
    throw error;
  }
}

const SET_ROOT =
  'Set TRUST_ROOT to the root files of these applications, and remove them from TRUST_UNSIGNED.';

/** Checks that this machine has the root of trust of each signed application in the store. */
export async function checkSignatures(deps: ReaderDeps): Promise<Finding> {
  const { trust } = deps;
  if (trust === undefined) return skipped('This check needs the settings of trust.');
  const { verified, unverified, refused } = await findSigned(deps, trust);
  if (refused.size > 0) return failed([...refused.values()].join(' '), null);
  if (unverified.length > 0) {
    const why = `These signed applications are read and served without verification, because TRUST_UNSIGNED names them: ${unverified.join(', ')}.`;
    return warning(why, SET_ROOT);
  }
  if (verified.length === 0) return ok('No application is signed.');
  return ok(`TRUST_ROOT has the root of trust of ${verified.join(', ')}.`);
}

/** Checks that the service has the roots of trust that this machine has, and a root for each signed application. */
export async function checkServedRoots(deps: AddressDeps): Promise<Finding> {
  const { trust, catalogs } = deps;
  if (trust === undefined) return skipped('This check needs the settings of trust.');
  const signed =
    catalogs === undefined
      ? { verified: trust.applications, unverified: [], refused: new Map<string, string>() }
      : await findSigned(catalogs, trust);
  const rootless = [...signed.unverified, ...signed.refused.keys()];
  const problems: string[] = [];
  for (const name of signed.verified) {
    const root = trust.of(name)?.anchor;
    const problem = root && (await findRootProblem(deps, root));
    if (problem !== undefined) problems.push(problem);
  }
  for (const name of rootless) {
    const problem = await findUnverified(deps, name);
    if (problem !== undefined) problems.push(problem);
  }
  if (problems.length > 0) {
    return failed(
      problems.join(' '),
      'Set TRUST_ROOT of the service to the root files of these applications. The log of the service says what it refuses.',
    );
  }
  if (rootless.length > 0) {
    return skipped(
      `The service has roots of trust, and this command has none to compare for ${rootless.join(', ')}. Set TRUST_ROOT.`,
    );
  }
  if (signed.verified.length > 0) {
    return ok(`The service has the same root of trust of ${signed.verified.join(', ')}.`);
  }
  return catalogs === undefined
    ? skipped('This command knows no root of trust to compare with.')
    : ok('No application is signed.');
}

async function findRootProblem(deps: AddressDeps, root: TrustRoot): Promise<string | undefined> {
  const { application, version } = root;
  const reply = await deps.ask(`${deps.url}/tuf/${application}/${version}.root.json`);
  const { code } = parse<{ code?: string }>(reply.text) ?? {};
  if (code === 'unknown_application') return undefined;
  if (reply.status !== 200) {
    const unverified = await findUnverified(deps, application);
    return unverified ?? `The service has no root ${version} of ${application}.`;
  }
  try {
    const served = parseRoot(Buffer.from(reply.text), `Root ${version} of the service`);
    if (served.digest === root.digest) return undefined;
  } catch (error) {
    if (!isAppError(error, 'document_corrupt')) throw error;
  }
  return `The service has another root ${version} of ${application} than TRUST_ROOT here.`;
}

/**
 * Undefined when the service serves signed metadata of the application, because it then has a root; also when the
 * service serves nothing of it, because no release was offered yet.
 */
async function findUnverified(
  { ask, url }: AddressDeps,
  application: string,
): Promise<string | undefined> {
  const reply = await ask(`${url}/tuf/${application}/timestamp.json`);
  const { code } = parse<{ code?: string }>(reply.text) ?? {};
  if (reply.status === 200 || code === 'unknown_application') return undefined;
  if (reply.status === 404) {
    return `The service has no root of trust of ${application}, which is signed: it verifies no signature of it.`;
  }
  return `A request for the signed metadata of ${application} ${answered(reply)}.`;
}
