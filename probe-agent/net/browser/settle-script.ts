/**
 * Expression that scrolls through the first `height` pixels of a page and back, so that images that load when they
 * become visible are loaded. It ends when the page does, after at most 50 steps.
 */
export function scrollThrough(height: number): string {
  return `(async () => {
  const step = Math.max(200, innerHeight);
  const pause = () => new Promise((done) => setTimeout(done, 50));
  for (let y = step, steps = 0; y < Math.min(${height}, document.documentElement.scrollHeight) && steps < 50; y += step, steps += 1) {
    scrollTo({ top: y, behavior: "instant" });
    await pause();
  }
  scrollTo({ top: 0, behavior: "instant" });
  await pause();
})()`;
}

/** Expression that waits for fonts and for images that have arrived, and puts media to their beginning. */
export const SETTLE = `(async () => {
  for (const media of [...document.querySelectorAll("video, audio")].slice(0, 100)) {
    media.pause();
    try { media.currentTime = 0; } catch {}
  }
  const images = [...document.images].filter((image) => image.complete).slice(0, 1000);
  await Promise.all([document.fonts.ready, ...images.map((image) => image.decode().catch(() => undefined))]);
})()`;
