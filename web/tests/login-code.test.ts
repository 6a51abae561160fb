// The form for a code from an e-mail.
import { render, screen } from '@testing-library/svelte';
import { beforeEach, expect, test } from 'vitest';
import english from '../console/words/english';
import Confirm from '../shared/login/Confirm.svelte';
import Reset from '../shared/login/Reset.svelte';
import { startLanguage } from '../shared/words/text.svelte';

beforeEach(() => startLanguage(english, () => Promise.resolve({ default: {} })));
const stops = (): string[] => [...document.querySelectorAll('input, button')].map((stop) => stop.getAttribute('name') ?? stop.textContent.trim());

test('after the code the keyboard meets the button that confirms it, and then the one that sends another', () => {
  const { unmount } = render(Confirm, { registrationId: 'r', email: 'ada@example.org', expiresAt: 0 } as Parameters<typeof render<typeof Confirm>>[1]);
  expect(stops()).toEqual(['code', 'Confirm and sign in', 'Send another code']);
  unmount();
  render(Reset, { email: 'ada@example.org' });
  expect(stops()).toEqual(['code', 'new-password', 'Set password and sign in', 'Send another code']);
  expect(screen.getByLabelText('Code from the e-mail')).toBeTruthy();
});
