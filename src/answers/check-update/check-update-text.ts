import { z } from 'zod';
import { REASONS } from '../../domain/decide-update.ts';
import { ARCHES, PLATFORMS } from '../../domain/platform.ts';
import { notesFor } from '../../domain/release.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { compareVersions, type Version, versionText } from '../../domain/version.ts';
import type { PresignedUrl } from '../../store/object-store.ts';
import type { FoundUpdate } from '../find-update.ts';
import { describeLinkedFile, linkedFileSchema } from '../linked-file.ts';

/** The answer of check-update: its schema, and its JSON text. */

const commonSchema = {
  reason: z
    .enum(REASONS)
    .describe(
      'held_by_rollout: the newest release is offered to a share of the installations only, and not to this one yet. not_entitled: the channel needs a tier that the account of the bearer token, if any, does not have.',
    ),
  app: z.string(),
  channel: z.string(),
  current_version: z.string(),
  latest_version: z
    .string()
    .nullable()
    .describe(
      'The newest release that every client on this kind of machine is offered; null when there is none.',
    ),
  catalog_revision: z.int(),
  check_again_after_seconds: z.int(),
};

export const checkUpdateAnswerSchema = z.discriminatedUnion('update_available', [
  z.strictObject({ update_available: z.literal(false), ...commonSchema }),
  z.strictObject({
    update_available: z.literal(true),
    ...commonSchema,
    version: z.string(),
    mandatory: z.boolean(),
    downgrade: z
      .boolean()
      .describe(
        'Whether the version is older than current_version: only for a client that sends allow_downgrade, on a channel that permits it.',
      ),
    released_at: z.string(),
    notes: z.string().nullable().describe('Markdown.'),
    platform: z.enum(PLATFORMS),
    arch: z.enum(ARCHES).describe("The artifact's; x64 on arm64 machines that emulate it."),
    download: linkedFileSchema,
  }),
]);

interface CheckUpdateRenderer {
  /**
   * @param query the question, with the version that the answer repeats
   * @param locale BCP 47; null when the client does not state one
   * @param latestVersion the newest release for this kind of machine, in any format; null when there is none
   * @param link the link to the offered artifact, for GET; undefined without an offer
   * @returns JSON text, as {@link checkUpdateAnswerSchema} describes it
   */
  render(
    query: Pick<UpdateQuery, 'application'> & { readonly currentVersion: Version },
    locale: string | null,
    found: FoundUpdate,
    latestVersion: string | null,
    link: PresignedUrl | undefined,
  ): string;
}

/**
 * Renders answers as text. Most of an offer's text is the same for every client of an artifact, and this part is much
 * longer than the rest. So the renderer makes this part once per artifact, link and language.
 */
export function createCheckUpdateRenderer({
  checkAgainAfterSeconds,
}: {
  readonly checkAgainAfterSeconds: number;
}): CheckUpdateRenderer {
  const offers = createOfferTexts();
  return {
    render: ({ application, currentVersion }, locale, found, latestVersion, link) => {
      const { channel, decision, offered, revision } = found;
      // The answer is joined from texts, because JSON.stringify takes longer than the decision. Versions, reasons and
      // numbers have no character that JSON escapes.
      const common = `"reason":"${decision.reason}","app":${JSON.stringify(application)},"channel":${JSON.stringify(channel.name)},"current_version":"${versionText(currentVersion)}","latest_version":${latestVersion === null ? 'null' : `"${latestVersion}"`},"catalog_revision":${revision},"check_again_after_seconds":${checkAgainAfterSeconds}`;
      if (decision.reason !== 'offer' || offered === undefined || link === undefined) {
        return `{"update_available":false,${common}}`;
      }
      const isDowngrade = compareVersions(decision.offer.version, currentVersion) < 0;
      const offer = offers.textOf(offered, link, locale);
      return `{"update_available":true,${common},"mandatory":${decision.mandatory},"downgrade":${isDowngrade},${offer}}`;
    },
  };
}

type OfferedFile = NonNullable<FoundUpdate['offered']>;

interface OfferTexts {
  textOf(offered: OfferedFile, link: PresignedUrl, locale: string | null): string;
}

/** The texts of one artifact while it has this link. */
interface ArtifactTexts {
  readonly link: PresignedUrl;
  /** By notes: at most one text for each language of the release's notes. */
  readonly byNotes: Map<string | null, string>;
}

function createOfferTexts(): OfferTexts {
  // The map is by artifact and not by link, because releases with the same bytes share a link. It is weak, so that the
  // texts of a release are collected together with the release.
  const byArtifact = new WeakMap<object, ArtifactTexts>();
  return {
    textOf: (offered, link, locale) => {
      const { release, artifact } = offered;
      const notes = notesFor(release.notes, locale);
      let texts = byArtifact.get(artifact);
      if (texts?.link !== link) {
        texts = { link, byNotes: new Map() };
        byArtifact.set(artifact, texts);
      }
      let text = texts.byNotes.get(notes);
      if (text === undefined) {
        text = renderOffer(offered, link, notes);
        texts.byNotes.set(notes, text);
      }
      return text;
    },
  };
}

/** The members of a JSON object, without its braces. */
function renderOffer(
  { release, artifact }: OfferedFile,
  link: PresignedUrl,
  notes: string | null,
): string {
  const offer = {
    version: release.version,
    released_at: release.releasedAt,
    notes,
    platform: artifact.platform,
    arch: artifact.arch,
    download: describeLinkedFile(artifact, link),
  };
  return JSON.stringify(offer).slice(1, -1);
}
