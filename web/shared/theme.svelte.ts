// Light or dark: the system's, until the reader chooses.

export type Theme = 'light' | 'dark';
const PLACE = 'colloquy.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

let chosen = $state<Theme | null>(null);
let system = $state<Theme>(dark.matches ? 'dark' : 'light');
dark.addEventListener('change', () => { system = dark.matches ? 'dark' : 'light'; });

export const theme = (): Theme => chosen ?? system;

export function startTheme(): void {
  try {
    const kept = localStorage.getItem(PLACE);
    if (kept === 'light' || kept === 'dark') applyTheme(kept);
  } catch {
    // The system's.
  }
}

export function toggleTheme(): void {
  applyTheme(theme() === 'dark' ? 'light' : 'dark');
  try {
    localStorage.setItem(PLACE, theme());
  } catch {
    // For this page alone.
  }
}

function applyTheme(to: Theme): void {
  chosen = to;
  document.documentElement.dataset.theme = to;
}
