/** Calls `look` at once and then at intervals while the page can be seen; returns what ends it. */
export function poll(look: () => Promise<void>, everyMs = 5_000): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const next = async (): Promise<void> => {
    if (document.visibilityState === 'visible') await look();
    if (!isOver) timer = setTimeout(() => void next(), everyMs);
  };
  void next();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
