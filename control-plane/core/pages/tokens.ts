/**
 * The colours of all pages, by what they mean, in both colour schemes: the first rules of every style. Text has a contrast
 * of at least 4.5 to `--page` and `--card` (WCAG 2.2, 1.4.3), edges of controls and graphics one of 3 (1.4.11). `--good`,
 * `--warn`, `--serious` and `--bad` are states, `--info` is maintenance; `--warn-soft` is the ground of a warning.
 */
export const TOKENS =
  ":root{color-scheme:light dark;--page:#f6f8fa;--card:#fff;--ink:#1f2328;--faint:#59636e;--line:#d1d9e0;--edge:#7d8590;" +
  "--accent:#0757b5;--on-accent:#fff;--good:#1a7f37;--warn:#8a5d00;--serious:#bc4c00;--bad:#b31d28;--info:#0969da;" +
  "--warn-soft:#fff3c4}" +
  "@media screen and (prefers-color-scheme:dark){:root{--page:#0d1117;--card:#161b22;--ink:#f0f6fc;--faint:#9ea7b3;" +
  "--line:#30363d;--edge:#768390;--accent:#6cb2ff;--on-accent:#06162b;--good:#5bd174;--warn:#edc04f;--serious:#f0883e;" +
  "--bad:#ff8b83;--info:#58a6ff;--warn-soft:#3b2d04}}";
