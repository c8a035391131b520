import { describe, expect, it } from 'vitest';
import { loadConfig, withoutOthers } from '../../../src/config.ts';
import { pointersOf, refusalOf } from '../../support/refused-settings.ts';

describe('the settings of the contact form', () => {
  it('sends mail when all of it is set, and keeps messages otherwise', () => {
    const SMTP_URL = 'smtp://mail.example.com:587';
    expect(pointersOf({ SMTP_URL })).toEqual(['/CONTACT_FROM', '/CONTACT_TO']);
    const from = { CONTACT_FROM: 'from@example.com' };
    expect(pointersOf({ SMTP_URL, ...from })).toEqual(['/CONTACT_TO']);
    expect(loadConfig(from).contact.mail).toBeUndefined();
    const whole = { SMTP_URL, ...from, CONTACT_TO: 'to@example.com' };
    const { mail, keptMs } = loadConfig({ ...whole, CONTACT_KEPT: '30d' }).contact;
    expect(mail).toMatchObject({ from: 'from@example.com', to: 'to@example.com' });
    expect(mail?.smtpUrl.reveal()).toBe(SMTP_URL);
    expect(keptMs).toBe(30 * 86_400_000);
    for (const bad of ['mail.example.com', 'https://mail.example.com', 'smtp']) {
      expect(pointersOf({ ...whole, SMTP_URL: bad })).toEqual(['/SMTP_URL']);
    }
  });

  it('takes one plain address: anything else could add a header', () => {
    for (const bad of [
      'nobody',
      'a@example.com, b@example.com',
      'Ada <ada@example.com>',
      'a@example.com\r\nBcc: b@example.com',
    ]) {
      for (const name of ['CONTACT_FROM', 'CONTACT_TO']) {
        expect(pointersOf({ [name]: bad }), bad).toEqual([`/${name}`]);
      }
    }
  });

  it('CONTACT_PER_ADDRESS is a whole number from 1', () => {
    expect(loadConfig({}).contactPerAddress).toBe(5);
    expect(loadConfig({ CONTACT_PER_ADDRESS: '1' }).contactPerAddress).toBe(1);
    expect(loadConfig({ CONTACT_PER_ADDRESS: '999999' }).contactPerAddress).toBe(999_999);
    for (const bad of ['0', '-1', '1.5', '1e3', 'many', '1000000', '0x10']) {
      expect(pointersOf({ CONTACT_PER_ADDRESS: bad }), bad).toEqual(['/CONTACT_PER_ADDRESS']);
    }
  });

  it('CONTACT_KEPT=0s is refused with what the value must be', () => {
    expect(refusalOf({ CONTACT_KEPT: '0s' }).issues).toEqual([
      {
        pointer: '/CONTACT_KEPT',
        detail: 'must be a duration of at least 1s: a number and its unit, s, m, h or d',
      },
    ]);
  });

  it('send no mail from a service that only answers', () => {
    const all = loadConfig({
      SMTP_URL: 'smtp://127.0.0.1:25',
      CONTACT_FROM: 'website@example.com',
      CONTACT_TO: 'hello@example.com',
    });
    expect(all.contact.mail).toBeDefined();
    expect(withoutOthers(all).contact).toEqual({ ...all.contact, mail: undefined });
  });
});
