import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { createHttp } from '../../src/client/http.ts';
import { followRepository } from '../../src/client/refresh-metadata.ts';
import { readSaved, type SavedMetadata } from '../../src/client/saved-metadata.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { createTufRepository, type TopLevelRole, type TufRepository } from './tuf-repository.ts';

/**
 * The cases of github.com/theupdateframework/tuf-conformance, the suite of the TUF project for
 * clients, by their names of August 2026. The suite starts a program for each step of a client.
 * Here the steps run in this process.
 */

/** A client with a cache of its own, which begins with version 1 of the root. */
interface TufClient {
  /** The directory of the cache. */
  readonly cache: string;
  /** Gives the client another first root. */
  install(root: string): void;
  /** Brings its metadata up to date. @throws the reason why it could not */
  refresh(): Promise<void>;
  /** The versions of the roles that it trusts now. */
  trusted(): Partial<Record<TopLevelRole, number>>;
  /** The text of a role that it trusts now. */
  text(role: TopLevelRole): string | undefined;
}

interface Parts {
  readonly repository: TufRepository;
  readonly client: TufClient;
}

/** Names a case of the suite, and says what happens in it. */
type AddCase = (name: string, run: (parts: Parts) => Promise<void>) => void;

/** Prepares the cases of a test file. They have a clock that stands still. */
export function prepareCases(): { readonly addCase: AddCase; readonly names: readonly string[] } {
  const names: string[] = [];
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
  });
  afterAll(() => directory.remove());
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2030-01-01') }));
  afterEach(() => void vi.useRealTimers());
  const addCase: AddCase = (name, run) => {
    names.push(name);
    it(name, async () => {
      const repository = createTufRepository();
      const cache = mkdtempSync(path.join(directory.path, 'cache-'));
      await run({ repository, client: createTufClient(repository, cache) });
    });
  };
  return { addCase, names };
}

function createTufClient(repository: TufRepository, cache: string): TufClient {
  const { fetch } = repository;
  const http = createHttp({ fetch, headers: {}, now: Date.now, patienceMs: 30_000 });
  let first = repository.newest('root');
  let files: SavedMetadata['files'] = {};
  return {
    cache,
    install: (root) => {
      first = root;
    },
    refresh: async () => {
      const { saved, error } = await followRepository({
        http,
        cache,
        application: 'desktop',
        shipped: { root: { version: 1 }, text: first },
        address: 'https://updates.test/metadata/',
      });
      // The next process of the application must trust the same. Before anything is verified, nothing is saved.
      const stored = await readSaved(cache);
      if (error === undefined || stored !== undefined) expect(stored).toEqual(saved);
      files = saved.files;
      if (error !== undefined) throw error;
    },
    trusted: () => {
      const versions = Object.entries(files).map(([role, text]) => [role, versionIn(text)]);
      return Object.fromEntries(versions);
    },
    text: (role) => files[role],
  };
}

function versionIn(text: string): number {
  return JSON.parse(text).signed.version;
}

/** Lets time pass for the client. */
export function passDays(days: number): void {
  vi.setSystemTime(Date.now() + days * 86_400_000);
}

/** The modules of the suite with the names of all their cases. */
export const SUITE: Readonly<Record<string, readonly string[]>> = {
  test_basic: [
    'test_basic_refresh_requests',
    'test_basic_refresh_trusted_data',
    'test_implicit_refresh',
    'test_invalid_initial_root',
    'test_unsigned_initial_root',
    'test_unsigned_metadata[root]',
    'test_unsigned_metadata[timestamp]',
    'test_unsigned_metadata[snapshot]',
    'test_unsigned_metadata[targets]',
    'test_url_and_metadata_version_mismatch[root]',
    'test_url_and_metadata_version_mismatch[snapshot]',
    'test_url_and_metadata_version_mismatch[targets]',
    'test_timestamp_content_changes',
    'test_basic_metadata_hash_support',
    'test_targets_hash_mismatch',
    'test_snapshot_hash_mismatch',
    'test_metadata_bytes_match',
    'test_custom_fields',
    'test_deprecated_keyid_hash_algorithms',
    'test_snapshot_404',
    'test_targets_404',
    'test_timestamp_404',
    'test_incorrect_metadata_type',
    'test_faketime',
  ],
  test_expiration: [
    'test_root_expired',
    'test_timestamp_expired',
    'test_snapshot_expired',
    'test_targets_expired',
    'test_expired_local_root',
    'test_expired_local_timestamp',
  ],
  test_file_download: [
    'test_client_downloads_expected_file',
    'test_client_downloads_expected_file_in_sub_dir',
    'test_repository_substitutes_target_file',
    'test_multiple_changes_to_target',
    'test_download_with_hash_algorithms[hashes0]',
    'test_download_with_hash_algorithms[hashes1]',
    'test_download_with_hash_algorithms[hashes2]',
    'test_download_with_unknown_hash_algorithm',
    'test_artifact_cache',
  ],
  test_keys: [
    'test_snapshot_does_not_meet_threshold',
    'test_snapshot_has_too_few_keys',
    'test_duplicate_keys',
    'test_duplicate_sig_keyids',
    'test_keytype_and_scheme[rsa/rsassa-pss-sha256]',
    'test_keytype_and_scheme[ecdsa/ecdsa-sha2-nistp256]',
    'test_keytype_and_scheme[ed25519/ed25519]',
    'test_invalid_sig_in_valid_metadata',
  ],
  test_quoting_issues: [
    'test_unusual_role_name[?]',
    'test_unusual_role_name[#]',
    'test_unusual_role_name[/delegatedrole]',
    'test_unusual_role_name[../delegatedrole]',
  ],
  test_repository_simulator: [
    'test_repo_initialzation_unittest',
    'test_basic_metadata_hash_support_unittest',
    'test_update_timestamp',
  ],
  test_rollback: [
    'test_new_timestamp_version_rollback',
    'test_snapshot_rollback[basic]',
    'test_snapshot_rollback[with hashes]',
    'test_targets_role_removal',
    'test_targets_fast_forward_recovery',
    'test_new_snapshot_fast_forward_recovery',
    'test_new_timestamp_fast_forward_recovery',
    'test_targets_rollback[basic]',
    'test_targets_rollback[with hashes]',
  ],
  test_static_repositories: [
    'test_static_repository[sigstore-root-signing]',
    'test_static_repository[tuf-on-ci-0.11]',
  ],
  test_updater_delegation_graphs: [
    'test_graph_traversal[basic-delegation]',
    'test_graph_traversal[single-level-delegations]',
    'test_graph_traversal[two-level-delegations]',
    'test_graph_traversal[two-level-test-DFS-order-of-traversal]',
    'test_graph_traversal[three-level-delegation-test-DFS-order-of-traversal]',
    'test_graph_traversal[two-level-terminating-ignores-all-but-roles-descendants]',
    'test_graph_traversal[three-level-terminating-ignores-all-but-roles-descendants]',
    'test_graph_traversal[two-level-ignores-all-branches-not-matching-paths]',
    'test_graph_traversal[three-level-ignores-all-branches-not-matching-paths]',
    'test_graph_traversal[cyclic-graph]',
    'test_graph_traversal[two-roles-delegating-to-a-third]',
    'test_graph_traversal[two-roles-delegating-to-a-third-different-paths]',
    'test_targetfile_search[no delegations]',
    'test_targetfile_search[targetpath matches wildcard]',
    'test_targetfile_search[targetpath with separators x]',
    'test_targetfile_search[targetpath with separators y]',
    'test_targetfile_search[targetpath is not delegated by all roles in the chain]',
    'test_targetfile_search[wildcard does not match path separator]',
    'test_targetfile_search[targetpath matches question mark wildcard]',
    'test_targetfile_search[targetpath does not match question mark wildcard]',
    'test_targetfile_search[targetpath matching is case sensitive]',
    'test_cached_role_is_verified_against_current_delegator',
    'test_delegation_not_in_snapshot',
  ],
  test_updater_key_rotations: [
    'test_root_rotation[1-of-1-key-rotation]',
    'test_root_rotation[1-of-1-key-rotation-unused-signatures]',
    'test_root_rotation[3-of-5-sign-with-different-keycombos]',
    'test_root_rotation[3-of-5-one-key-rotated]',
    'test_root_rotation[3-of-5-one-key-rotated-with-intermediate-step]',
    'test_root_rotation[3-of-5-all-keys-rotated-with-intermediate-step]',
    'test_root_rotation[1-of-3-threshold-increase-to-2-of-3]',
    'test_root_rotation[2-of-3-threshold-decrease-to-1-of-3]',
    'test_root_rotation[1-of-2-threshold-increase-to-2-of-2]',
    'test_root_rotation[1-of-1-key-rotation-fail-not-signed-with-old-key]',
    'test_root_rotation[1-of-1-key-rotation-fail-not-signed-with-new-key]',
    'test_root_rotation[3-of-5-one-key-rotate-fails-not-signed-with-3-new-keys]',
    'test_root_rotation[3-of-5-one-key-rotate-fails-not-signed-with-3-old-keys]',
    'test_root_rotation[1-of-3-threshold-bump-to-2-of-3-fails-new-threshold-not-reached]',
    'test_root_rotation[2-of-3-threshold-decr-to-1-of-3-fails-old-threshold-not-eached]',
    'test_non_root_rotations[1-of-1-key-rotation]',
    'test_non_root_rotations[1-of-1-key-rotation-unused-signatures]',
    'test_non_root_rotations[1-of-1-key-rotation-fail-not-signed-with-new-key]',
    'test_non_root_rotations[3-of-5-one-key-signature-wrong-not-signed-with-3-expected-keys]',
    'test_non_root_rotations[2-of-5-one-key-signature-mising-threshold-not-reached]',
    'test_non_root_rotations[3-of-5-sign-first-combo]',
    'test_non_root_rotations[3-of-5-sign-second-combo]',
    'test_non_root_rotations[3-of-5-sign-third-combo]',
    'test_non_root_rotations[3-of-5-sign-fourth-combo]',
    'test_non_root_rotations[3-of-5-sign-fifth-combo]',
  ],
};

/** The modules whose cases are in tuf-key-rotations.test.ts. */
export const MODULES_OF_KEYS: readonly string[] = ['test_keys', 'test_updater_key_rotations'];

const DOWNLOADS = 'The workflow downloads no files: our updater does that itself.';
const DELEGATED = 'The workflow ends before delegated roles: our updater reads them itself.';
const SIMULATOR = 'It tests the simulator of the suite, and no client.';

/** Why a case of the suite has no test here, by its name. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  test_implicit_refresh: DOWNLOADS,
  test_client_downloads_expected_file: DOWNLOADS,
  test_client_downloads_expected_file_in_sub_dir: DOWNLOADS,
  test_repository_substitutes_target_file: DOWNLOADS,
  test_multiple_changes_to_target: DOWNLOADS,
  'test_download_with_hash_algorithms[hashes0]': DOWNLOADS,
  'test_download_with_hash_algorithms[hashes1]': DOWNLOADS,
  'test_download_with_hash_algorithms[hashes2]': DOWNLOADS,
  test_download_with_unknown_hash_algorithm: DOWNLOADS,
  test_artifact_cache: DOWNLOADS,
  'test_unusual_role_name[?]': DELEGATED,
  'test_unusual_role_name[#]': DELEGATED,
  'test_unusual_role_name[/delegatedrole]': DELEGATED,
  'test_unusual_role_name[../delegatedrole]': DELEGATED,
  test_repo_initialzation_unittest: SIMULATOR,
  test_basic_metadata_hash_support_unittest: SIMULATOR,
  test_update_timestamp: SIMULATOR,
  'test_static_repository[sigstore-root-signing]': DOWNLOADS,
  'test_static_repository[tuf-on-ci-0.11]': DOWNLOADS,
  'test_graph_traversal[basic-delegation]': DELEGATED,
  'test_graph_traversal[single-level-delegations]': DELEGATED,
  'test_graph_traversal[two-level-delegations]': DELEGATED,
  'test_graph_traversal[two-level-test-DFS-order-of-traversal]': DELEGATED,
  'test_graph_traversal[three-level-delegation-test-DFS-order-of-traversal]': DELEGATED,
  'test_graph_traversal[two-level-terminating-ignores-all-but-roles-descendants]': DELEGATED,
  'test_graph_traversal[three-level-terminating-ignores-all-but-roles-descendants]': DELEGATED,
  'test_graph_traversal[two-level-ignores-all-branches-not-matching-paths]': DELEGATED,
  'test_graph_traversal[three-level-ignores-all-branches-not-matching-paths]': DELEGATED,
  'test_graph_traversal[cyclic-graph]': DELEGATED,
  'test_graph_traversal[two-roles-delegating-to-a-third]': DELEGATED,
  'test_graph_traversal[two-roles-delegating-to-a-third-different-paths]': DELEGATED,
  'test_targetfile_search[no delegations]': DELEGATED,
  'test_targetfile_search[targetpath matches wildcard]': DELEGATED,
  'test_targetfile_search[targetpath with separators x]': DELEGATED,
  'test_targetfile_search[targetpath with separators y]': DELEGATED,
  'test_targetfile_search[targetpath is not delegated by all roles in the chain]': DELEGATED,
  'test_targetfile_search[wildcard does not match path separator]': DELEGATED,
  'test_targetfile_search[targetpath matches question mark wildcard]': DELEGATED,
  'test_targetfile_search[targetpath does not match question mark wildcard]': DELEGATED,
  'test_targetfile_search[targetpath matching is case sensitive]': DELEGATED,
  test_cached_role_is_verified_against_current_delegator: DELEGATED,
  test_delegation_not_in_snapshot: DELEGATED,
};
