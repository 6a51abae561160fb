// Light or dark: the system's, until the reader chooses.

export type Theme = 'light' | 'dark';
const STORAGE_KEY = 'colloquy.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

let chosen = $state<Theme | null>(null);
let system = $state<Theme>(dark.matches ? 'dark' : 'light');
dark.addEventListener('change', () => { system = dark.matches ? 'dark' : 'light'; });

export const theme = (): Theme => chosen ?? system;

export function startTheme(): void {
  try {
    const stored = localStorage.getItem(STORAGE_KEY);
    if (stored === 'light' || stored === 'dark') applyTheme(stored);
  } catch {
    // Storage is off: the system's theme.
  }
}

export function toggleTheme(): void {
  applyTheme(theme() === 'dark' ? 'light' : 'dark');
  try {
    localStorage.setItem(STORAGE_KEY, theme());
  } catch {
    // Storage is off: for this page alone.
  }
}

function applyTheme(theme: Theme): void {
  chosen = theme;
  document.documentElement.dataset.theme = theme;
}
