/** How the service signs in, for the console in the service. */

export const TOKEN = 'token-of-the-fixture';

export function answerSignIn(body: string) {
  const { email, password } = JSON.parse(body);
  if (password !== 'correct horse') {
    const detail = 'The email address or the password is wrong.';
    return { status: 401, body: { status: 401, code: 'invalid_credentials', detail } };
  }
  const account = { id: 'a1', email, email_verified: true, tier: 'pro' };
  return {
    status: 200,
    body: { access_token: TOKEN, refresh_token: 'refresh', expires_in: 600, account },
  };
}
