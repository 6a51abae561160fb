import { render, screen } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { ApiError } from '../shared/api/error';
import FormOfTwo from './FormOfTwo.svelte';

const refused = (field: string | null, code = 'ValidationError') =>
  new ApiError(422, [{ code, field, message: 'This must be an e-mail address.', reason: field ? 'InvalidValue' : null }]);

async function submit(error: ApiError): Promise<void> {
  render(FormOfTwo, { submit: () => Promise.reject(error) });
  screen.getByRole('button').click();
  await new Promise((resolve) => setTimeout(resolve, 10));
}

test('what is wrong with a field stands beside it, and the field has the focus', async () => {
  await submit(refused('email'));
  const field = screen.getByLabelText('E-mail');
  expect(document.activeElement).toBe(field);
  expect(field.getAttribute('aria-invalid')).toBe('true');
  const described = document.getElementById(field.getAttribute('aria-describedby') ?? '');
  expect(described?.textContent).toBe('This must be an e-mail address.');
  expect(screen.getByRole('alert').textContent).toBe('');
});

test('what is wrong otherwise is said above the button', async () => {
  await submit(refused(null, 'InvalidCredentials'));
  expect(screen.getByRole('alert').textContent).toBe('The e-mail address or the password is wrong.');
});
