import { counted } from '../../core/counted.ts';
import { type VerifyResult, verifyCatalog } from '../../releases/verify/verify-catalog.ts';
import { openContext } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { formatBytes, printJson } from '../output.ts';
import { createProgress } from '../progress.ts';
import { print, type Terminal } from '../terminal.ts';

export async function verify(
  terminal: Terminal,
  options: { app?: string; deep: boolean; json: boolean },
): Promise<number> {
  const context = await openContext(terminal);
  const progress = createProgress(terminal, options.json);
  const { listProblems, applications: results } = await verifyCatalog(
    {
      ...context,
      onProgress: (done, total, what) => progress.show(`checking ${what}`, done, total),
    },
    { application: options.app, deep: options.deep },
  ).finally(progress.stop);
  const isSound =
    listProblems.length === 0 && results.every(({ problems }) => problems.length === 0);
  const code = isSound ? EXIT.done : EXIT.failed;
  if (options.json) {
    const applications = results.map((result) => ({
      app: result.application,
      catalog_revision: result.revision,
      revisions_checked: result.revisionsChecked,
      manifests_checked: result.manifestsChecked,
      files_checked: result.filesChecked,
      bytes_read: result.bytesRead,
      signatures_verified: result.signaturesVerified,
      problems: result.problems,
    }));
    printJson(terminal, { sound: isSound, list_problems: listProblems, applications });
    return code;
  }
  const where = context.place.text;
  if (listProblems.length > 0) {
    print(
      terminal,
      `List of applications in ${where}: ${counted(listProblems.length, 'problem')}.`,
    );
    for (const problem of listProblems) print(terminal, `  ${problem}`);
  }
  if (results.length === 0) print(terminal, `No application is published in ${where} yet.`);
  for (const result of results) {
    print(
      terminal,
      `${result.application} in ${where}: revision ${result.revision}; ${checkedOf(result)}.`,
    );
    for (const problem of result.problems) print(terminal, `  ${problem}`);
  }
  return code;
}

function checkedOf(result: VerifyResult): string {
  const { revisionsChecked, manifestsChecked, filesChecked, bytesRead, problems } = result;
  const { signaturesVerified } = result;
  const checked = [
    counted(revisionsChecked, 'revision'),
    `${counted(manifestsChecked, 'manifest')} and ${counted(filesChecked, 'file')} checked`,
    ...(bytesRead > 0 ? [`${formatBytes(bytesRead)} read`] : []),
    ...(signaturesVerified > 0 ? [`${counted(signaturesVerified, 'signature')} verified`] : []),
  ];
  const verdict = problems.length === 0 ? 'sound' : counted(problems.length, 'problem');
  return `${checked.join(', ')}: ${verdict}`;
}
