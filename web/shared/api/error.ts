// A call that was not answered with success, told apart by its code.

import type { components } from './schema';

export type Failure = components['schemas']['Failure'];
/** An item of `errors`. The interface may get further codes, which this page does not know yet. */
export type Fault = Omit<components['schemas']['Error'], 'code'> & { code: string };

export class ApiError extends Error {
  override readonly name = 'ApiError';

  /** `status` 0: nothing answered at all. */
  constructor(
    readonly status: number,
    readonly faults: readonly Fault[],
    readonly retryAfter?: number,
  ) {
    super(faults[0]?.message ?? `${status}`);
  }

  static of(response: Response, failure: Failure | undefined): ApiError {
    const faults = failure?.errors ?? [{ code: 'Unreadable', field: null, reason: null, message: response.statusText }];
    return new ApiError(response.status, faults, Number(response.headers.get('Retry-After')) || undefined);
  }

  static readonly offline = () => new ApiError(0, [{ code: 'Offline', field: null, reason: null, message: 'Nothing answers.' }]);

  get code(): string {
    return this.faults[0]?.code ?? 'Unreadable';
  }

  /** Whether the same call may be answered otherwise in a moment. */
  get passes(): boolean {
    const stays = this.code.endsWith('NotConfigured') || this.code === 'QuotaExceeded';
    return this.status === 0 || this.status === 429 || (this.status >= 500 && !stays);
  }

  /** What is wrong with one field, by its JSON path. */
  of(field: string): Fault | undefined {
    return this.faults.find((fault) => fault.field === field);
  }
}
