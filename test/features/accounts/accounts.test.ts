import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config.ts';
import { json, ROOT, slipway } from '../../cli/support.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/** Changes of accounts by admins while a service runs on the same directory. Each test goes on from the one before. */
describe('slipway accounts', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let service: TestService;
  const TIERS = '{"free":[],"pro":["developer_keys","analytics"]}';
  const run = (...arguments_: string[]) =>
    slipway(arguments_, { cwd: directory.path, env: { TIERS } });

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    service = await createTestService({
      env: { DATA_DIR: path.join(directory.path, 'data'), TIERS },
    });
  });
  afterAll(() => Promise.all([service.close(), directory.remove()]));

  const post = async (address: string, payload: object) => {
    const response = await service.app.http.inject({ method: 'POST', url: address, payload });
    return { status: response.statusCode, body: response.body === '' ? {} : response.json() };
  };
  const register = (email: string) =>
    post('/api/v1/auth/register', { email, password: 'correct horse', name: 'Ada' });
  const device = { id: 'd', name: 'Laptop' };
  const login = (password: string) =>
    post('/api/v1/auth/login', { email: 'ada@example.com', password, platform: 'linux', device });
  const refresh = (token: string) =>
    post('/api/v1/auth/refresh', { refresh_token: token, platform: 'linux', device });

  it('says that there are no accounts yet', async () => {
    await service.store.create('probe/first', new Uint8Array(1));
    expect(await run('accounts', 'list')).toMatchObject({
      code: 0,
      stdout: 'There are no accounts in ./data.\n',
    });
    const unknown = await run('accounts', 'show', 'ada@example.com');
    expect(unknown).toMatchObject({ code: 3, stdout: '' });
    expect(unknown.stderr).toMatch(/^slipway: There is no such account/);
  });

  it('lists and shows accounts and sessions, and no password', async () => {
    await register('Ada@Example.com');
    await register('bob@example.com');
    const { body } = await login('correct horse');
    const listed = await run('accounts', 'list');
    expect(listed.stdout).toMatch(
      /^Accounts in \.\/data:\nADDRESS +NAME +TIER +STATE +REGISTERED +ID\n/,
    );
    expect(listed.stdout).toMatch(/^ada@example\.com +Ada +free +open +2/m);
    const { accounts } = json(await run('accounts', 'list', '--json'));
    expect(accounts).toHaveLength(2);
    const shown = await run('accounts', 'show', 'ADA@example.com', '--json');
    expect(json(shown)).toMatchObject({
      id: body.account.id,
      email: 'ada@example.com',
      tier: 'free',
      locked: null,
      sessions: [{ platform: 'linux', device_name: 'Laptop' }],
      developer_keys: [],
    });
    const text = await run('accounts', 'show', body.account.id);
    expect(text.stdout).toMatch(/SESSION +PLATFORM +DEVICE/);
    expect(listed.stdout + shown.stdout + text.stdout).not.toMatch(/argon2|correct horse|slr1/);
  });

  it('sets a tier of TIERS, which clients get with their next refresh', async () => {
    const { body } = await login('correct horse');
    const refused = await run('accounts', 'set-tier', 'ada@example.com', 'gold');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('TIERS has: free, pro.');
    const set = await run('accounts', 'set-tier', 'ada@example.com', 'pro');
    expect(set.stdout).toContain('ada@example.com in ./data has the tier pro.');
    expect((await refresh(body.refresh_token)).body.account.tier).toBe('pro');
    await run('accounts', 'set-tier', 'ada@example.com', 'default');
    expect(json(await run('accounts', 'show', 'ada@example.com', '--json')).tier).toBe('free');
  });

  it('locks an account: its owner is signed out everywhere and cannot sign in until it is unlocked', async () => {
    const { body } = await login('correct horse');
    const locked = await run('accounts', 'lock', 'ada@example.com', '--reason', 'fraud');
    expect(locked.stdout).toMatch(/locked and signed out everywhere/);
    expect(await refresh(body.refresh_token)).toMatchObject({
      status: 401,
      body: { code: 'session_ended' },
    });
    expect(await login('correct horse')).toMatchObject({
      status: 403,
      body: { code: 'account_locked' },
    });
    expect((await run('accounts', 'show', 'ada@example.com')).stdout).toMatch(/locked .*fraud/);
    expect((await run('accounts', 'unlock', 'ada@example.com')).code).toBe(0);
    expect((await login('correct horse')).status).toBe(200);
  });

  it('sets a password that it reads from standard input', async () => {
    const changed = await slipway(['accounts', 'set-password', 'bob@example.com'], {
      cwd: directory.path,
      stdin: 'a new battery\n',
    });
    expect(changed.stdout).toMatch(/bob@example\.com in \.\/data has the new password/);
    const signIn = (password: string) =>
      post('/api/v1/auth/login', { email: 'bob@example.com', password, platform: 'linux', device });
    expect((await signIn('correct horse')).status).toBe(401);
    expect((await signIn('a new battery')).status).toBe(200);
  });

  it('invites an address, lists the invitation, and withdraws it', async () => {
    const invited = await run('accounts', 'invite', 'Grace@Example.com', '--days', '3');
    expect(invited.stdout).toMatch(/^sli_[\w-]{32}\n/);
    expect(invited.stdout).toMatch(
      /^Send this code to grace@example\.com\. .*once, until 2.*, on a service .* that uses \.\/data\./m,
    );
    const { code, email } = json(await run('accounts', 'invite', 'joan@example.com', '--json'));
    expect(code).toMatch(/^sli_/);
    const listed = await run('accounts', 'invitations');
    expect(listed.stdout).toMatch(/^Open invitations in \.\/data:\nADDRESS +INVITED +EXPIRES\n/);
    expect(listed.stdout).toMatch(/^grace@example\.com +2/m);
    expect(listed.stdout).not.toContain('sli_');
    const { invitations } = json(await run('accounts', 'invitations', '--json'));
    expect(invitations).toContainEqual(expect.objectContaining({ email }));
    const withdrawn = await run('accounts', 'withdraw', 'GRACE@example.com');
    expect(withdrawn).toMatchObject({ code: 0, stdout: expect.stringMatching(/cannot register/) });
    const again = await run('accounts', 'withdraw', 'grace@example.com');
    expect(again).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/There is no open invitation/),
    });
    await run('accounts', 'withdraw', 'joan@example.com');
    expect((await run('accounts', 'invitations')).stdout).toBe(
      'There are no open invitations in ./data.\n',
    );
  });

  it('refuses to invite an address that has an account, and a text that is not an address', async () => {
    const known = await run('accounts', 'invite', 'ada@example.com');
    expect(known).toMatchObject({ code: 3, stdout: '' });
    expect(known.stderr).toMatch(/ada@example\.com already has an account/);
    for (const wrong of [
      ['ada'],
      [''],
      ['x@example.com', '--days', '0'],
      ['x@example.com', '--days', '31'],
      ['x@example.com', '--days', 'soon'],
    ]) {
      expect((await run('accounts', 'invite', ...wrong)).code, wrong.join(' ')).toBe(2);
    }
  });

  it('asks a person at a terminal before it erases, and erases nothing without a yes', async () => {
    const erase = (typed: string, ...options: string[]) =>
      slipway(['accounts', 'erase', 'ada@example.com', ...options], {
        cwd: directory.path,
        stdin: typed,
        isTerminal: true,
      });
    for (const typed of ['n\n', '\n', '', 'yellow\n']) {
      const { code, stdout, stderr } = await erase(typed);
      expect([typed, code, stdout]).toEqual([typed, 3, '']);
      expect(stderr).toMatch(
        /^This deletes ada@example\.com \([0-9a-f]{32}\) in \.\/data .*It cannot be undone\.\nContinue\? \[y\/N\] /,
      );
      expect(stderr).toMatch(/nothing was changed/);
    }
    // A dry run changes nothing, so that it asks nothing.
    const dryRun = await erase('', '--dry-run');
    expect([dryRun.code, dryRun.stderr]).toEqual([0, '']);
    expect((await run('accounts', 'show', 'ada@example.com')).code).toBe(0);
  });

  it('erases permanently: after a yes, with --yes, and without a question in a script', async () => {
    const grace = ['accounts', 'erase', 'grace@example.com'];
    const joan = ['accounts', 'erase', 'joan@example.com', '--yes'];
    const terminal = { cwd: directory.path, isTerminal: true };
    for (const name of ['grace', 'joan']) await register(`${name}@example.com`);
    expect((await slipway(grace, { ...terminal, stdin: 'y\n' })).code).toBe(0);
    expect(await slipway(joan, terminal)).toMatchObject({ code: 0, stderr: '' });
    const script = await run('accounts', 'erase', 'bob@example.com');
    expect(script.stdout).toMatch(/^Deleted bob@example\.com /);
    for (const name of ['grace', 'joan', 'bob']) {
      expect((await run('accounts', 'show', `${name}@example.com`)).code).toBe(3);
    }
    const { accounts } = json(await run('accounts', 'list', '--json'));
    expect(accounts.map(({ email }: { email: string }) => email)).toEqual(['ada@example.com']);
  });
});

describe('slipway keys', () => {
  const run = (arguments_: string[], keys?: string) =>
    slipway(['keys', ...arguments_], {
      cwd: ROOT,
      env: keys === undefined ? {} : { ACCESS_TOKEN_KEYS: keys },
    });
  const kids = (stdout: string) =>
    JSON.parse(stdout).keys.map(({ kid }: { kid: string }) => kid) as string[];

  it('prints keys that the configuration accepts, and rotates them in steps', async () => {
    const made = (await run([])).stdout.trim();
    expect(loadConfig({ ACCESS_TOKEN_KEYS: made }).accounts.accessTokenKeys?.reveal()).toBe(made);
    const [old] = kids(made);
    const added = (await run(['--add'], made)).stdout;
    expect(kids(added)).toEqual([old, expect.any(String)]);
    const next = kids(added)[1];
    const switched = (await run(['--switch'], added)).stdout;
    expect(kids(switched)).toEqual([next, old]);
    expect(kids((await run(['--retire'], switched)).stdout)).toEqual([next]);
  });

  it('refuses a step without current keys, and two steps at once', async () => {
    expect(await run(['--add'])).toMatchObject({ code: 2, stdout: '' });
    expect((await run(['--add', '--retire'])).stderr).toMatch(/one step at a time/);
  });
});
