import type { Span } from "#control-plane/outages/maintenance/schedule/schedule.ts";

/** A monitor that can be covered by a window: by its id, or by one of its tags. */
export interface TaggedMonitor {
  readonly id: number;
  readonly tags: readonly string[];
}

/** What a window covers, and when. The times can overlap. */
export interface CoveredScope {
  readonly monitorIds: readonly number[];
  readonly tags: readonly string[];
  readonly spans: readonly Span[];
}

/** Returns when each monitor is covered, cut to `within`, in order and merged. Monitors that never are, are missing. */
export function coverMonitors(
  monitors: readonly TaggedMonitor[],
  scopes: readonly CoveredScope[],
  within: Span,
): ReadonlyMap<number, readonly Span[]> {
  const spansById = new Map<number, Span[]>();
  for (const scope of scopes) {
    const ids = new Set(scope.monitorIds);
    const tags = new Set(scope.tags);
    for (const monitor of monitors) {
      if (!ids.has(monitor.id) && !monitor.tags.some((tag) => tags.has(tag))) continue;
      const spans = spansById.get(monitor.id) ?? [];
      spans.push(...scope.spans);
      spansById.set(monitor.id, spans);
    }
  }
  const merged = Array.from(spansById, ([id, spans]) => [id, mergeSpans(spans, within)] as const);
  return new Map(merged.filter(([, spans]) => spans.length > 0));
}

function mergeSpans(spans: readonly Span[], within: Span): readonly Span[] {
  const merged: { from: number; to: number }[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const from = Math.max(span.from, within.from);
    const to = Math.min(span.to, within.to);
    const last = merged.at(-1);
    if (to <= from) continue;
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}
