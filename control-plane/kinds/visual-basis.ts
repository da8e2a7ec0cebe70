import type { VisualSettings } from "#control-plane/kinds/monitor.ts";

/**
 * Returns the facts on which the look of a visual monitor's pictures depends, as JSON. Pictures are comparable only if
 * these are equal.
 */
export function basisOf(url: string, { viewport, full_page, wait_ms }: VisualSettings): string {
  return JSON.stringify([url, viewport.width, viewport.height, full_page, wait_ms]);
}
