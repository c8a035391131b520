import { AppError } from '../../core/errors.ts';
import { applicationAtLegacyAddress } from '../../updaters/legacy/legacy-static.ts';
import { makePlan } from './make-plan.ts';
import type { ExportPlan } from './plan.ts';
import { openQuestions, type QuestionDeps, type Questions } from './questions.ts';
import { type WriteDeps, type Written, writePlan } from './write.ts';

interface ExportDeps extends QuestionDeps, Pick<WriteDeps, 'target' | 'onProgress'> {}

interface ExportRequest {
  /** The address at which clients will find the export, without a slash at its end. */
  readonly publicUrl: string;
  /** Undefined: all applications. */
  readonly application: string | undefined;
  readonly withAliases: boolean;
  readonly also: readonly string[];
  readonly isDryRun: boolean;
}

export interface ExportResult extends Written {
  readonly applications: readonly string[];
  readonly leftOut: ExportPlan['leftOut'];
  /** The numbers of all addresses of the export, whether this export or an earlier export wrote them. */
  readonly addresses: { readonly documents: number; readonly files: number };
}

/**
 * Writes every feed and file address into a bucket or a directory. A static server then gives the same answers as the
 * service gives to a client without credentials and without an id.
 *
 * @throws AppError `unknown_application`, `catalog_unavailable`
 */
export async function exportStatic(
  deps: ExportDeps,
  request: ExportRequest,
): Promise<ExportResult> {
  const { target } = deps;
  const { publicUrl, application, isDryRun } = request;
  const questions = await openQuestions(deps, publicUrl);
  try {
    const all = questions.applications();
    if (application !== undefined && !all.includes(application)) {
      const detail = `There is no application ${JSON.stringify(application)} here. Applications: ${all.join(', ') || 'none'}.`;
      throw new AppError('unknown_application', detail);
    }
    const applications = application === undefined ? all : [application];
    if (applications.length === 0) {
      // An export without applications would remove the files of an earlier export.
      throw new AppError('unknown_application', 'No application is published yet.');
    }
    const plan = await makePlan(questions, { ...deps, ...request, applications });
    const before = await target.open(isDryRun);
    try {
      // An export of one application keeps the addresses of other applications in an earlier export.
      const own = application === undefined ? before : before.filter(isOf(application, questions));
      const written = await writePlan({ ...deps, isDryRun }, plan, own);
      const addresses = { documents: plan.documents.length, files: plan.files.length };
      return { ...written, applications, leftOut: plan.leftOut, addresses };
    } finally {
      await target.close();
    }
  } finally {
    await questions.close();
  }
}

/** Says whether an address of an earlier export belongs to an application. */
function isOf(application: string, { config }: Pick<Questions, 'config'>) {
  const { defaultApplication, legacy } = config;
  const facts = { defaultApplication, applications: legacy.applications };
  return (path: string): boolean =>
    path.startsWith(`feeds/${application}/`) ||
    applicationAtLegacyAddress(path, facts) === application;
}
