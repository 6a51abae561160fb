/** Many requests for `work` in a short time become one call; there are never two calls at once. */
export function coalesce(work: () => Promise<void>, delayMs = 100): { request: () => void; cancel: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  let isWanted = false;
  const run = async (): Promise<void> => {
    timer = undefined;
    isRunning = true;
    await work().finally(() => { isRunning = false; });
    if (!isWanted) return;
    isWanted = false;
    request();
  };
  const request = (): void => {
    if (isRunning) isWanted = true;
    else timer ??= setTimeout(() => void run(), delayMs);
  };
  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
    isWanted = false;
  };
  return { request, cancel };
}
